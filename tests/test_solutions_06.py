"""The solutions of notebook 06 do what its exercises ask, on the notebook's own code."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from agentkit.checks import check_results_async
from agentkit.checks.loop_exercises import BREAK_CHECKS, DESCRIBE_CHECKS, PREDICT_CHECKS
from notebooks.solutions import s06_the_loop as s06
from tests.notebooks.guards import Lesson

pytestmark = pytest.mark.anyio
NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "06_the_loop.ipynb"
CODE = ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef


def built() -> dict[str, Any]:
    """Return what the notebook imports and defines, without running its experiments."""
    kept = [node for node in Lesson.read(NOTEBOOK).tree().body if isinstance(node, CODE)]
    names: dict[str, Any] = {"__name__": NOTEBOOK.stem}
    exec(compile(ast.Module(kept, []), NOTEBOOK.stem, "exec", dont_inherit=True), names)
    return names


async def outcomes(thing: Any, checks: Any) -> list[str]:
    return [result.outcome for result in await check_results_async(thing, checks)]


async def test_the_solutions_solve_the_exercises() -> None:
    names = built()
    names["tiny_loop"].__globals__["count"] = len  # a cell counts tokens; any count will do

    predicted = await outcomes(s06.GUESS, PREDICT_CHECKS)
    described = await outcomes(s06.description, DESCRIBE_CHECKS)
    broken = await outcomes((names["tiny_loop"], s06.SIX_CALLS), BREAK_CHECKS)

    assert (predicted, set(described), broken) == (["ok"], {"ok"}, ["ok"])
