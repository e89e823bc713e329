"""A conversation over a server that is killed: it waits for it, or says what is wrong."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from agentkit.clock import FixedClock
from agentkit.errors import HostError
from agentkit.guard import Limits
from agentkit.host import link
from agentkit.messages import ToolCall, ToolResult
from agentkit.models.scripted import ScriptedModel
from agentkit.session import Session
from agentkit.tools import ToolSpec
from agentkit.window import Packed
from tests.servers_for_tests import Watched, bare, lines, pid_of
from tests.toolbox import spec

ROOT = Path(__file__).resolve().parents[1]


def kill_notes() -> None:
    """End the note server of this process at once, as kill -9 does."""
    children = psutil.Process().children(recursive=True)
    for server in [child for child in children if "servers.notes" in child.cmdline()]:
        server.kill()


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        (
            "note for next week: finish the project report",
            "did I note anything about the report?",
            "finish the project report",
        ),
        ("帮我记一下：下周要完成结项报告", "我之前记过关于报告的事吗？", "结项报告"),
    ],
)
def test_a_server_that_is_killed_between_two_questions_is_waited_for_and_answers(
    tmp_path: Path, first: str, second: str, wanted: str
) -> None:
    """With the real note server; the question comes while it is down, before any restart."""
    arguments = ["-m", "servers.notes", "--file", str(tmp_path / "notes.json")]
    config = {"notes": {"command": sys.executable, "args": arguments, "cwd": str(ROOT)}}

    async def talk() -> tuple[str, list[str]]:
        watched = Watched(config)
        async with watched.host as host:
            session = Session(host=host, clock=FixedClock())
            await session.ask(first)
            seen = len(watched.events)
            kill_notes()
            await watched.until("notes", "down", since=seen)
            assert not any(tool.available for tool in host.tools())
            answer = await session.ask(second)
            return answer, [event.state for event in watched.events[seen:]]

    answer, states = asyncio.run(talk())

    assert wanted in answer
    assert "ready" in states


@pytest.mark.parametrize(
    ("text", "failed", "named"),
    [
        ("Please echo the text hello.", "That did not work", "a is not up after 1 s; it is "),
        ("echo 文本：你好", "没有成功", "服务器 a 过了 1 秒还没有启动"),
    ],
)
def test_a_server_that_does_not_come_back_is_named_in_the_answer(
    tmp_path: Path, text: str, failed: str, named: str
) -> None:
    """The reader says what it reads, and not that there is no such tool."""
    curse = tmp_path / "curse"

    async def talk() -> str:
        watched = Watched({"a": bare("--die-if", str(curse))})
        async with watched.host as host:
            session = Session(host=host, clock=FixedClock(), limits=Limits(timeout_s=1.0))
            pid = await pid_of(host, "a")
            curse.touch()
            seen = len(watched.events)
            psutil.Process(pid).kill()
            await watched.until("a", "down", since=seen)
            return await session.ask(text)

    answer = asyncio.run(talk())

    assert answer.startswith(failed)
    assert named in answer


CALLS = [ToolCall(f"c{n}", "a.echo", {"text": f"你好 {n}"}) for n in range(5)]


def returned(session: Session, turn: int) -> list[str]:
    return [m.text for m in session.turns[turn].messages if m.role == "tool"]


def test_a_turn_waits_for_a_server_once_and_the_next_turn_tries_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in starts: without that, each of the calls would start it once more."""
    monkeypatch.setattr(link, "RESTART_PAUSES_S", (0.0, 0.0))
    log, curse = tmp_path / "log", tmp_path / "curse"
    model = ScriptedModel([CALLS[:3], CALLS[3:4], "It is down.", CALLS[4:], "Still."])

    async def talk() -> tuple[Session, list[int]]:
        watched = Watched({"a": bare("--log", str(log), "--die-if", str(curse))})
        async with watched.host as host:
            session = Session(model=model, host=host, budget=8_000, clock=FixedClock())
            pid = await pid_of(host, "a")
            curse.touch()
            psutil.Process(pid).kill()
            starts = []
            for text in ("echo", "echo 一次"):
                await session.ask(text)
                starts.append(lines(log).count("start"))
            return session, starts

    session, starts = asyncio.run(talk())

    first, *others = returned(session, 0)
    assert "a.echo was not called: a did not start" in first
    assert len(others) == 3
    assert {text.split(".")[1] for text in others} == {
        "echo was not called: a is down and did not come back"
    }
    assert starts == [3, 4]
    assert "a did not start" in returned(session, 1)[0]


def test_a_server_that_is_slow_to_come_up_costs_a_turn_one_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "RESTART_PAUSES_S", (60.0,))
    model = ScriptedModel([CALLS[:3], "It is down."])

    async def talk() -> Session:
        watched = Watched({"a": bare("--die-if", str(tmp_path / "curse"))})
        async with watched.host as host:
            limits = Limits(timeout_s=0.2)
            session = Session(
                model=model, host=host, budget=8_000, clock=FixedClock(), limits=limits
            )
            pid = await pid_of(host, "a")
            (tmp_path / "curse").touch()
            seen = len(watched.events)
            psutil.Process(pid).kill()
            await watched.until("a", "down", since=seen)
            await session.ask("echo")
            return session

    session = asyncio.run(talk())

    first, *others = returned(session, 0)
    assert first.startswith("a is not up after 0.2 s")
    assert all("a is down and did not come back" in text for text in others)


class Returns:
    """A host of one tool, whose server is down until somebody says that it is up."""

    def __init__(self) -> None:
        self.up = False
        self.asked = 0

    def tools(self) -> list[ToolSpec]:
        return [replace(spec("a.echo", text="string"), available=self.up, returning=not self.up)]

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        self.asked += 1
        if not self.up:
            raise HostError("a is gone.", hint="", down=True)
        return ToolResult(call.id, call.name, str(call.arguments["text"]))


def test_a_server_that_came_back_in_the_same_turn_is_called_again() -> None:
    host = Returns()

    def later(packed: Packed, tools: Sequence[ToolSpec]) -> list[ToolCall]:
        host.up = True
        return [replace(CALLS[2], name="echo")]

    model = ScriptedModel([CALLS[:2], later, "ok"])
    session = Session(model=model, host=host, budget=8_000, clock=FixedClock())

    asyncio.run(session.ask("echo"))

    gone, skipped, answer = returned(session, 0)
    assert (gone, answer) == ("a is gone.", "你好 2")
    assert skipped.startswith("a.echo was not called: a is down")
    assert host.asked == 2
