"""The note server as a process of its own: started, called, shared, broken off."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from servers import notes
from servers._note_store import NoteStore

ROOT = Path(__file__).parents[2]
SCRIPT = which("agentkit-notes", path=sysconfig.get_path("scripts")) or "agentkit-notes"
STARTS = {
    "module": [sys.executable, "-m", "servers.notes"],
    "file": [sys.executable, str(ROOT / "servers" / "notes.py")],
    "console script": [SCRIPT],
}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LIMIT_S = 60


def connected(command: list[str], *, cwd: Path, mode: Any = "auto", **env: str) -> Client:
    parameters = StdioServerParameters(
        command=command[0], args=command[1:], cwd=str(cwd), env={**os.environ, **env}
    )
    transport = stdio_client(parameters, errlog=None)
    return Client(transport, read_timeout_seconds=LIMIT_S, mode=mode)


@contextlib.contextmanager
def started(*options: str) -> Iterator[subprocess.Popen[str]]:
    """Start the server; whatever waits for it is freed after the limit by killing it."""
    server = subprocess.Popen(
        [*STARTS["module"], *options],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    watch = threading.Timer(LIMIT_S, server.kill)
    watch.start()
    with server:
        try:
            yield server
        finally:
            watch.cancel()
            server.kill()


@pytest.mark.anyio
@pytest.mark.parametrize("start", STARTS)
async def test_it_starts_from_any_folder_and_remembers_between_starts(
    tmp_path: Path, start: str
) -> None:
    """The modern era writes, the older one reads; the file is named by the environment."""
    env = {"AGENTKIT_NOTES_FILE": str(tmp_path / "new" / "folder" / "笔记.json")}
    env |= {"PYTHONPATH": str(ROOT)} if start == "module" else {}

    async with connected(STARTS[start], cwd=tmp_path, **env) as client:
        assert client.protocol_version == "2026-07-28"
        await client.call_tool("write_note", {"title": "备忘", "text": "性能测试 😀"})
    async with connected(STARTS[start], cwd=tmp_path, mode="legacy", **env) as client:
        assert client.protocol_version == "2025-11-25"
        found = await client.call_tool("search_notes", {"query": "性能"})

    assert found.structured_content is not None
    assert found.structured_content["hits"][0]["excerpt"] == "性能测试 😀"


@pytest.mark.anyio
async def test_two_servers_on_one_file_keep_all_of_100_writes_at_once(notes_file: Path) -> None:
    command = [*STARTS["file"], "--file", str(notes_file)]
    async with (
        connected(command, cwd=notes_file.parent) as first,
        connected(command, cwd=notes_file.parent) as second,
        anyio.create_task_group() as tasks,
    ):

        async def write(client: Client, title: str) -> None:
            arguments = {"title": title, "text": "重点 " + title}
            for _ in range(5):  # on a slow machine a call may give up waiting for its turn
                answer = await client.call_tool("write_note", arguments)
                if not answer.is_error:
                    return
            pytest.fail(str(answer.content))

        for i in range(50):
            tasks.start_soon(write, first, f"first {i}")
            tasks.start_soon(write, second, f"second {i}")

    kept = NoteStore(notes_file).notes()
    assert len({note.id for note in kept}) == 100
    assert {note.title for note in kept} == {
        f"{n} {i}" for n in ("first", "second") for i in range(50)
    }


def test_half_an_emoji_on_the_wire_gets_an_answer(notes_file: Path) -> None:
    """By reference: `JSON.stringify` of JavaScript writes half a pair as this escape."""
    arguments = {"title": "cut \ud83d", "text": "\ude00 off"}
    request = {"name": "write_note", "arguments": arguments, "_meta": MODERN}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": request})

    with started("--file", str(notes_file)) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(line + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())

    assert answer["result"]["structuredContent"]["title"] == "cut \ufffd"
    assert NoteStore(notes_file).notes()[0].text == "\ufffd off"


def test_only_the_protocol_is_on_standard_output_and_the_end_of_input_ends_it(
    notes_file: Path,
) -> None:
    notes_file.mkdir()
    request = {"name": "write_note", "arguments": {"title": "t", "text": "x"}, "_meta": MODERN}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": request})

    with started("--file", str(notes_file)) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("not json\n" + line + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.stdin.close()
        rest = server.stdout.read()
        status = server.wait(LIMIT_S)

    assert answer["result"]["isError"] is True
    assert "is a folder" in answer["result"]["content"][0]["text"]
    assert (rest, status) == ("", 0)


def test_over_http_it_says_where_it_is_and_answers_both_eras(notes_file: Path) -> None:
    async def talk(url: str, mode: Any) -> list[str]:
        async with Client(url, read_timeout_seconds=LIMIT_S, mode=mode) as client:
            await client.call_tool("write_note", {"title": mode, "text": "性能测试"})
            listed = await client.call_tool("list_notes", {})
            assert listed.structured_content is not None
            return [row["title"] for row in listed.structured_content["notes"]]

    options = ("--http", "--port", "0", "--path", "my/mcp", "--file", str(notes_file))
    with started(*options, "--clock", "2026-01-05T09:00:00Z") as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+/my/mcp$", line.strip())
        assert url, line
        modern = anyio.run(talk, url[0], "auto")
        legacy = anyio.run(talk, url[0], "legacy")
        foreign = httpx2.post(url[0], headers={"Host": "evil.example"}, json={})

    assert modern == ["auto"]
    assert legacy == ["legacy", "auto"]
    assert foreign.status_code == 421


def test_a_port_that_is_taken_is_an_error_that_says_so(
    notes_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status = notes.main(["--http", "--port", port, "--file", str(notes_file)])

    assert status == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in capsys.readouterr().err


def test_help_explains_how_to_give_the_server_to_a_host(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTKIT_NOTES_FILE", "my-notes.json")

    with pytest.raises(SystemExit) as caught:
        notes.main(["--help"])

    text = capsys.readouterr().out
    assert caught.value.code == 0
    for word in ("mcpServers", "agentkit-notes", "--http", "--clock", "now my-notes.json"):
        assert word in text
    assert text.isascii()  # a Windows terminal may not show more


def test_a_clock_that_is_no_time_is_refused_with_an_example(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        notes.main(["--clock", "noon"])

    assert "'noon' is not a time such as 2026-01-05T09:00:00Z" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="the proof forks and kills as POSIX does")
def test_servers_killed_in_the_middle_of_writes_lose_nothing(tmp_path: Path) -> None:
    """The full proof, with 200 kills, is the same program with its defaults."""
    proof = [sys.executable, str(ROOT / "tests" / "bench" / "kill_notes.py"), "--folder"]

    ours = subprocess.run(
        [*proof, str(tmp_path / "ours"), "--kills", "10"],
        capture_output=True,
        encoding="utf-8",
        timeout=4 * LIMIT_S,
    )
    broken = subprocess.run(
        [*proof, str(tmp_path / "broken"), "--kills", "200", "--broken"],
        capture_output=True,
        encoding="utf-8",
        timeout=4 * LIMIT_S,
    )

    assert ours.returncode == 0, ours.stdout + ours.stderr
    assert "10 kills" in ours.stdout
    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert "LOST" in broken.stdout
