"""Kills the note server in the middle of writes and counts the acknowledged notes.

    python tests/bench/kill_notes.py [--kills 200] [--seed 1]

Two real servers (`servers.notes.main`, stdio) share one file. Each round sends both a
burst of writes and waits for it, then sends another and kills one of them, in turn, at a
random moment within that one. An answer that arrived counts as acknowledged, also from a
server that then died. After every kill the file is read as it lies there: it must be
whole, and hold every acknowledged note word for word. `--broken` does the same to a store
that writes in place.

Servers are forked from this process, which has imported them once; a fresh start costs
two seconds. So it runs on Linux and macOS only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from servers import _note_store, notes  # noqa: E402
from tests.broken.notes_in_place import InPlace  # noqa: E402

BURST = 6
LIMIT_S = 60.0
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "kill", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Server:
    """One forked note server and its two pipes."""

    def __init__(self, name: str, file: Path) -> None:
        self.name = name
        child_in, self._to = os.pipe()
        self._from, child_out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(child_in, 0)
            os.dup2(child_out, 1)
            os.closerange(3, 256)
            os._exit(notes.main(["--file", str(file)]))
        os.close(child_in)
        os.close(child_out)
        self._rest = b""

    def send(self, title: str, text: str) -> None:
        params = {"name": "write_note", "arguments": {"title": title, "text": text}, "_meta": META}
        request = {"jsonrpc": "2.0", "id": title, "method": "tools/call", "params": params}
        os.write(self._to, json.dumps(request).encode() + b"\n")

    def answers(self, count: int | None) -> list[dict[str, Any]]:
        """Return so many answers, or all that come before the pipe ends."""
        lines: list[bytes] = []
        while count is None or len(lines) < count:
            while b"\n" in self._rest:
                line, _, self._rest = self._rest.partition(b"\n")
                lines.append(line)
            if count is not None and len(lines) >= count:
                break
            ready, _, _ = select.select([self._from], [], [], LIMIT_S)
            if not ready:
                raise TimeoutError(f"server {self.name} did not answer within {LIMIT_S:g} s")
            data = os.read(self._from, 65_536)
            if not data:
                break
            self._rest += data
        return [json.loads(line) for line in lines]

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def close(self) -> None:
        os.close(self._to)
        os.close(self._from)


def acknowledged(answers: list[dict[str, Any]]) -> list[str]:
    """Return the titles that the server said it saved."""
    for answer in answers:
        if "error" in answer or answer["result"].get("isError"):
            print(f"refused: {json.dumps(answer, ensure_ascii=False)[:300]}")
    return [a["id"] for a in answers if "result" in a and not a["result"].get("isError")]


def lost_notes(file: Path, promised: dict[str, str]) -> list[str]:
    """Return the acknowledged titles that the file, read as it lies there, does not hold."""
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return sorted(promised)
    there = {note["title"]: note["text"] for note in document["notes"]}
    return sorted(title for title, text in promised.items() if there.get(title) != text)


def burst(servers: list[Server], name: str) -> dict[str, str]:
    """Send each server `BURST` writes at once and return the texts by title."""
    texts = {}
    for i in range(BURST):
        for server in servers:
            title = f"{name} {server.name} {i}"
            texts[title] = f"{title} 重点是性能测试 😀 " * 8
            server.send(title, texts[title])
    return texts


def warmed(servers: list[Server], name: str) -> tuple[dict[str, str], float]:
    """Wait for a whole burst; return the texts and how many seconds it took."""
    begin = time.perf_counter()
    texts = burst(servers, name)
    saved = [title for server in servers for title in acknowledged(server.answers(BURST))]
    return {title: texts[title] for title in saved}, time.perf_counter() - begin


def run(file: Path, kills: int, seed: int) -> int:
    """Print what happened and return the exit status."""
    dice, answered = random.Random(seed), []
    servers = [Server(name, file) for name in "AB"]
    promised, _ = warmed(servers, "start")
    for kill in range(kills):
        victim, other = servers[kill % 2], servers[1 - kill % 2]
        whole, burst_s = warmed(servers, f"before {kill}")
        texts = burst(servers, f"kill {kill}")
        time.sleep(dice.uniform(0, burst_s))
        victim.kill()
        said = acknowledged(victim.answers(None))
        answered.append(len(said))
        said += acknowledged(other.answers(BURST))
        promised |= whole | {title: texts[title] for title in said}
        victim.close()
        if lost := lost_notes(file, promised):
            print(f"LOST after kill {kill + 1}: {len(lost)} of {len(promised)}, e.g. {lost[0]!r}")
            other.kill()
            return 1
        servers[kill % 2] = Server(victim.name, file)
    for server in servers:
        server.kill()
    damaged = list(file.parent.glob("*.damaged-*"))
    print(
        f"{kills} kills -9: {sum(n < BURST for n in answered)} with writes under way, of these "
        f"{sum(0 < n < BURST for n in answered)} after some of the burst was answered; "
        f"{len(promised)} acknowledged notes, 0 lost; {len(damaged)} damaged files"
    )
    return 1 if damaged else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the note file lies (a new folder)")
    parser.add_argument("--broken", action="store_true", help="use a store that writes in place")
    arguments = parser.parse_args()
    if arguments.broken:
        _note_store.JsonFile = InPlace  # type: ignore[misc]
    folder = arguments.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return run(folder / "notes.json", arguments.kills, arguments.seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
