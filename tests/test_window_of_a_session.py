"""`agentkit window` on a session's own trace: the window is the one that the model read last."""

from __future__ import annotations

import asyncio
import json
from collections import Counter as Bag
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.clock import FixedClock
from agentkit.errors import AgentkitError
from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.long import LongTermMemory
from agentkit.memory.short import ShortTermMemory
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.messages import ModelSaid, ToolCall
from agentkit.models.reader import ReaderModel
from agentkit.models.scripted import ScriptedModel
from agentkit.report import WindowReport, window_report
from agentkit.report.page import as_html
from agentkit.report.text import as_text
from agentkit.session import Session
from agentkit.tokens import Counter, message_size
from agentkit.trace import Trace
from agentkit.transcript import read_transcript
from tests.histories import STEADY
from tests.test_replay_short import older
from tests.test_session_window import FACTS, FILLER, LOG, ask, talk
from tests.toolbox import ToolBox, spec

COUNT = Counter.for_model("reader")


def short(**settings: Any) -> ShortTermMemory:
    return ShortTermMemory(count=COUNT, most=5, least=2, **settings)


WAYS = {
    "by value": lambda: {},
    "compressed": lambda: {"compress": True},
    "layered": lambda: {"short": short()},
    "truncated": lambda: {"short": short(strategy="truncate")},
}


def reported(session: Session, folder: Path) -> WindowReport:
    session.trace.save(folder / "talk.jsonl")
    return window_report(folder / "talk.jsonl")


def read(session: Session) -> dict[str, int]:
    """Count what the model read last, message by message, from the packing itself."""
    assert session.packed is not None
    sizes: Bag[str] = Bag()
    for section in session.packed.kept:
        for message in section.messages:
            part = "tool results" if message.role == "tool" else message.role
            calls = message_size(message, COUNT) - 3 - (COUNT(message.text) if message.text else 0)
            sizes[part] += message_size(message, COUNT) - calls
            sizes["tool calls"] += calls
        size = section.text_size(COUNT)
        part = {"history": "user", "constraints": "pinned"}.get(section.name, section.role)
        sizes[part] += size
    return {part: size for part, size in sizes.items() if size}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("way", WAYS)
def test_the_window_is_the_one_that_the_model_read_last(
    tmp_path: Path, way: str, lang: str
) -> None:
    """By reference: counted again from what was packed, section by section."""
    session = talk(lang, 24, **WAYS[way]())

    report = reported(session, tmp_path)

    assert session.packed is not None
    assert report.used == session.packed.tokens
    assert {line.name: line.tokens for line in report.sections} == read(session)
    assert report.reported is not None
    assert report.reported.not_in_file == 0
    everything = report.messages
    inside = sum(len(section.messages) for section in session.packed.kept)
    assert everything == 48
    assert inside + report.earlier[0] + report.left_out[0] + report.since[0] == everything


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_left_the_window_is_beside_it_with_numbers(tmp_path: Path, lang: str) -> None:
    session = talk(lang, 24, compress=True)

    report = reported(session, tmp_path)

    done = [entry.data["rounds"] for entry in session.trace if entry.kind == "Compressed"]
    said = [m for turn in session.turns[: sum(done)] for m in turn.messages]
    assert report.compressions == len(done)
    assert report.earlier == (2 * sum(done), sum(map(COUNT.message, said)))
    assert report.since == (1, COUNT.message(session.turns[-1].messages[-1]))
    assert f"({report.earlier[1]:,} tokens) are out since" in as_text(report)
    assert [each.inside for each in report.lasting if each.round == 1] == [True]


def test_what_was_worth_least_is_left_out_with_numbers(tmp_path: Path) -> None:
    session = talk("en", 24)

    report = reported(session, tmp_path)

    assert session.packed is not None
    gone = session.packed.dropped
    assert report.left_out == (
        sum(len(section.messages) for section in gone),
        sum(section.size(COUNT) for section in gone),
    )
    assert f"left out, worth least: {report.left_out[0]}" in as_text(report)


def test_a_compression_after_the_last_answer_has_not_been_read(tmp_path: Path) -> None:
    session = talk("en", 24, compress=True)
    while session.trace.kinds()[-1] != "Compressed":
        ask(session, FILLER["en"].format(len(session.turns)))

    report = reported(session, tmp_path)

    assert session.packed is not None
    assert report.used == session.packed.tokens
    assert report.compressions == session.trace.kinds().count("Compressed") - 1


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_session_that_began_with_a_hand_over_is_whole(tmp_path: Path, lang: str) -> None:
    before = talk(lang, 24)
    session = before.new_session()
    ask(session, FACTS[lang][1])

    report = reported(session, tmp_path)

    assert session.packed is not None
    assert report.used == session.packed.tokens
    assert "summary" in [line.name for line in report.sections]
    handed = reported(before, tmp_path)
    assert any(act.startswith("written to hand over (") for act in handed.acts)


@pytest.mark.parametrize("way", ["by value", "compressed"])
def test_rounds_from_before_the_trace_have_their_tokens(tmp_path: Path, way: str) -> None:
    before = talk("en", 6)
    session = talk("en", 2, history=before.messages, **WAYS[way]())

    report = reported(session, tmp_path)

    assert session.packed is not None
    assert report.used == session.packed.tokens
    unknown = {line.name: line.tokens for line in report.sections}["history"]
    old = [s for s in session.packed.kept if s.name in [f"round {n}" for n in range(1, 7)]]
    identity = [s for s in session.packed.kept if s.name.startswith("round 1:")]
    assert unknown == sum(section.size(COUNT) for section in (*old, *identity))


LIST = spec("notes.list")


