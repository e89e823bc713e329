"""The solutions of notebooks 04 and 05 do what their exercises ask, on the notebooks' own code."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentkit.checks import check_results_async
from agentkit.checks import host as host_checks
from agentkit.checks import notes_exercises as note_checks
from agentkit.host import McpHost
from notebooks.solutions import s04_a_note_server as s04
from notebooks.solutions import s05_a_host_that_speaks_stdio as s05
from tests.notebooks.guards import Lesson

pytestmark = pytest.mark.anyio
NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
CODE = ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef


def built_in(stem: str) -> dict[str, Any]:
    """Return what a notebook imports and defines, without running its experiments."""
    tree = Lesson.read(NOTEBOOKS / f"{stem}.ipynb").tree()
    kept = [node for node in tree.body if isinstance(node, CODE) and not _decorated(node)]
    names: dict[str, Any] = {"__name__": stem}
    exec(compile(ast.Module(kept, []), stem, "exec", dont_inherit=True), names)
    return names


def _decorated(node: ast.stmt) -> bool:
    return bool(getattr(node, "decorator_list", ()))


async def outcomes(thing: Any, checks: Any) -> list[str]:
    return [result.outcome for result in await check_results_async(thing, checks)]


async def test_the_solutions_of_04_solve_its_exercises() -> None:
    tiny_server = built_in("04_a_note_server")["tiny_server"]

    def with_list(path: Path) -> Any:
        server = tiny_server(path)
        s04.add_listing(server, path)
        return server

    predicted = await outcomes((tiny_server, s04.GUESS), note_checks.PREDICT_CHECKS)
    built = await outcomes(with_list, note_checks.LIST_CHECKS)
    broken = await outcomes((tiny_server, s04.KILLER), note_checks.BREAK_CHECKS)

    assert (predicted, set(built), broken) == (["ok"], {"ok"}, ["ok"])


async def test_the_solutions_of_05_solve_its_exercises() -> None:
    tiny_host = built_in("05_a_host_that_speaks_stdio")["TinyHost"]

    def hosts(config: Any, *, timeout_s: float) -> s05.Hosts:
        return s05.Hosts(config, timeout_s=timeout_s, one=tiny_host)

    predicted = await outcomes(s05.GUESS, host_checks.PREDICT_CHECKS)
    built = await outcomes(hosts, host_checks.SEVERAL_CHECKS)
    of_the_kit = await outcomes(s05.Hosts, host_checks.SEVERAL_CHECKS)
    broken = await outcomes((tiny_host, s05.BROKEN), host_checks.BREAK_CHECKS)

    assert (predicted, set(built), set(of_the_kit), broken) == (["ok"], {"ok"}, {"ok"}, ["ok"])


async def test_what_breaks_the_tiny_host_is_an_error_to_the_kit() -> None:
    """The exercise asks the reader to see this."""
    host = McpHost({"mcpServers": {"broken": s05.BROKEN}}, start_timeout_s=1)

    async with asyncio.timeout(60):
        with pytest.raises(Exception, match="did not answer within the time limit"):
            await host.open()
        await host.close()
