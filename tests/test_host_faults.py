"""Servers that misbehave: each costs its limit at most, says what to do, and harms no other."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentkit.errors import ServerGoneError, ServerStartError, ServerTimeoutError
from agentkit.host import McpHost, link
from tests.servers_for_tests import HERE, LIMIT_S, Watched, bare, is_gone, lines, pid_of, say

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
posix = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGSTOP on Windows")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def kill(pid: int) -> None:
    """End a process at once, as kill -9 does."""
    psutil.Process(pid).kill()


@ERAS
async def test_a_server_killed_while_idle_is_noticed_and_started_again(era: str) -> None:
    watched = Watched({"a": bare(era=era), "b": bare()})
    async with watched.host as host:
        first = await pid_of(host, "a")
        seen = len(watched.events)

        kill(first)
        down = await watched.until("a", "down", since=seen)
        unavailable = {tool.server for tool in host.tools() if not tool.available}
        other = await say(host, "b.echo", text="the other goes on")
        second = await pid_of(host, "a")  # waits for the restart
        await watched.until("a", "ready", since=seen)

    assert "closed the connection" in down.reason
    assert unavailable == {"a"}
    assert other.text == "the other goes on"
    assert first != second
    assert is_gone(second)


@ERAS
async def test_a_write_in_mid_call_is_never_sent_twice(era: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with McpHost({"a": bare("--log", str(log), era=era)}) as host:
        with pytest.raises(ServerGoneError) as caught:
            await say(host, "a.die_writing")
        after = await say(host, "a.echo", text="after")

    assert "about to die 要死了" in caught.value.what
    assert "not known whether the call was carried out" in caught.value.hint
    assert after.text == "after"
    assert lines(log) == ["start", "die_writing", "start", "echo"]


@pytest.mark.parametrize("tool", ["die_reading", "die_writing_again"])
async def test_what_may_be_asked_twice_is_asked_twice_and_no_more(
    tool: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with McpHost({"a": bare("--log", str(log))}) as host:
        with pytest.raises(ServerGoneError, match="asked twice"):
            await say(host, f"a.{tool}")
        await say(host, "a.echo", text="after")

    assert lines(log) == ["start", tool, "start", tool, "start", "echo"]


async def test_everybody_who_waits_is_told_when_a_server_dies(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with McpHost({"a": bare("--log", str(log))}, timeout_s=600) as host:
        waiting = [asyncio.create_task(say(host, "a.never_writing")) for _ in range(5)]
        async with asyncio.timeout(LIMIT_S):
            while lines(log).count("never_writing") < len(waiting):
                await asyncio.sleep(0)
            killer = asyncio.create_task(say(host, "a.die_writing"))
            results = await asyncio.gather(*waiting, killer, return_exceptions=True)

    assert [type(result) for result in results] == [ServerGoneError] * 6


async def test_a_read_that_meets_a_death_is_answered_by_the_next_life() -> None:
    watched = Watched({"a": bare()})
    async with watched.host as host:
        first = await pid_of(host, "a")
        kill(first)  # nobody has noticed yet
        second = await pid_of(host, "a")

    assert first != second


async def test_restarts_end_and_a_later_call_tries_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "RESTART_PAUSES_S", (0.0, 0.0))
    log, curse = tmp_path / "log", tmp_path / "curse"
    watched = Watched({"a": bare("--log", str(log), "--die-if", str(curse))})
    async with watched.host as host:
        pid = await pid_of(host, "a")
        curse.touch()
        seen = len(watched.events)
        kill(pid)
        with pytest.raises(ServerGoneError) as caught:
            await say(host, "a.echo", text="x")
        states = [event.state for event in watched.events[seen:]]
        starts = lines(log).count("start")
        with pytest.raises(ServerGoneError, match="was not called"):
            await say(host, "a.echo", text="x")
        once_more = lines(log).count("start") - starts

        curse.unlink()
        after = await say(host, "a.echo", text="back")

    assert "a.echo was not called: a did not start" in caught.value.what
    assert "out of luck" in caught.value.what
    assert states == ["down", *["down", "starting"] * 2, "down"]
    assert (starts, once_more) == (3, 1)
    assert after.text == "back"


async def test_a_server_that_dies_again_and_again_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes up each time, so only the count of its deaths can end it."""
    monkeypatch.setattr(link, "RESTART_PAUSES_S", (0.0, 0.0))
    log = tmp_path / "log"
    watched = Watched({"a": bare("--log", str(log))})
    async with watched.host as host:
        for _ in range(2):
            with pytest.raises(ServerGoneError):
                await say(host, "a.die_writing")
        with pytest.raises(ServerGoneError):
            await say(host, "a.die_writing")
        async with asyncio.timeout(LIMIT_S):
            while host.state("a") != "down" or "again and again" not in host.reason("a"):
                await asyncio.sleep(0)

    assert lines(log) == ["start", "die_writing"] * 3


