import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.errors import MessageError
from agentkit.messages import (
    LOST_RESULT,
    NO_JSON,
    Fault,
    Message,
    ModelSaid,
    Round,
    ToolCall,
    ToolResult,
    assistant,
    clean_message,
    faults,
    mend,
    rounds,
    system,
    tool,
    user,
)
from tests.broken.wire_mend import mend_by_cutting, mend_by_moving, mend_each_call
from tests.histories import STEADY, TEXTS, anything, sound

Mend = Callable[[Sequence[Message]], list[Message]]

CALL = ToolCall("c1", "notes.write_note", {"title": "结项报告"})
OTHER = ToolCall("c2", "notes.read_note")
LOST = Message("tool", LOST_RESULT, call_id="c1", is_error=True)


def result(call_id: str = "c1", text: str = "done") -> Message:
    return Message("tool", text, call_id=call_id)


@pytest.mark.parametrize(
    ("history", "found"),
    [
        ([], []),
        ([system("规则"), user("hi"), assistant("", CALL), result(), assistant("ok")], []),
        ([assistant("", CALL, OTHER), result("c2"), result("c1")], []),
        ([assistant("", CALL), result("c1", "")], []),
        ([user("hi"), assistant("", CALL)], [Fault("lost result", 1, "c1")]),
        ([assistant("", CALL, OTHER), result("c1")], [Fault("lost result", 0, "c2")]),
        ([user("hi"), result()], [Fault("lost call", 1, "c1")]),
        ([assistant("", CALL), result(), result()], [Fault("lost call", 2, "c1")]),
        (
            [assistant("", CALL), user("and?"), result()],
            [Fault("lost result", 0, "c1"), Fault("lost call", 2, "c1")],
        ),
        (
            [result(), assistant("", CALL)],
            [Fault("lost call", 0, "c1"), Fault("lost result", 1, "c1")],
        ),
        ([user(""), assistant("")], [Fault("empty message", 0), Fault("empty message", 1)]),
        (
            [assistant("", ToolCall("c1", "a", unread="{")), result()],
            [Fault("unread arguments", 0, "c1")],
        ),
    ],
)
def test_faults_are_found_where_they_are(history: list[Message], found: list[Fault]) -> None:
    """By hand: what chat completions answer with status 400 to."""
    assert faults(history) == found


@pytest.mark.parametrize(
    ("history", "mended"),
    [
        (
            [user("帮我记一下"), assistant("", CALL)],
            [user("帮我记一下"), assistant("", CALL), LOST],
        ),
        ([assistant("", CALL), user("还在吗？")], [assistant("", CALL), LOST, user("还在吗？")]),
        ([assistant("", CALL), user("so?"), result()], [assistant("", CALL), LOST, user("so?")]),
        ([user("hi"), result(), assistant("ok")], [user("hi"), assistant("ok")]),
        (
            [assistant("", OTHER, CALL), result("c2")],
            [assistant("", OTHER, CALL), LOST, result("c2")],
        ),
        ([user(""), assistant("ok"), assistant("")], [assistant("ok")]),
        ([assistant("", CALL, CALL)], [assistant("", CALL, CALL), LOST]),
    ],
)
def test_mend_adds_lost_results_and_leaves_out_lost_calls(
    history: list[Message], mended: list[Message]
) -> None:
    assert mend(history) == mended


def check_mended_is_sound(mend: Mend) -> None:
    @STEADY
    @given(anything())
    def check(history: list[Message]) -> None:
        left = faults(mend(history))

        assert {fault.kind for fault in left} <= {"unread arguments"}

    check()


def check_each_id_gets_one_result(mend: Mend) -> None:
    assert faults(mend([assistant("", CALL, CALL)])) == []


def check_nothing_is_reordered_or_changed(mend: Mend) -> None:
    """What is not a lost result is the very message, in the old order."""

    @STEADY
    @given(anything())
    def check(history: list[Message]) -> None:
        kept = [id(message) for message in mend(history) if message != _lost(message.call_id)]

        assert _is_part_in_order(kept, [id(message) for message in history])

    check()


def check_what_was_said_stays(mend: Mend) -> None:
    @STEADY
    @given(anything())
    def check(history: list[Message]) -> None:
        said = [m for m in history if m.role != "tool" and (m.text or m.tool_calls)]
        said += [m for m in history if m.role == "system" and not m.text]

        mended = {id(message) for message in mend(history)}

        assert {id(message) for message in said} <= mended

    check()


def _lost(call_id: str | None) -> Message | None:
    return None if call_id is None else Message("tool", LOST_RESULT, (), call_id, True)


def _is_part_in_order(part: Iterable[int], whole: Iterable[int]) -> bool:
    left = iter(whole)
    return all(item in left for item in part)


