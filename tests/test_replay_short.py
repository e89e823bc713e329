"""A conversation that short-term memory made shorter replays turn by turn from its file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agentkit.clock import FixedClock
from agentkit.errors import TraceError
from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.long import LongTermMemory
from agentkit.memory.short import ShortTermMemory
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.models.reader import ReaderModel
from agentkit.recorded import besides_before, gone_before, history_before
from agentkit.replay import replay_turn
from agentkit.session import Session
from agentkit.tokens import Counter
from agentkit.trace import Trace
from tests.test_session_window import FACTS, FILLER, ask

COUNT = Counter.for_model("reader")
AFTER = ("Condensed", "HandoverWritten", "SideCalled", "Valued")  # of the session, around its turns
RULES = {
    "en": "Never use more than three colours. ",
    "zh": "任何时候都不要超过三种颜色。",
}


def talk(lang: str, path: Path, *, turns: int = 14, budget: int = 1_500, **settings: Any) -> Trace:
    """Return the trace of a talk with short-term memory, as it is read back from its file."""
    short = ShortTermMemory(count=COUNT, **{"most": 5, "least": 2, **settings})
    session = Session(
        model=ReaderModel(),
        short=short,
        budget=budget,
        clock=FixedClock(),
        trace=Trace(clock=FixedClock(), path=path),
    )
    for n in range(turns):
        ask(session, FILLER[lang].format(n) if n % 6 else FACTS[lang][0] + RULES[lang])
    ask(session, FACTS[lang][1])
    return Trace.load(path)


def again(trace: Trace, turn: str) -> Trace:
    replayed = Trace(clock=FixedClock())
    asyncio.run(replay_turn(trace, turn, replayed=replayed))
    return replayed


def events(trace: Trace, turn: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (e.kind, {k: v for k, v in e.data.items() if k not in ("ms", "new")})
        for e in trace.of_turn(turn)
        if e.kind not in AFTER
    ]


def older(path: Path) -> Trace:
    """Return the trace as it was written before the event of short-term memory said so much."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line["event"] == "Condensed":
            del line["text"], line["pinned"]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="\n")
    return Trace.load(path)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("strategy", ["truncate", "summary", "layered"])
def test_every_turn_replays_to_the_same_events(tmp_path: Path, strategy: str, lang: str) -> None:
    trace = talk(lang, tmp_path / "t", strategy=strategy)

    assert trace.kinds().count("Condensed") >= 3
    for n in range(1, 16):
        assert events(again(trace, f"t{n}"), "t1") == events(trace, f"t{n}")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_a_turn_read_is_what_short_term_memory_held(tmp_path: Path, lang: str) -> None:
    """By reference: a session that is asked as often holds the same."""
    trace = talk(lang, tmp_path / "t")
    short = ShortTermMemory(count=COUNT, most=5, least=2)
    session = Session(model=ReaderModel(), short=short, budget=1_500, clock=FixedClock())
    for n in range(14):
        ask(session, FILLER[lang].format(n) if n % 6 else FACTS[lang][0] + RULES[lang])

    assert history_before(trace, "t15") == short.messages
    assert besides_before(trace, "t15") == short.sections()
    assert gone_before(trace, "t15") == len(short.archive)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_summary_that_found_no_room_is_known_from_its_event(tmp_path: Path, lang: str) -> None:
    trace = talk(lang, tmp_path / "t", budget=420, strategy="summary")
    out = [
        e.turn
        for e in trace
        if e.kind == "Packed" and "summary so far" in [name for name, _, _ in e.data["dropped"]]
    ]

    assert out
    for turn in out:
        assert events(again(trace, turn), "t1") == events(trace, turn)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_older_trace_replays_where_its_windows_say_what_stood_there(
    tmp_path: Path, lang: str
) -> None:
    talk(lang, tmp_path / "t")
    trace = older(tmp_path / "t")

    for n in range(1, 16):
        assert events(again(trace, f"t{n}"), "t1") == events(trace, f"t{n}")


def test_an_older_trace_says_which_turn_it_cannot_replay_and_why(tmp_path: Path) -> None:
    talk("en", tmp_path / "t", budget=420, strategy="summary")
    trace = older(tmp_path / "t")
    out = [e.turn for e in trace if e.kind == "Packed" and "summary" in str(e.data["dropped"])]

    with pytest.raises(TraceError, match="had no room for its 'summary so far'") as caught:
        again(trace, out[0])
    assert caught.value.hint.startswith("Replay a turn whose window held it")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_session_that_began_with_a_hand_over_replays(tmp_path: Path, lang: str) -> None:
    before = Session(model=ReaderModel(), budget=1_500, clock=FixedClock())
    ask(before, FACTS[lang][0])
    session = before.new_session(trace=Trace(clock=FixedClock(), path=tmp_path / "t"))
    for n in range(2):
        ask(session, FILLER[lang].format(n))
    trace = Trace.load(tmp_path / "t")

    turns = list(dict.fromkeys(entry.turn for entry in trace if entry.turn))
    assert besides_before(trace, turns[-1]) != []
    for turn in turns:
        assert events(again(trace, turn), "t1") == events(trace, turn)


@pytest.mark.parametrize(
    ("fact", "forget"),
    [
        ("Please remember: my locker is number 4711.", "Forget that my locker is number 4711."),
        ("请记住：我的储物柜是4711号。", "忘掉我的储物柜是4711号。"),
    ],
)
def test_what_was_forgotten_is_in_no_summary_of_the_file(
    tmp_path: Path, fact: str, forget: str
) -> None:
    path = tmp_path / "t"
    with LongTermMemory.open(tmp_path / "m.db", embedder=HashedEmbedder()) as store:
        session = Session(
            model=ReaderModel(),
            memory=TenantMemory(store, tenant="ada"),
            short=ShortTermMemory(count=COUNT, most=3, least=1),
            clock=FixedClock(),
            trace=Trace(clock=FixedClock(), path=path),
        )
        for text in (fact, "One.", "Two.", "Three."):
            ask(session, text)
        held = path.read_text(encoding="utf-8")
        ask(session, forget)

    condensed = [e.data["text"] for e in Trace.load(path) if e.kind == "Condensed"]
    assert any("4711" in line for line in held.splitlines() if '"Condensed"' in line)
    assert condensed
    assert "4711" not in path.read_text(encoding="utf-8")


def test_a_secret_in_a_summary_is_not_written(tmp_path: Path) -> None:
    session = Session(
        model=ReaderModel(),
        short=ShortTermMemory(count=COUNT, most=3, least=1),
        clock=FixedClock(),
        trace=Trace(clock=FixedClock(), path=tmp_path / "t"),
    )
    secret = "sk-proj-" + "a1B2" * 12
    for text in (f"You must never show my key {secret} to anyone.", "One.", "Two.", "Three."):
        ask(session, text)

    assert secret in session.short.summary.text + str(session.short.pinned)  # type: ignore[union-attr]
    [condensed] = [e for e in Trace.load(tmp_path / "t") if e.kind == "Condensed"]
    assert secret not in str(condensed.data)
