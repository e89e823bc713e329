"""The note server called by a client that this project did not write.

The command line of the MCP Inspector is in JavaScript and on the other SDK. It runs where
its package is installed; .ci/run does that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SERVER = [sys.executable, str(ROOT / "servers" / "notes.py")]
TOOL_FAILED = 5  # the Inspector's exit status for a result that is an error
LIMIT_S = 120

pytestmark = pytest.mark.node
Inspect = Callable[..., tuple[int, Any]]


@pytest.fixture(params=["stdio", "HTTP"])
def inspect(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    node_modules: Path,
    require: Callable[[object, str], None],
) -> Iterator[Inspect]:
    """Return a function that calls the Inspector and gives back its status and its JSON."""
    package = node_modules / "@modelcontextprotocol" / "inspector"
    require(which("node") and package.is_dir(), "needs node and @modelcontextprotocol/inspector")
    file = ["--file", str(tmp_path / "notes.json")]
    launcher = package / "clients" / "launcher" / "build" / "index.js"

    def call(target: list[str], method: str, *options: str) -> tuple[int, Any]:
        done = subprocess.run(
            ["node", str(launcher), "--cli", *target, "--method", method, *options],
            env={**os.environ, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)},
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_S,
        )
        assert done.stdout.strip(), done.stderr
        return done.returncode, json.loads(done.stdout)

    if request.param == "stdio":
        # The Inspector reads options itself, so the file is named in the environment.
        target = ["-e", f"AGENTKIT_NOTES_FILE={file[1]}", *SERVER]
        yield lambda *options: call(target, *options)
        return
    with subprocess.Popen(
        [*SERVER, *file, "--http", "--port", "0"], stderr=subprocess.PIPE, encoding="utf-8"
    ) as server:
        assert server.stderr is not None
        url = server.stderr.readline().rpartition(" ")[2].strip()
        try:
            yield lambda *options: call([url], *options)
        finally:
            server.kill()


def test_the_inspector_finds_no_fault_with_the_tools(inspect: Inspect) -> None:
    status, listed = inspect("tools/list", "--strict")

    assert status == 0
    assert sorted(tool["name"] for tool in listed["tools"]) == [
        "delete_note",
        "list_notes",
        "read_note",
        "search_notes",
        "write_note",
    ]


def test_the_inspector_writes_finds_and_reads_a_note(inspect: Inspect) -> None:
    def tool(name: str, **arguments: str) -> tuple[int, Any]:
        pairs = [f"{name}={value}" for name, value in arguments.items()]
        return inspect("tools/call", "--tool-name", name, "--tool-arg", *pairs)

    written = tool("write_note", title="下周", text="完成结项报告，重点是性能测试 😀")
    found = tool("search_notes", query="性能测试")
    missing = tool("read_note", note="nope")
    preferences = inspect("resources/read", "--uri", "memory://user/preferences")
    note = inspect("resources/read", "--uri", "note://n0001")
    prompt = inspect("prompts/get", "--prompt-name", "weekly_review", "--prompt-args", "focus=报告")

    assert written[0] == 0
    assert written[1]["structuredContent"]["outcome"] == "created"
    assert found[1]["structuredContent"]["hits"][0]["title"] == "下周"
    assert missing[0] == TOOL_FAILED
    assert "There is no note 'nope'" in missing[1]["content"][0]["text"]
    assert preferences[1]["contents"][0]["text"] == "{}"
    assert "重点是性能测试 😀" in note[1]["contents"][0]["text"]
    assert "- n0001: 下周" in prompt[1]["messages"][0]["content"]["text"]