@pytest.mark.parametrize(
    "text", ["row of notes, as long as it is. " * 400, "很长的一行笔记。" * 600]
)
def test_of_a_long_result_what_the_model_read_counts(tmp_path: Path, text: str) -> None:
    model = ScriptedModel([ModelSaid("", (ToolCall("c1", "notes.list"),)), ModelSaid("ok")])
    session = Session(model=model, host=ToolBox((LIST, text)), budget=4_000, clock=FixedClock())
    ask(session, "list")

    report = reported(session, tmp_path)

    assert session.packed is not None
    assert report.used == session.packed.tokens
    sizes = {line.name: line.tokens for line in report.sections}
    assert sizes["tool results"] == COUNT.message(session.messages[2])
    assert read_transcript(tmp_path / "talk.jsonl").messages == session.messages


def test_a_turn_that_failed_at_once_is_in_no_later_window(tmp_path: Path) -> None:
    session = talk("en", 2)
    with pytest.raises(Exception, match="must stay"):
        ask(session, "a long log " * 2_000)
    ask(session, FACTS["en"][1])

    report = reported(session, tmp_path)

    assert session.packed is not None
    assert report.used == session.packed.tokens
    assert report.rounds == 3
    assert read_transcript(tmp_path / "talk.jsonl").messages == session.messages


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_saved_conversation_is_read_as_it_goes_on(tmp_path: Path, lang: str) -> None:
    session = talk(lang, 24, compress=True)
    session.trace.save(tmp_path / "talk.jsonl")

    assert read_transcript(tmp_path / "talk.jsonl").messages == session.messages


def test_of_several_conversations_in_a_file_the_last_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    talk("en", 5, trace=Trace(path=path))
    session = talk("zh", 3, trace=Trace(path=path))

    report = window_report(path)

    assert session.packed is not None
    assert report.used == session.packed.tokens
    assert report.skipped["earlier conversation of the trace"] == 1
    assert report.rounds == 3


@pytest.mark.parametrize(
    ("fact", "forget"),
    [
        ("Please remember: my locker is number 4711.", "Forget that my locker is number 4711."),
        ("请记住：我的储物柜是4711号。", "忘掉我的储物柜是4711号。"),
    ],
)
def test_what_was_forgotten_is_said_and_changes_no_size(
    tmp_path: Path, fact: str, forget: str
) -> None:
    with LongTermMemory.open(tmp_path / "m.db", embedder=HashedEmbedder()) as store:
        memory = TenantMemory(store, tenant="ada")
        session = Session(model=ReaderModel(), clock=FixedClock(), memory=memory)
        for text in (fact, forget):
            asyncio.run(session.ask(text))

        report = reported(session, tmp_path)

    assert session.packed is not None
    assert report.used == session.packed.tokens
    assert any(act.startswith("forgotten at the user's word: ") for act in report.acts)
    assert "4711" not in as_text(report) + as_html(report)


def test_for_another_model_the_texts_are_counted_again(tmp_path: Path) -> None:
    session = talk("zh", 24, compress=True)
    session.trace.save(tmp_path / "talk.jsonl")

    other = window_report(tmp_path / "talk.jsonl", model="claude-sonnet-4-5")

    count = Counter.for_model("claude-sonnet-4-5")
    assert session.packed is not None
    assert other.used == sum(section.size(count) for section in session.packed.kept)
    assert other.used != session.packed.tokens


def test_an_older_trace_that_does_not_tell_its_summaries_is_whole_too(tmp_path: Path) -> None:
    session = talk("en", 24, short=short())
    session.trace.save(tmp_path / "t")

    older(tmp_path / "t")
    report = window_report(tmp_path / "t")

    assert session.packed is not None
    assert report.used == session.packed.tokens
    assert report.compressions == session.trace.kinds().count("Condensed")


def test_a_compression_that_was_refused_is_named(tmp_path: Path) -> None:
    session = talk("en", 2, compress=True)
    for n in range(4):
        ask(session, f"{n}: {LOG}")

    report = reported(session, tmp_path)

    tried = [e.data for e in session.trace if e.kind == "Compressed"]
    refused = [each["reason"] for each in tried if not each["rounds"]]
    acts = [act for act in report.acts if act.startswith("compression refused: ")]
    assert refused
    assert acts == [f"compression refused: {reason}" for reason in refused]


def whole() -> list[dict[str, Any]]:
    """Return the events of a session that did everything, as their lines hold them."""
    session = talk("zh", 12, short=short())
    done = talk("en", 12, compress=True)
    return [json.loads(entry.as_json()) for trace in (session.trace, done.trace) for entry in trace]


EVENTS = whole()
PLACES = st.integers(0, len(EVENTS) - 1)
ODD = st.sampled_from([None, 5, -1, "x", [], {}, [["round 3", 4]], [[]], {"system": 3}])


@given(
    gone=st.sets(PLACES, max_size=40),
    changed=st.lists(st.tuples(PLACES, st.integers(0, 12), ODD), max_size=12),
)
@STEADY
def test_whatever_is_wrong_in_a_trace_there_is_a_report_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory,
    gone: set[int],
    changed: list[tuple[int, int, Any]],
) -> None:
    """By property: lines are lost, and fields hold something else."""
    events = [dict(event) for event in EVENTS]
    for place, field, value in changed:
        names = [name for name in events[place] if name not in ("event", "turn")]
        events[place][names[field % len(names)]] = value
    path = tmp_path_factory.mktemp("odd") / "t.jsonl"
    lines = [json.dumps(event) for n, event in enumerate(events) if n not in gone]
    path.write_text("\n".join(lines), encoding="utf-8")

    try:
        report = window_report(path)
    except AgentkitError:
        return

    sizes = [line.tokens for line in report.sections]
    assert report.used == sum(sizes)
    assert as_text(report)
    assert as_html(report)