@pytest.mark.parametrize(
    ("check", "twin"),
    [
        (check_mended_is_sound, list),
        (check_each_id_gets_one_result, mend_each_call),
        (check_nothing_is_reordered_or_changed, mend_by_moving),
        (check_what_was_said_stays, mend_by_cutting),
    ],
)
def test_mend_keeps_its_promises_and_a_broken_one_does_not(
    check: Callable[[Mend], None], twin: Mend
) -> None:
    check(mend)

    with pytest.raises(AssertionError):
        check(twin)


@STEADY
@given(sound())
def test_a_sound_history_has_nothing_to_mend(history: list[Message]) -> None:
    assert mend(history) == history


@STEADY
@given(anything())
def test_mending_twice_is_mending_once(history: list[Message]) -> None:
    assert mend(mend(history)) == mend(history)


@STEADY
@given(anything())
def test_rounds_hold_every_message_once_and_begin_with_the_user(history: list[Message]) -> None:
    found = rounds(history)

    said = [message for message in history if message.role != "system"]
    assert [message for part in found for message in part.messages] == said
    assert [part.index for part in found] == list(range(len(found)))
    assert all(part.messages[0].role == "user" for part in found[1:])
    assert all(m.role != "user" for part in found for m in part.messages[1:])


def test_a_history_that_begins_in_the_middle_begins_with_a_round_of_its_own() -> None:
    history = [system("规则"), assistant("", CALL), result(), user("hi"), assistant("ok")]

    assert rounds(history) == [
        Round(0, (assistant("", CALL), result())),
        Round(1, (user("hi"), assistant("ok"))),
    ]


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ({"role": "robot"}, "system, user, assistant, tool"),
        ({"role": "user", "tool_calls": (CALL,)}, "assistant"),
        ({"role": "tool"}, "names the call"),
        ({"role": "user", "call_id": "c1"}, "names the call"),
    ],
)
def test_a_message_that_cannot_be_is_refused(fields: dict[str, Any], hint: str) -> None:
    with pytest.raises(MessageError) as raised:
        Message(**fields)

    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ('{"title": "结项"}', ToolCall("c", "a", {"title": "结项"})),
        ({"title": "x"}, ToolCall("c", "a", {"title": "x"})),
        ("", ToolCall("c", "a")),
        (None, ToolCall("c", "a")),
        ("{", ToolCall("c", "a", unread="{")),
        ("[1]", ToolCall("c", "a", unread="[1]")),
        ('"text"', ToolCall("c", "a", unread='"text"')),
        ("[" * 100_000, ToolCall("c", "a", unread="[" * 100_000)),
    ],
)
def test_arguments_are_read_or_kept_as_written(arguments: Any, call: ToolCall) -> None:
    assert ToolCall.parse("c", "a", arguments) == call


@STEADY
@given(st.dictionaries(TEXTS, TEXTS))
def test_arguments_survive_being_written_as_json(arguments: dict[str, str]) -> None:
    call = ToolCall("c", "a", arguments)

    assert ToolCall.parse("c", "a", call.arguments_json()) == call


def test_what_a_model_said_and_what_a_tool_returned_become_messages() -> None:
    assert ModelSaid("ok", (CALL,)).message() == assistant("ok", CALL)
    assert tool(ToolResult("c1", "notes.write_note", "不行", is_error=True)) == Message(
        "tool", "不行", call_id="c1", is_error=True
    )


def test_a_message_is_cleaned_in_text_and_arguments() -> None:
    dirty = assistant("a\ud83d", ToolCall("c", "a", {"k\x00": ["\udc00", 1]}))

    assert clean_message(dirty) == assistant(
        "a\ufffd", ToolCall("c", "a", {"k\ufffd": ["\ufffd", 1]})
    )


@pytest.mark.parametrize("text", [None, 5, b"x", ["报告"]])
@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_a_message_without_a_text_is_refused(role: Any, text: Any) -> None:
    with pytest.raises(MessageError, match=f"The text of a {role} message is "):
        Message(role, text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"x": np.int64(1)}, "int64"),
        ({"报告": [{"deep": b"x"}]}, "bytes"),
        ({"x": {1, 2}}, "set"),
        ([1], "list"),
        (None, "NoneType"),
    ],
)
def test_arguments_that_are_no_json_are_refused_with_their_kind(arguments: Any, said: str) -> None:
    with pytest.raises(MessageError, match=said):
        ToolCall("c1", "f", arguments)


def test_arguments_of_any_depth_and_any_json_are_taken() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    arguments = {"深": deep, "half": "\ud83d", "none": None, "yes": True, "x": 1.5}

    assert ToolCall.parse("c1", "f", json.dumps(arguments)).arguments == arguments


def test_a_call_off_the_wire_with_arguments_that_are_no_json_is_kept_as_unread() -> None:
    """By design: an adapter must not end a turn over what a model, or its SDK, handed over."""
    assert ToolCall.parse("c1", "f", {"报告": b"x"}) == ToolCall("c1", "f", unread=NO_JSON)
