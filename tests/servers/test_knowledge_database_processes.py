"""Both servers as processes of their own, over a pipe and over HTTP, from any folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import INVALID_REQUEST, TextContent

from servers import database, knowledge, memory, notes
from servers._run import PlainServer, valid_answers

ROOT = Path(__file__).parents[2]
LIMIT_S = 60
CALLS: dict[str, tuple[str, dict[str, Any], str, Any]] = {
    "database": ("run_query", {"sql": "SELECT 中文名 FROM suppliers"}, "left_out", 0),
    "knowledge": ("read_document", {"document": "zh/报销制度"}, "path", "zh/报销制度.md"),
}  # fmt: skip


def environment(cache: Path) -> dict[str, str]:
    """Return an environment in which the business database is built in a folder of the test."""
    places = dict.fromkeys(("XDG_CACHE_HOME", "HOME", "LOCALAPPDATA", "USERPROFILE"), str(cache))
    return {**os.environ, **places, "PYTHONPATH": str(ROOT)}


def starts(name: str) -> dict[str, list[str]]:
    script = which(f"agentkit-{name}", path=sysconfig.get_path("scripts"))
    return {
        "module": [sys.executable, "-m", f"servers.{name}"],
        "file": [sys.executable, str(ROOT / "servers" / f"{name}.py")],
        **({"console script": [script]} if script else {}),
    }


@contextmanager
def listening(command: list[str], **options: Any) -> Iterator[str]:
    """Start a server on a free port and return its address, as it says itself."""
    with subprocess.Popen(
        [*command, "--http", "--port", "0"], stderr=subprocess.PIPE, encoding="utf-8", **options
    ) as server:
        watch = threading.Timer(LIMIT_S, server.kill)
        watch.start()
        try:
            assert server.stderr is not None
            said = server.stderr.readline()
            found = re.search(r"http://\S+", said)
            assert found, said
            yield found.group()
        finally:
            watch.cancel()
            server.kill()


@pytest.mark.anyio
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("start", ["module", "file"])
async def test_it_answers_over_a_pipe(tmp_path: Path, name: str, start: str) -> None:
    command = starts(name)[start]
    tool, arguments, field, wanted = CALLS[name]
    parameters = StdioServerParameters(
        command=command[0], args=command[1:], cwd=str(tmp_path), env=environment(tmp_path)
    )

    async with Client(
        stdio_client(parameters, errlog=None), read_timeout_seconds=LIMIT_S
    ) as client:
        answer = await client.call_tool(tool, arguments)

    assert answer.structured_content is not None
    assert answer.structured_content[field] == wanted


@pytest.mark.anyio
@pytest.mark.parametrize("name", CALLS)
async def test_it_answers_over_http(tmp_path: Path, name: str) -> None:
    tool, arguments, field, wanted = CALLS[name]

    with listening(starts(name)["module"], cwd=tmp_path, env=environment(tmp_path)) as address:
        async with Client(address, read_timeout_seconds=LIMIT_S) as client:
            answer = await client.call_tool(tool, arguments)

    assert answer.structured_content is not None
    assert answer.structured_content[field] == wanted


@pytest.mark.parametrize("name", CALLS)
def test_the_console_script_tells_how_to_give_it_to_a_host(name: str) -> None:
    command = starts(name).get("console script")
    if command is None:
        pytest.skip("the kit was installed before it had this script")

    done = subprocess.run([*command, "--help"], capture_output=True, encoding="utf-8", timeout=60)

    assert done.returncode == 0
    assert f'"command": "agentkit-{name}"' in done.stdout


REJECTED = (
    '{"jsonrpc":"1.0","id":11,"method":"ping"}',
    '{"jsonrpc":"2.0","id":12,"method":"tools/call","params":5}',
    '[{"jsonrpc":"2.0","id":13,"method":"ping"},{"jsonrpc":"2.0","id":14,"method":"ping"}]',
)


def test_a_line_that_is_no_request_is_answered_by_its_id(tmp_path: Path) -> None:
    """By design: the SDK drops such a line, and the host would wait for its whole limit."""
    with subprocess.Popen(
        starts("knowledge")["module"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=environment(tmp_path),
    ) as server:
        watch = threading.Timer(LIMIT_S, server.kill)
        watch.start()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("\n".join(["no json", *REJECTED, ""]))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(4)]
        server.stdin.close()
        watch.cancel()

    assert {(each["id"], each["error"]["code"]) for each in answers} == {
        (number, INVALID_REQUEST) for number in (11, 12, 13, 14)
    }


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("told", "arrives"),
    [
        ("half \ud83d", "half \ufffd"),
        ("caf\udce9.md", "caf\ufffd.md"),
        ("报告\udcb1", "报告\ufffd"),
    ],
)
async def test_no_text_of_an_error_ends_the_connection(told: str, arrives: str) -> None:
    """By design: of an answer that cannot be sent, the SDK sends nothing and hangs up."""
    server = PlainServer("test", middleware=[valid_answers])

    @server.tool()
    def fails() -> str:
        raise ToolError(told)

    @server.resource("test://fails")
    def gone() -> str:
        raise ResourceError(told)

    async with Client(server, read_timeout_seconds=LIMIT_S) as client:
        answer = await client.call_tool("fails", {})
        with pytest.raises(MCPError) as refused:
            await client.read_resource("test://fails")

    assert isinstance(answer.content[0], TextContent)
    assert answer.content[0].text == f"Error executing tool fails: {arrives}"
    assert arrives in refused.value.message


def test_every_server_makes_its_answers_valid(tmp_path: Path) -> None:
    servers = [
        notes.build_server(tmp_path / "notes.json"),
        memory.build_server(memory.StoreFile(tmp_path / "memory.db"), tenant="ada"),
        knowledge.build_server(tmp_path, code=tmp_path),
        database.build_server(tmp_path / "shop.db"),
    ]

    assert all(valid_answers in server.middleware for server in servers)