@posix
@ERAS
async def test_a_server_that_hangs_costs_two_limits_and_is_then_started_again(era: str) -> None:
    watched = Watched({"a": bare(era=era)})
    async with watched.host as host:
        pid = await pid_of(host, "a")
        os.kill(pid, signal.SIGSTOP)
        seen = len(watched.events)
        for _ in range(2):
            with pytest.raises(ServerTimeoutError):
                await say_within(host, 0.2)
        down = await watched.until("a", "down", since=seen)
        second = await pid_of(host, "a")

    assert "silent for two requests" in down.reason
    assert second != pid
    assert is_gone(pid)


async def say_within(host: McpHost, limit_s: float) -> None:
    """Call a tool with a limit of its own."""
    from agentkit.messages import ToolCall

    await host.call(ToolCall("c1", "a.echo", {"text": "x"}), timeout_s=limit_s)


@posix
async def test_closing_ends_a_server_that_hangs() -> None:
    host = McpHost({"a": bare()})
    await host.open()
    pid = await pid_of(host, "a")
    os.kill(pid, signal.SIGSTOP)

    await host.close()

    assert is_gone(pid)


async def test_closing_in_the_middle_of_a_start_leaves_nothing(tmp_path: Path) -> None:
    before = set(psutil.Process().children())
    host = McpHost({"a": bare("--fault", "mute")})
    opening = asyncio.create_task(host.open())
    async with asyncio.timeout(LIMIT_S):
        while set(psutil.Process().children()) == before:
            await asyncio.sleep(0)

    await host.close()
    with pytest.raises(ServerGoneError, match="was closed"):
        await opening

    assert set(psutil.Process().children()) == before


async def test_a_caller_whose_server_is_closed_meanwhile_is_told() -> None:
    host = McpHost({"a": bare()})
    await host.open()
    waiting = asyncio.create_task(say(host, "a.never"))
    await say(host, "a.pid")

    await host.close()

    with pytest.raises(ServerGoneError):
        await waiting


@pytest.mark.parametrize("fault", ["prints", "prints_bytes"])
@ERAS
async def test_a_server_that_prints_harms_nothing_and_is_told_about(fault: str, era: str) -> None:
    watched = Watched({"a": bare("--fault", fault, era=era)})
    async with watched.host as host:
        result = await say(host, "a.echo", text="x")
        reason = host.reason("a")

    warnings = [event.reason for event in watched.events if "log to standard error" in event.reason]
    assert result.text == "x"
    assert len(warnings) == 1
    assert {"prints": "Server läuft 你好", "prints_bytes": "not text"}[fault] in warnings[0]
    assert "printed to its standard output" in reason


