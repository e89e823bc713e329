"""Ctrl-C and SIGINT end a server that waits on a pipe, and what it wrote is whole."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LIMIT_S = 60
SLOW = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is no signal there")


class Server:
    """A server on two pipes, written to line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.send("initialize", HELLO, id=1)
        self.answer()
        self.send("notifications/initialized", {})

    def send(self, method: str, params: dict[str, Any], **more: int) -> None:
        line = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def interrupted(self) -> tuple[int, list[bytes], bytes]:
        """Send SIGINT; return exit status, the lines that still came, and the errors."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=LIMIT_S)  # its input is still open
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        rest = self.process.stdout.read().splitlines(keepends=True)
        return status, rest, self.process.stderr.read()


@contextmanager
def started(name: str, *options: str) -> Iterator[Server]:
    """Start a server; whatever waits for it is freed after the limit by killing it."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"servers.{name}", *options],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    watch = threading.Timer(LIMIT_S, process.kill)
    watch.start()
    with process:
        try:
            yield Server(process)
        finally:
            watch.cancel()
            process.kill()


@pytest.mark.parametrize("name", ["notes", "memory", "knowledge", "database"])
def test_a_server_that_waits_for_a_line_ends(name: str, tmp_path: Path) -> None:
    """By design: as if the host had hung up. Before, neither the first nor the second did it."""
    files = {
        "notes": ["--file", str(tmp_path / "n.json")],
        "memory": ["--file", str(tmp_path / "m.db"), "--tenant", "ada"],
    }
    with started(name, *files.get(name, [])) as server:
        assert server.interrupted() == (0, [], b"")


def test_a_server_in_the_middle_of_a_statement_ends() -> None:
    """The ping is answered behind the statement, which has then begun and runs for 5 s."""
    with started("database") as server:
        server.send("tools/call", {"name": "run_query", "arguments": {"sql": SLOW}}, id=2)
        server.send("ping", {}, id=3)
        assert server.answer()["id"] == 3

        status, rest, errors = server.interrupted()

    assert status in (0, 130)
    assert all(json.loads(line)["id"] == 2 and line.endswith(b"\n") for line in rest)
    assert b"Traceback" not in errors


def test_what_was_being_written_is_whole(tmp_path: Path) -> None:
    """By design: a note is there or not, and so is the answer; never half of either."""
    file = tmp_path / "笔记.json"
    note = {"title": "绿茶", "text": "我对花生过敏。" * 400}
    with started("notes", "--file", str(file)) as server:
        server.send("tools/call", {"name": "write_note", "arguments": note}, id=2)

        status, rest, errors = server.interrupted()

    assert status in (0, 130)
    assert all(json.loads(line)["id"] == 2 and line.endswith(b"\n") for line in rest)
    assert not file.exists() or note["text"] in str(json.loads(file.read_text("utf-8")))
    assert b"Traceback" not in errors
