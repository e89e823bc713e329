"""Starts writers and tells what they acknowledged; used by the tests and by kill_memory.py."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 120.0


@dataclass
class Acknowledged:
    """What a writer said was done.

    Attributes:
        added: Text by id.
        doubtful: Ids that it had begun to forget: they may be there or not.
        forgotten: Ids.
    """

    added: dict[str, str] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)

    @property
    def kept(self) -> dict[str, str]:
        return {one: text for one, text in self.added.items() if one not in self.doubtful}

    def read(self, line: str) -> None:
        if not line.endswith("\n"):
            return  # cut short by the kill: nobody was told
        mark, _, rest = line.strip().partition(" ")
        if mark == "+":
            one, _, text = rest.partition(" ")
            self.added[one] = text
        elif mark == "?":
            self.doubtful.add(rest)
        elif mark == "-":
            self.forgotten.add(rest)


def start(
    path: Path, name: str, count: int, *, module: str = "tests.memory.writer"
) -> subprocess.Popen[str]:
    """Return a writer that waits for a line to begin."""
    command = [sys.executable, "-m", module, str(path), name, str(count)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}
    writer = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env=environment,
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


def go(writer: subprocess.Popen[str]) -> None:
    """Let a writer begin."""
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()


def kill_after(writer: subprocess.Popen[str], lines: int) -> Acknowledged:
    """Kill a writer (kill -9) behind so many acknowledgements; return all that it gave."""
    found = Acknowledged()
    assert writer.stdout is not None
    for _ in range(lines):
        found.read(writer.stdout.readline())
    writer.kill()
    for line in writer.stdout:
        found.read(line)
    writer.wait(LIMIT_S)
    close(writer)
    return found


def finish(writer: subprocess.Popen[str]) -> Acknowledged:
    """Wait for a writer; return what it acknowledged."""
    out, _ = writer.communicate(timeout=LIMIT_S)
    found = Acknowledged()
    for line in out.splitlines(keepends=True):
        found.read(line)
    assert writer.returncode == 0
    return found


def close(writer: subprocess.Popen[str]) -> None:
    for pipe in (writer.stdin, writer.stdout):
        if pipe is not None:
            pipe.close()