async def test_what_a_server_prints_is_not_logged_as_a_traceback(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with McpHost({"a": bare("--fault", "prints")}) as host:
        await say(host, "a.echo", text="x")
        kill(await pid_of(host, "a"))
        await say(host, "a.echo", text="x")

    assert caplog.records == []
    assert capfd.readouterr().err == ""


START: list[tuple[dict[str, Any], str, str]] = [
    ({"command": "no-such-program-4711"}, "no program 'no-such-program-4711'", "full path"),
    ({**bare(), "cwd": "/no/such/folder"}, "no folder /no/such/folder", "Correct cwd"),
    ({"command": tempfile.gettempdir()}, "cannot be run", ""),
    (bare("--fault", "dies"), "out of luck", "Run that command in a terminal"),
    ({"command": sys.executable, "args": ["nowhere.py"]}, "is not there", "Correct the path"),
    ({"command": sys.executable, "args": ["-m", "no_such_mod"]}, "No module named", "terminal"),
    (
        {"command": sys.executable, "args": ["-c", "import no_such_mod"]},
        "cannot import no_such_mod",
        "Install what it needs",
    ),
    (
        {
            "command": sys.executable,
            "args": ["-c", "raise SystemExit(\"No module named 'fastmcp'\")"],
        },
        "written for FastMCP",
        "pip install 'fastmcp'",
    ),
    (
        {"command": sys.executable, "args": ["-c", "raise SystemExit(\"No module named 'mcp'\")"]},
        "has no mcp",
        sys.executable,
    ),
    ({"url": "http://127.0.0.1:9/mcp"}, "nothing listens at http://127.0.0.1:9/mcp", "Start"),
]


@pytest.mark.parametrize(("config", "said", "todo"), START, ids=[case[1] for case in START])
async def test_a_server_that_does_not_start_says_why_and_what_to_do(
    config: dict[str, Any], said: str, todo: str, capfd: pytest.CaptureFixture[str]
) -> None:
    host = McpHost({"a": config})

    with pytest.raises(ServerStartError) as caught:
        await host.open()
    state = host.state("a")
    await host.close()

    assert said in caught.value.what
    assert todo in caught.value.hint
    assert state == "down"
    assert capfd.readouterr().err == ""


async def test_a_server_written_for_fastmcp_is_told_how_to_run_as_it_is() -> None:
    """A public fault: a bare ModuleNotFoundError, and nothing on what to do."""
    config = {"command": sys.executable, "args": [str(HERE / "fastmcp_one.py")]}

    with pytest.raises(ServerStartError) as caught:
        async with McpHost({"old": config}):
            pass

    assert "written for FastMCP (mcp 1.x)" in caught.value.what
    assert '"--with", "mcp<2"' in caught.value.hint
    assert "environment of its own (pip install 'mcp<2')" in caught.value.hint
    assert "from mcp.server import MCPServer" in caught.value.hint


@pytest.mark.parametrize("fault", ["mute", "silent start"])
async def test_a_server_that_never_answers_is_ended_after_the_time_to_start(fault: str) -> None:
    before = set(psutil.Process().children())
    config = bare("--fault", "mute")
    if fault == "silent start":
        config = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"]}
    host = McpHost({"a": config}, start_timeout_s=0.9)

    with pytest.raises(ServerStartError) as caught:
        await host.open()

    assert "did not answer within the time limit" in caught.value.what
    assert "start_timeout_s" in caught.value.hint
    assert set(psutil.Process().children()) == before
    await host.close()


async def test_a_server_that_ignores_the_newer_handshake_is_reached_by_the_older_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 0.5)
    source = (HERE / "bare.py").read_text(encoding="utf-8")
    deaf = source.replace(
        'send({"id": message["id"], "error": {"code": -32601, "message": f"no method {method}"}})',
        "pass",
    )
    assert deaf != source
    config = {"command": sys.executable, "args": ["-c", deaf]}

    async with McpHost({"a": config}) as host:
        assert (await say(host, "a.echo", text="x")).text == "x"


async def test_the_others_come_up_where_one_does_not(tmp_path: Path) -> None:
    servers = {"a": bare(), "b": bare("--fault", "dies"), "c": {"command": "no-such-program-4711"}}
    host = McpHost(servers)

    with pytest.raises(ServerStartError) as caught:
        await host.open()
    alive = await say(host, "a.echo", text="x")
    await host.close()

    assert caught.value.what.startswith("2 of 3 servers did not start.")
    assert "b did not start" in caught.value.what
    assert "c did not start" in caught.value.what
    assert alive.text == "x"

    async with McpHost(servers, strict=False) as host:
        assert {name: host.state(name) for name in host.servers()} == {
            "a": "ready",
            "b": "down",
            "c": "down",
        }
        assert "no program" in host.reason("c")
        assert (await say(host, "a.echo", text="x")).text == "x"
        with pytest.raises(ServerGoneError, match=r"b\.echo was not called: b did not start"):
            await say(host, "b.echo", text="x")


async def test_a_block_that_raises_at_its_start_leaves_no_process() -> None:
    before = set(psutil.Process().children())

    with pytest.raises(ServerStartError):
        async with McpHost({"a": bare(), "b": bare("--fault", "dies")}):
            pass

    assert set(psutil.Process().children()) == before


async def test_a_server_without_tools_offers_none() -> None:
    async with McpHost({"a": bare("--fault", "no_tools")}) as host:
        assert host.state("a") == "ready"
        assert host.tools() == []
