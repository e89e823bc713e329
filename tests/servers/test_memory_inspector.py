"""The memory server called by a client that this project did not write: the MCP Inspector."""

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
SERVER = [sys.executable, str(ROOT / "servers" / "memory.py")]
TOOL_FAILED = 5  # the Inspector's exit status for a result that is an error
LIMIT_S = 240

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
    launcher = package / "clients" / "launcher" / "build" / "index.js"
    settings = {
        "AGENTKIT_MEMORY_FILE": str(tmp_path / "memory.db"),
        "AGENTKIT_MEMORY_TENANT": "ada",
        "AGENTKIT_CLOCK": "2026-01-05T09:00:00Z",
    }

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
        # The Inspector reads options itself, so the settings are named in the environment.
        named = [part for name, value in settings.items() for part in ("-e", f"{name}={value}")]
        yield lambda *options: call([*named, *SERVER], *options)
        return
    with subprocess.Popen(
        [*SERVER, "--http", "--port", "0"],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **settings},
    ) as server:
        assert server.stderr is not None
        url = server.stderr.readline().rpartition(" ")[2].strip()
        try:
            yield lambda *options: call([url], *options)
        finally:
            server.kill()


def test_the_inspector_finds_no_fault_and_remembers_recalls_and_forgets(inspect: Inspect) -> None:
    """By design: over stdio each call is a process of its own, so the memory is on the disk."""

    def tool(name: str, **arguments: str) -> tuple[int, Any]:
        pairs = [f"{name}={value}" for name, value in arguments.items()]
        return inspect("tools/call", "--tool-name", name, "--tool-arg", *pairs)

    status, listed = inspect("tools/list", "--strict")
    written = tool("remember", text="王芳的车停在 B-207 车位。", entities='{"slot": "B-207"}')
    found = tool("recall", query="b207 在哪里")
    refused = tool("remember", text="My password is swordfish1")
    record = written[1]["structuredContent"]["id"]
    weighed = tool("update_importance", memory=record, importance="0.9")
    gone = tool("forget", memory=record)
    nothing = tool("recall", query="王芳的车")

    assert status == 0
    assert sorted(one["name"] for one in listed["tools"]) == [
        "forget",
        "recall",
        "remember",
        "update_importance",
    ]
    assert written[1]["structuredContent"]["outcome"] == "added"
    hit = found[1]["structuredContent"]["hits"][0]
    assert (hit["text"], hit["entities"]) == ("王芳的车停在 B-207 车位。", {"slot": "B-207"})
    assert hit["relation"].startswith("exact id b207")
    assert refused[0] == TOOL_FAILED
    assert "it holds a secret" in refused[1]["content"][0]["text"]
    assert weighed[1]["structuredContent"]["importance"] == 0.9
    assert gone[1]["structuredContent"]["ids"] == [record]
    assert nothing[1]["structuredContent"]["hits"] == []
