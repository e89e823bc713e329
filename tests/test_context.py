"""What a model may read in one turn, laid out as sections."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agentkit.context import Frame, as_event, digest, lay_out, past_sections
from agentkit.errors import MessageError
from agentkit.messages import Message, ToolCall, ToolResult, assistant, tool, user
from agentkit.tokens import Counter
from agentkit.tools import ToolSpec
from agentkit.value import Value
from agentkit.window import Packed, Section, pack
from tests.toolbox import spec

COUNT = Counter.for_model("reader")
ASKED = ToolCall("c1", "notes.list_notes")
BACK = tool(ToolResult("c1", "notes.list_notes", "one note"))
HISTORY = [user("hello"), assistant("hi"), user("记一下"), assistant("好的")]
LIVE = [user("any notes?"), assistant("", ASKED), BACK]
TOOLS = [spec("notes.list_notes", about="List all notes.")]


def frame(**changes: object) -> Frame:
    return Frame(**{"budget": 4_000, "reserve": 500, "counter": COUNT, **changes})  # type: ignore[arg-type]


def packed(
    frame: Frame,
    history: Sequence[Message] = HISTORY,
    live: Sequence[Message] = LIVE,
    tools: Sequence[ToolSpec] = TOOLS,
) -> Packed:
    sections = lay_out(frame, history, live, tools)
    return pack(sections, budget=frame.budget, count=frame.counter, reserve=frame.reserve)


def test_sections_stand_in_reading_order_with_what_must_stay_ranked_0() -> None:
    sections = lay_out(frame(pinned=("5000", "不要打电话")), HISTORY, LIVE, TOOLS)

    assert [(s.name, s.role, s.rank) for s in sections] == [
        ("system", "system", 0),
        ("tools", "tools", 0),
        ("pinned 1", "pinned", 0),
        ("pinned 2", "pinned", 0),
        ("round 1", "history", 2),
        ("round 2", "history", 2),
        ("question", "question", 0),
        ("tool results 1", "tool results", 0),
    ]


def test_the_model_reads_the_messages_in_the_order_in_which_they_were_said() -> None:
    read = packed(frame(pinned=("at most 5000",))).messages()

    assert read[0].role == "system"
    assert "## pinned 1\nat most 5000" in read[0].text
    assert read[1:] == [*HISTORY, *LIVE]


@pytest.mark.parametrize("system", ["", "Be brief.", "回答要简短", "ends without a stop"])
@pytest.mark.parametrize("pinned", [(), ("at most 5000", "不要打电话。", "one\n\ntwo", "x " * 50)])
@pytest.mark.parametrize("tools", [[], TOOLS])
@pytest.mark.parametrize("recalled", ["", "- [m1] The charity race was in May.", "用户住在上海"])
def test_what_the_model_reads_is_what_was_counted(
    system: str, pinned: tuple[str, ...], tools: list[ToolSpec], recalled: str
) -> None:
    """By design: a heading and the frame of a message are tokens too, and a budget is a budget.

    The rest, at most one token a seam, is where two texts meet in a token of both.
    """
    besides = [Section("recalled", recalled, role="memory")] if recalled else []
    laid = lay_out(frame(system=system, pinned=pinned), HISTORY, LIVE, tools, besides=besides)
    kept = pack(laid, budget=4_000, count=COUNT)

    read = sum(COUNT.message(message) for message in kept.messages())
    beside = sum(COUNT(section.text) for section in kept.kept if section.role == "tools")
    seams = len(pinned) + len(besides) + 1
    assert read + beside <= kept.tokens <= read + beside + seams


def test_a_frame_without_a_system_prompt_and_tools_has_sections_for_neither() -> None:
    sections = lay_out(frame(system=""), [], [user("hi")], [])

    assert [section.name for section in sections] == ["question"]


def test_each_request_for_tools_is_a_section_with_all_its_results() -> None:
    two = assistant("", ToolCall("c2", "a"), ToolCall("c3", "b"))
    live = [*LIVE, two, tool(ToolResult("c2", "a", "x")), tool(ToolResult("c3", "b", "y"))]

    sections = lay_out(frame(), [], live, [])

    assert sections[-2].messages == tuple(LIVE[1:])
    assert sections[-1].messages == tuple(live[3:])


def test_of_the_rounds_the_oldest_goes_first() -> None:
    history = [m for n in range(9) for m in (user(f"question {n} " * 30), assistant("ok"))]

    names = [section.name for section in packed(frame(budget=1_200), history).dropped]

    assert names == [f"round {n}" for n in range(1, len(names) + 1)]
    assert 0 < len(names) < 9


def test_a_round_keeps_its_number_when_older_ones_are_left_out() -> None:
    history = [user("long " * 1_200), assistant("ok"), user("short"), assistant("ok")]

    kept = packed(frame(budget=900, reserve=0), history).kept

    assert [section.name for section in kept if section.role == "history"] == ["round 2"]


def test_the_tools_take_the_tokens_of_what_a_provider_is_sent() -> None:
    section = next(s for s in lay_out(frame(), [], LIVE, TOOLS) if s.name == "tools")

    assert json.loads(section.text)[0]["function"]["description"] == "List all notes."


BASE = packed(frame())


@pytest.mark.parametrize(
    "other",
    [
        packed(frame(system="Be rude.")),
        packed(frame(pinned=("at most 5000",))),
        packed(frame(), history=HISTORY[2:]),
        packed(frame(), live=[user("any note?"), *LIVE[1:]]),
        packed(frame(), tools=[spec("notes.list_notes", about="List notes.")]),
        packed(frame(), tools=[]),
        packed(frame(), live=[*LIVE[:2], Message("tool", "one note", call_id="c1", is_error=True)]),
    ],
)
def test_the_digest_changes_with_anything_a_model_would_read(other: Packed) -> None:
    assert digest(other) != digest(BASE)


def test_the_digest_is_the_same_under_other_call_ids_and_a_larger_window() -> None:
    live = [LIVE[0], assistant("", ToolCall("c9", "notes.list_notes"))]
    live.append(tool(ToolResult("c9", "notes.list_notes", "one note")))

    assert digest(packed(frame(budget=9_000), live=live)) == digest(BASE)


def test_the_event_has_names_and_numbers_and_only_the_texts_that_are_new() -> None:
    sections = [Section("system", "Be brief.", role="system", rank=0), Section("big", "x " * 99)]
    small = pack(sections, budget=20, count=COUNT, reserve=5)

    event = as_event(small, new=small.kept)

    assert event.kept == (("system", COUNT("Be brief.")),)
    assert event.dropped == (("big", COUNT("x " * 99), small.decisions[1].reason),)
    assert (event.tokens, event.budget, event.reserve) == (small.tokens, 20, 5)
    assert event.digest == digest(small)
    assert event.new == {"system": "Be brief."}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (None, "a NoneType came back"),
        ([], "of 2 messages were asked for; 0 came back"),
        ([None, None], "None is no value"),
        ([Value(), Value("报告", float("nan"))], "nan"),
    ],
)
def test_values_of_ones_own_are_checked(values: Any, said: str) -> None:
    with pytest.raises(MessageError, match=said):
        past_sections([user("hi"), assistant("ho")], lambda _: values)
