"""A conversation over a server that is killed: it waits for it, or says what is wrong."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from agentkit.clock import FixedClock
from agentkit.guard import Limits
from agentkit.session import Session
from tests.servers_for_tests import Watched, bare, pid_of

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
    ("text", "failed"),
    [("Please echo the text hello.", "That did not work"), ("echo 文本：你好", "没有成功")],
)
def test_a_server_that_does_not_come_back_is_named_in_the_answer(
    tmp_path: Path, text: str, failed: str
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
    assert "a is not up after 1 s; it is " in answer
