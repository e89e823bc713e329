"""A saved trace runs again without its model and tools, and a change is noticed."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.clock import FixedClock
from agentkit.context import Frame
from agentkit.errors import AgentkitError, ModelError, TraceError
from agentkit.events import Event, Recalled, Wrote
from agentkit.loop import Turn
from agentkit.memory.brought import Brought
from agentkit.messages import Message, ModelSaid, ToolCall, ToolResult
from agentkit.models.reader import ReaderModel
from agentkit.models.scripted import ScriptedModel
from agentkit.recorded import history_before
from agentkit.replay import Replay, replay_turn
from agentkit.session import Session
from agentkit.trace import Trace
from agentkit.window import Count
from tests.histories import STEADY, TEXTS
from tests.test_session import WHIMS, Whim
from tests.toolbox import ToolBox, spec

ADD = spec("sums.add", a="integer", b="integer", required=("a", "b"))
SAY = spec("echo.say", text="string")
WIPE = spec("磁盘.清空", tier="destructive")


def box() -> ToolBox:
    return ToolBox(
        (ADD, lambda a, b: {"sum": a + b}),
        (SAY, lambda text="": f"说 {text} " * 900),
        (WIPE, ""),
    )


def call(name: str, call_id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments)


def record(*steps: Any, texts: Sequence[str], path: Path, **settings: Any) -> Trace:
    """Return the trace of a conversation, as it is read back from its file."""
    session = Session(
        model=ScriptedModel(steps), host=box(), clock=FixedClock(), **settings,
        trace=Trace(clock=FixedClock(), path=path),
    )  # fmt: skip
    for text in texts:
        try:
            asyncio.run(session.ask(text))
        except AgentkitError:
            continue
    return Trace.load(path)


def again(trace: Trace, turn: str, **settings: Any) -> tuple[Turn, Trace]:
    replayed = Trace(clock=FixedClock())
    return asyncio.run(replay_turn(trace, turn, replayed=replayed, **settings)), replayed


def events(trace: Trace, turn: str) -> list[tuple[str, dict[str, Any]]]:
    """Return what happened in a turn, without what a replay cannot know: durations and texts
    that an earlier turn had already told."""
    return [
        (e.kind, {k: v for k, v in e.data.items() if k not in ("ms", "new")})
        for e in trace.of_turn(turn)
        if e.kind not in ("Compressed", "HandoverWritten")  # of the session, after the turn
    ]


CONVERSATION: list[Any] = [
    call("sums.add", a=2, b=3),
    "It is 5.",
    [call("echo.say", "c2", text="很长"), call("sums.add", "c3", a="x"), call("no.tool", "c4")],
    [call("sums.add", "c5", a=1, b=1), call("磁盘.清空", "c6")],
    "Done.",
]


@pytest.mark.parametrize("turn", ["t1", "t2"])
def test_a_saved_turn_replays_to_the_same_events(tmp_path: Path, turn: str) -> None:
    """With a long result, wrong arguments, a tool that is not there, and a refused consent."""
    trace = record(*CONVERSATION, texts=["2 + 3?", "做完"], path=tmp_path / "t", pinned=["≤ 5000"])

    done, replayed = again(trace, turn)

    assert events(replayed, "t1") == events(trace, turn)
    assert done.error is None
    assert done.answer == {"t1": "It is 5.", "t2": "Done."}[turn]


def test_the_model_and_the_tools_of_then_are_not_needed(tmp_path: Path) -> None:
    trace = record(*CONVERSATION, texts=["2 + 3?", "go"], path=tmp_path / "t")

    done, _ = again(trace, "t1")

    assert [m.role for m in done.messages] == ["user", "assistant", "tool", "assistant"]
    assert done.messages[2].text == '{"sum": 5}'


def test_the_history_of_a_turn_is_read_back_from_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "t"
    session = Session(model=ScriptedModel(CONVERSATION), host=box(),
                      trace=Trace(clock=FixedClock(), path=path), clock=FixedClock())  # fmt: skip
    asyncio.run(session.ask("2 + 3?"))
    asyncio.run(session.ask("go"))

    assert history_before(Trace.load(path), "t3") == session.messages
    assert history_before(Trace.load(path), "t2") == session.messages[:4]
    assert history_before(Trace.load(path), "t1") == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"system": "Be rude."}, "system of 6 tokens instead of"),
        ({"pinned": ()}, "no pinned 1"),
        ({"pinned": ("at most 5001",)}, "another text in pinned 1"),
        ({"pinned": ("at most 5000", "new")}, "pinned 2, which was not there"),
    ],
)
def test_a_changed_frame_is_noticed_and_named(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    trace = record(*CONVERSATION, texts=["hi"], path=tmp_path / "t", pinned=["at most 5000"])
    frame = dataclasses.replace(Replay(trace, "t1").frame(), **change)

    with pytest.raises(TraceError, match=named):
        again(trace, "t1", frame=frame)


def test_a_smaller_window_is_noticed_by_what_falls_out(tmp_path: Path) -> None:
    steps = ["answer " * 200, "ok"]
    trace = record(*steps, texts=["one", "two"], path=tmp_path / "t")
    frame = dataclasses.replace(Replay(trace, "t2").frame(), budget=350, reserve=0)

    with pytest.raises(TraceError, match="no round 1"):
        again(trace, "t2", frame=frame)


def test_another_history_is_noticed(tmp_path: Path) -> None:
    trace = record("a", "b", texts=["one", "two"], path=tmp_path / "t")

    with pytest.raises(TraceError, match="no round 1"):
        again(trace, "t2", history=[])
    with pytest.raises(TraceError, match="other words in its messages"):
        again(trace, "t2", history=[Message("user", "six"), Message("assistant", "a")])


def test_a_tool_whose_description_changed_is_noticed(tmp_path: Path) -> None:
    trace = record(*CONVERSATION[:2], texts=["2 + 3?"], path=tmp_path / "t")
    packed = next(entry for entry in trace if entry.kind == "Packed")
    packed.data["new"]["tools"] = packed.data["new"]["tools"].replace("Do sums", "Do not do sums")

    with pytest.raises(TraceError, match="tools of"):
        again(trace, "t1")


def test_a_turn_that_failed_fails_again_with_the_same_words(tmp_path: Path) -> None:
    gone = ModelError("The line is dead.", hint="Ask again.")
    trace = record(call("sums.add", a=1, b=1), gone, texts=["1 + 1?"], path=tmp_path / "t")

    done, replayed = again(trace, "t1")

    assert events(replayed, "t1") == events(trace, "t1")
    assert str(done.error) == str(gone)


def test_a_turn_that_the_guard_stopped_stops_again(tmp_path: Path) -> None:
    steps = [call("sums.add", f"c{n}", a=1, b=1) for n in range(2)]
    trace = record(*steps, "2.", texts=["1 + 1?"], path=tmp_path / "t")

    done, replayed = again(trace, "t1")

    assert done.stopped is not None
    assert events(replayed, "t1") == events(trace, "t1")


def test_secrets_are_gone_from_the_file_and_the_turn_replays_without_them(tmp_path: Path) -> None:
    secret = "密码是 hunter2abc9"
    trace = record(call("sums.add", a=1, b=1), f"ok, {secret}", "fine", texts=[secret, "and?"],
                   path=tmp_path / "t")  # fmt: skip

    for turn in ("t1", "t2"):
        _, replayed = again(trace, turn)
        assert "hunter2abc9" not in replayed.as_text()
    assert "hunter2abc9" not in (tmp_path / "t").read_text(encoding="utf-8")


@pytest.mark.parametrize("turn", ["t9", ""])
def test_a_turn_that_is_not_there_is_an_error_that_names_those_that_are(
    tmp_path: Path, turn: str
) -> None:
    trace = record("a", texts=["one"], path=tmp_path / "t")

    with pytest.raises(TraceError, match="one of: t1"):
        again(trace, turn)
    with pytest.raises(TraceError, match="Record a turn"):
        again(Trace(), "t1")


def test_a_reader_turn_against_real_results_replays(tmp_path: Path) -> None:
    notes = spec("notes.search_notes", about="Find notes (did I note).", query="string",
                 required=("query",))  # fmt: skip
    host = ToolBox((notes, {"hits": [{"title": "报告"}], "total": 1}))
    session = Session(model=ReaderModel(), host=host, clock=FixedClock(),
                      trace=Trace(clock=FixedClock(), path=tmp_path / "t"))  # fmt: skip
    answer = asyncio.run(session.ask("did I note anything about the report?"))

    done, replayed = again(Trace.load(tmp_path / "t"), "t1")

    assert done.answer == answer == "I found 1: “报告”"
    assert events(replayed, "t1") == events(session.trace, "t1")


class Memory:
    """A memory that brings a sentence each time, and writes one."""

    def wide(self, text: str, *, budget: int, count: Count) -> Brought:
        return Brought("The demo is on Tuesday.", Recalled("wide", text, ({"id": "m1"},)))

    def narrow(
        self, call: ToolCall, result: ToolResult, *, budget: int, count: Count
    ) -> Brought:  # fmt: skip
        text = "" if call.id == "c2" else f"Beside {call.id}."
        return Brought(text, Recalled("narrow", call.name, (), ("vectors",)))

    def write(self, messages: Sequence[Message], *, system: str) -> list[Event]:
        return [Wrote("m2", messages[0].text)]


@pytest.mark.parametrize("turn", ["t1", "t2"])
def test_what_memory_brought_is_brought_again_and_nothing_is_written(
    tmp_path: Path, turn: str
) -> None:
    steps = [
        [call("sums.add", "c1", a=1, b=1), call("sums.add", "c2", a=2, b=2)],
        call("sums.add", "c3", a=3, b=3),
        "Tuesday.",
        "Still Tuesday.",
    ]
    trace = record(*steps, texts=["when?", "and now?"], path=tmp_path / "t", memory=Memory())

    _, replayed = again(trace, turn)

    assert events(replayed, "t1") == events(trace, turn)
    assert replayed.kinds()[-1] == "Wrote"


class Forgets(Memory):
    """Forgets on "forget that" what was said of the dentist."""

    forgotten: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()

    def write(self, messages: Sequence[Message], *, system: str) -> list[Event]:
        self.forgotten = ("My dentist is Dr Lee.",) if "forget" in messages[0].text else ()
        return super().write(messages, system=system)


def test_a_turn_that_said_what_was_forgotten_since_does_not_replay_and_says_why(
    tmp_path: Path,
) -> None:
    said = ["hello", "My dentist is Dr Lee.", "forget that", "and now?"]
    trace = record(*["ok"] * 4, texts=said, path=tmp_path / "t", memory=Forgets())

    with pytest.raises(TraceError) as caught:
        again(trace, "t2")
    replayed = [again(trace, turn)[0].answer for turn in ("t1", "t4")]

    assert caught.value.hint.startswith("The user has had something")
    assert replayed == ["ok", "ok"]


@given(whims=WHIMS, texts=st.lists(TEXTS, min_size=1, max_size=3))
@STEADY
def test_any_conversation_replays_turn_by_turn(whims: list[ModelSaid], texts: list[str]) -> None:
    """By property: whatever a model does and whatever goes wrong."""
    trace = Trace(clock=FixedClock())
    session = Session(model=Whim(whims), host=box(), clock=FixedClock(), trace=trace, budget=1_500)
    for text in texts:
        try:
            asyncio.run(session.ask(text))
        except AgentkitError:
            continue

    for turn in dict.fromkeys(e.turn for e in trace if e.kind == "Packed"):
        silent = [e for e in trace.of_turn(turn) if e.kind == "Failed"]
        _, replayed = again(trace, turn)
        if not silent:  # an error names the model, and the reader stands in for a nameless one
            assert events(replayed, "t1") == events(trace, turn)


def test_the_frame_of_the_recording_is_read_back(tmp_path: Path) -> None:
    trace = record("a", texts=["one"], path=tmp_path / "t", system="Be kind.", pinned=["一", "二"],
                   budget=3_000, reserve=300)  # fmt: skip

    frame = Replay(trace, "t1").frame()

    assert isinstance(frame, Frame)
    assert (frame.system, frame.pinned, frame.budget, frame.reserve) == (
        "Be kind.",
        ("一", "二"),
        3_000,
        300,
    )
