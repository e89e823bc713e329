"""What a session does where tools and rules leave a conversation little room."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentkit.clock import FixedClock
from agentkit.compress import compress
from agentkit.messages import Message, assistant, user
from agentkit.models.reader import ReaderModel
from agentkit.monitor import FIXED, SAVES, Monitor
from agentkit.session import Session
from agentkit.tokens import Counter
from agentkit.window import Section, SectionRole, pack
from tests.toolbox import ToolBox, spec

COUNT = Counter.for_model("reader")
NOTES = {
    "en": "My note number {} is about the chairs of the depot and how many stand in which room.",
    "zh": "我的第 {} 条笔记说的是仓库里的椅子，今天每个房间里各放了多少把。",
}
LANGUAGES = sorted(NOTES)


def filler(tokens: int) -> str:
    text = "Do a thing with care. "
    return text * (tokens // (COUNT(text * 100) // 100))


def session_of(lang: str, turns: int, *, budget: int, tools: int = 0, system: int = 0) -> Session:
    """Return a session that tools and a system prompt of so many tokens have narrowed."""
    offered = ((spec(f"depot.count{n}", about=filler(60)), "1") for n in range(tools // 90))
    settings: dict[str, Any] = {"system": filler(system)} if system else {}
    session = Session(
        model=ReaderModel(),
        budget=budget,
        clock=FixedClock(),
        compress=True,
        host=ToolBox(*offered),
        **settings,
    )
    for n in range(turns):
        asyncio.run(session.ask(NOTES[lang].format(n)))
    return session


def compressions(session: Session) -> list[dict[str, Any]]:
    return [dict(entry.data) for entry in session.trace if entry.kind == "Compressed"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_history_beside_many_tools_gets_shorter(lang: str) -> None:
    session = session_of(lang, 18, budget=2_300, tools=1_100)

    done = compressions(session)
    shots = session.monitor.report().snapshots
    assert 0.5 < session.monitor.fixed / session.monitor.usable < 0.75
    assert done
    assert all(0 < each["after"] <= each["target"] < each["before"] for each in done)
    assert max(shot.used / shot.usable for shot in shots) < 0.8
    assert shots[-1].refused == ""
    assert not [left for shot in shots for left in shot.dropped if "summary" not in left.reason]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_compression_by_hand_shortens_it_whatever_the_monitor_advises(lang: str) -> None:
    session = session_of(lang, 5, budget=2_300, tools=1_100)
    before = sum(map(COUNT.message, session.messages))

    done = session.compress()

    assert session.monitor.advice == "continue"
    assert done.done
    assert done.before == before > done.after == sum(map(COUNT.message, session.messages))
    assert done.target > 0


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_misses_its_target_is_done_when_it_saves_a_third(lang: str) -> None:
    session = session_of(lang, 18, budget=600, system=290)

    done = [each for each in compressions(session) if each["rounds"]]
    shots = session.monitor.report().snapshots
    assert len(compressions(session)) < len(shots) / 2  # not at each turn again
    assert all(each["after"] <= each["before"] * (1 - SAVES) for each in done)
    assert all(shot.used / shot.usable < 0.95 for shot in shots)
    assert not [left for shot in shots for left in shot.dropped if "summary" not in left.reason]


def test_a_window_that_stays_full_says_what_takes_the_room_and_what_helps() -> None:
    session = session_of("en", 8, budget=2_300, tools=1_500)

    last = session.monitor.report().snapshots[-1]
    [flag] = [flag for flag in last.flags if flag.kind == "fixed parts"]
    tools = {role.name: role.share for role in last.roles}["tools"]
    assert f"tools {tools * 100:.0f} %" in flag.reason
    assert "larger window" in flag.remedy
    assert "Unmount servers" in flag.remedy
    assert all(
        flag.remedy in each["reason"] for each in compressions(session) if not each["rounds"]
    )
    assert flag.remedy in session.compress().reason


@pytest.mark.parametrize("role", sorted({*FIXED} - {"system"}))
def test_each_part_that_stays_has_a_name_and_a_remedy(role: SectionRole) -> None:
    monitor = Monitor(window=1_000)
    sections = [
        Section("rules", "Be brief.", role="system", rank=0),
        Section("large", filler(800), role=role, rank=0),
    ]

    shot = monitor.record(pack(sections, budget=1_000, count=COUNT))

    [flag] = [flag for flag in shot.flags if flag.kind == "fixed parts"]
    assert {"pinned": "what is pinned 80"}.get(role, f"{role} 80") in flag.reason
    assert "the system prompt" not in flag.reason  # it is not what makes the window full


def test_a_window_with_room_is_not_flagged() -> None:
    monitor = Monitor(window=1_000)
    rules = Section("rules", filler(700), role="pinned", rank=0)

    shot = monitor.record(pack([rules], budget=1_000, count=COUNT))

    assert "fixed parts" not in [flag.kind for flag in shot.flags]


def talk(rounds: int) -> list[Message]:
    return [m for n in range(rounds) for m in (user(NOTES["en"].format(n)), assistant("Noted."))]


def test_a_target_that_is_given_is_held_to() -> None:
    """By design: who names a target gets it or a refusal, however much would be saved."""
    history = talk(12)

    strict = compress(history, count=COUNT, target=10)
    kind = compress(history, count=COUNT, target=10, saves=SAVES, budget=50)

    assert (strict.done, strict.messages) == (False, tuple(history))
    assert (kind.done, kind.target) == (True, kind.after)
    assert kind.after < strict.before * (1 - SAVES)
    assert not Monitor(window=1_000).compress(history, count=COUNT, target=10).done


def test_what_saves_too_little_is_refused() -> None:
    history = [*talk(1), user(filler(300)), assistant("Done.")]

    done = compress(history, count=COUNT, target=100, saves=SAVES)

    assert (done.done, done.messages) == (False, tuple(history))
