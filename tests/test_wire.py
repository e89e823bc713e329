import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.errors import MessageError
from agentkit.messages import Message, ToolCall, assistant, mend, system, user
from agentkit.wire import (
    from_anthropic,
    from_openai,
    made_up_id,
    to_anthropic,
    to_openai,
    wire_name,
    wire_names,
)
from agentkit.wire.anthropic import CONTINUED
from tests.broken import wire_cut_names
from tests.broken.wire_raw_arguments import empty_content, raw_arguments
from tests.broken.wire_split_results import split_results
from tests.histories import NAMES, STEADY, anything, sound, taking_turns
from tests.models.chat_server import problem

ToOpenAI = Callable[[Sequence[Message]], list[dict[str, Any]]]
ToAnthropic = Callable[[Sequence[Message]], tuple[str, list[dict[str, Any]]]]

WRITE = ToolCall("c1", "notes.write_note", {"title": "结项报告 📝"})
READ = ToolCall("c2", "notes.read_note", {"n": 1})
DONE = Message("tool", "已保存", call_id="c1")
FAILED = Message("tool", "No such note.", call_id="c2", is_error=True)


def names_of(history: Sequence[Message]) -> dict[str, str]:
    return wire_names(call.name for message in history for call in message.tool_calls)


# Names


def check_names_fit_and_never_meet(wire_name: Callable[[str], str]) -> None:
    tricky = st.text("a_-.é写", min_size=1, max_size=6) | NAMES
    long = tricky.map(lambda name: "x" * 62 + name)

    @STEADY
    @given(st.lists(tricky | long, unique=True, max_size=30))
    def check(names: list[str]) -> None:
        wire = [wire_name(name) for name in names]

        assert len(set(wire)) == len(names)
        assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in wire)

    check()


def test_names_fit_the_wire_and_never_meet() -> None:
    check_names_fit_and_never_meet(wire_name)

    with pytest.raises(AssertionError):
        check_names_fit_and_never_meet(wire_cut_names.wire_name)


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("notes.write_note", "notes__write_note"),
        ("search", "search"),
        ("a-b.c.d", "a-b__c__d"),
        ("report_20261130.x", "report_20261130__x"),
    ],
)
def test_a_usual_name_stays_readable(name: str, wire: str) -> None:
    assert wire_name(name) == wire
    assert wire_names([name]) == {wire: name}


def test_a_name_that_looks_like_a_digested_one_cannot_take_its_place() -> None:
    """A server might call its tool what another's unusual name becomes on the wire."""
    victim = wire_name("笔记.删除")

    assert wire_name(victim) != victim


def test_an_empty_name_and_half_an_emoji_get_a_name_too() -> None:
    wires = {wire_name(""), wire_name("\ud83d"), wire_name("\ud83e")}

    assert len(wires) == 3
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", wire) for wire in wires)


def test_made_up_ids_depend_on_their_seeds_alone() -> None:
    assert made_up_id("a", 1) == made_up_id("a", 1)
    assert len({made_up_id("a", 1), made_up_id("a", 2), made_up_id("b", 1)}) == 3


# OpenAI


def test_openai_has_one_message_a_result_and_arguments_in_a_string() -> None:
    history = [system("规则"), user("记一下"), assistant("", WRITE, READ), DONE, FAILED]

    assert to_openai(history) == [
        {"role": "system", "content": "规则"},
        {"role": "user", "content": "记一下"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {
                        "name": "notes__write_note",
                        "arguments": '{"title": "结项报告 📝"}',
                    },
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "notes__read_note", "arguments": '{"n": 1}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "已保存"},
        {"role": "tool", "tool_call_id": "c2", "content": "No such note."},
    ]


@STEADY
@given(sound())
def test_a_sound_history_comes_back_from_openai_as_it_was(history: list[Message]) -> None:
    """All but `is_error`, for which the format has no field."""
    sent = json.loads(json.dumps(to_openai(history)))

    read = from_openai(sent, names=names_of(history))

    assert read == [replace(message, is_error=False) for message in history]


def check_a_strict_server_accepts(to_openai: ToOpenAI) -> None:
    @STEADY
    @given(anything())
    def check(history: list[Message]) -> None:
        sent = to_openai([user("hi"), *mend(history)])

        assert problem({"model": "m", "messages": sent}) == ""

    check()


@pytest.mark.parametrize("twin", [raw_arguments, empty_content])
def test_a_strict_server_accepts_whatever_was_mended(twin: ToOpenAI) -> None:
    check_a_strict_server_accepts(to_openai)

    with pytest.raises(AssertionError):
        check_a_strict_server_accepts(twin)


@pytest.mark.parametrize("to_wire", [to_openai, to_anthropic])
@pytest.mark.parametrize(
    ("history", "named"),
    [
        ([user("hi"), assistant("", WRITE)], "message 1: lost result of 'c1'"),
        ([user("hi"), DONE], "message 1: lost call of 'c1'"),
        ([user("hi"), assistant("")], "message 1: empty message"),
        ([assistant("")] * 5, "and 2 more"),
    ],
)
def test_a_history_that_is_not_sound_does_not_go_out(
    to_wire: Callable[[Sequence[Message]], object], history: list[Message], named: str
) -> None:
    with pytest.raises(MessageError) as raised:
        to_wire(history)

    assert named in raised.value.what
    assert "mend(history)" in raised.value.hint


@pytest.mark.parametrize("to_wire", [to_openai, to_anthropic])
def test_what_goes_out_is_valid_text(to_wire: Callable[[Sequence[Message]], object]) -> None:
    half = "\ud83d"
    bad = ToolCall("c" + half, "n" + half, {half: [half]})
    unread = ToolCall("d" + half, "n", unread="{" + half)
    results = [Message("tool", half, call_id=call.id) for call in (bad, unread)]

    sent = to_wire([system(half), user(half), assistant(half, bad, unread), *results])

    assert json.dumps(sent, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("你好", "你好"),
        (None, ""),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb"),
        ([{"type": "text", "text": "看"}, {"type": "image_url", "image_url": {}}], "看\n[image]"),
        (
            [{"type": "input_audio"}, {"type": "file"}, {"type": "hologram"}],
            "[audio]\n[file]\n[hologram]",
        ),
        ([{"type": "x" * 99}], f"[{'x' * 40}]"),
        ([{"type": "text", "text": None}], "[text]"),
        (["a", {"text": "b"}, {"type": None}], "a\nb\n[None]"),
        ("a\ud83d", "a\ufffd"),
    ],
)
def test_content_is_read_in_each_form_it_comes_in(content: Any, text: str) -> None:
    entry = {"role": "user", "content": content}

    assert from_openai([entry]) == [user(text)]
    assert from_anthropic(None, [entry]) == [user(text)]


def test_the_parts_of_an_answer_are_put_together_as_they_are() -> None:
    parts = [{"type": "output_text", "text": "Paris is "}, {"type": "text", "text": "old."}]

    assert from_openai([{"role": "assistant", "content": parts}]) == [assistant("Paris is old.")]
    assert from_anthropic("", [{"role": "assistant", "content": parts}]) == [
        assistant("Paris is old.")
    ]


def test_roles_of_today_and_of_yesterday_are_read() -> None:
    call = {"name": "notes__write_note", "arguments": "{}"}
    read = from_openai(
        [
            {"role": "developer", "content": "规则"},
            {"role": "assistant", "content": None, "function_call": call},
            {"role": "function", "name": "notes__write_note", "content": "ok"},
            {"role": "assistant", "refusal": "I cannot.", "tool_calls": None},
        ],
        names={"notes__write_note": "notes.write_note"},
    )

    call_id = made_up_id("", 1, 0)
    assert read == [
        system("规则"),
        assistant("", ToolCall(call_id, "notes.write_note")),
        Message("tool", "ok", call_id=call_id),
        assistant("I cannot."),
    ]


def test_results_without_ids_answer_the_calls_in_their_order() -> None:
    calls = [{"id": i, "function": {"name": "a", "arguments": {}}} for i in ("x", "y")]
    results = [{"role": "tool", "content": text} for text in ("one", "two")]

    read = from_openai([{"role": "assistant", "tool_calls": calls}, *results])

    assert [message.call_id for message in read[1:]] == ["x", "y"]
    with pytest.raises(MessageError, match="Message 3 cannot be read: it has no tool_call_id"):
        from_openai([{"role": "assistant", "tool_calls": calls}, *results, results[0]])


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ('{"a": 1}', ToolCall("c", "n", {"a": 1})),
        ({"a": "\ud83d"}, ToolCall("c", "n", {"a": "\ufffd"})),
        ('{"a": "\\ud83d"}', ToolCall("c", "n", {"a": "\ufffd"})),
        (None, ToolCall("c", "n")),
        ("{", ToolCall("c", "n", unread="{")),
        ('{"a": NaN}', ToolCall("c", "n", unread='{"a": NaN}')),
        ([1], ToolCall("c", "n", unread="[1]")),
        ({"a": float("inf")}, ToolCall("c", "n", unread="[no JSON]")),
        ({"a": object}, ToolCall("c", "n", unread="[no JSON]")),
        (
            '{"a":' * 600 + "1" + "}" * 600,
            ToolCall("c", "n", unread='{"a":' * 600 + "1" + "}" * 600),
        ),
    ],
)
def test_arguments_are_read_where_they_could_go_out_again(arguments: Any, call: ToolCall) -> None:
    function = {"name": "n", "arguments": arguments}

    read = from_openai([{"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}])

    assert read == [assistant("", call)]


def test_a_call_of_a_custom_tool_is_read_as_written() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}

    read = from_openai([{"role": "assistant", "content": None, "tool_calls": [custom]}])

    assert read == [assistant("", ToolCall("c", "shell", unread="ls"))]


@pytest.mark.parametrize(
    ("entries", "at"),
    [
        (["hi"], "Message 0 "),
        ([{"role": "user", "content": "hi"}, None], "Message 1 "),
        ([{"role": "robot", "content": "hi"}], "Message 0 "),
        ([{"content": "hi"}], "Message 0 "),
        ([{"role": "user", "content": 5}], "Message 0 "),
        ([{"role": "user", "content": [5]}], "Message 0 "),
        ([{"role": "assistant", "tool_calls": {"a": 1}}], "Message 0 "),
        ([{"role": "assistant", "tool_calls": ["a"]}], "Message 0 "),
        ([{"role": "assistant", "tool_calls": [{"function": {}}]}], "Message 0 "),
        ([{"role": "tool", "content": "hi"}], "Message 0 "),
        ({"messages": []}, "A dict is no history"),
        ("hi", "A str is no history"),
        (None, "A NoneType is no history"),
    ],
)
def test_what_is_no_message_is_refused_with_its_position(entries: Any, at: str) -> None:
    with pytest.raises(MessageError) as raised:
        from_openai(entries)

    assert raised.value.what.startswith(at)
    assert raised.value.hint


# Anthropic


def test_anthropic_has_the_system_apart_and_results_together() -> None:
    history = [
        system("规则"),
        user("记一下"),
        assistant("好。", WRITE, READ),
        DONE,
        FAILED,
        user("?"),
    ]

    assert to_anthropic(history) == (
        "规则",
        [
            {"role": "user", "content": [{"type": "text", "text": "记一下"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "好。"},
                    {
                        "type": "tool_use",
                        "id": "c1",
                        "name": "notes__write_note",
                        "input": {"title": "结项报告 📝"},
                    },
                    {"type": "tool_use", "id": "c2", "name": "notes__read_note", "input": {"n": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "已保存"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "c2",
                        "content": "No such note.",
                        "is_error": True,
                    },
                    {"type": "text", "text": "?"},
                ],
            },
        ],
    )


@STEADY
@given(taking_turns())
def test_a_history_that_takes_turns_comes_back_from_anthropic_as_it_was(
    history: list[Message],
) -> None:
    rules, sent = json.loads(json.dumps(to_anthropic(history)))

    assert from_anthropic(rules, sent, names=names_of(history)) == history


def check_anthropic_accepts(to_anthropic: ToAnthropic) -> None:
    @STEADY
    @given(anything())
    def check(history: list[Message]) -> None:
        _, sent = to_anthropic(mend(history))

        assert anthropic_problem(sent) == ""

    check()


def test_anthropic_accepts_whatever_was_mended() -> None:
    check_anthropic_accepts(to_anthropic)

    with pytest.raises(AssertionError):
        check_anthropic_accepts(split_results)


def anthropic_problem(messages: list[dict[str, Any]]) -> str:
    """Return what the provider's documentation forbids: by hand, from its rules for messages."""
    waiting: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] != ("assistant" if at % 2 else "user"):
            return f"{at}: roles must alternate, beginning with user"
        if not message["content"]:
            return f"{at}: content must be non-empty"
        kinds = [block["type"] for block in message["content"]]
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        if sorted(results) != sorted(waiting) or "tool_result" in kinds[len(results) :]:
            return f"{at}: tool_use without tool_result, or the other way round"
        waiting = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        for block in message["content"]:
            if "text" in block and not block["text"].strip():
                return f"{at}: text must not be blank"
            if block["type"] == "tool_use" and not isinstance(block["input"], dict):
                return f"{at}: input must be an object"
            if block["type"] == "tool_use" and not re.fullmatch(
                r"[\w-]{1,64}", block["name"], re.A
            ):
                return f"{at}: name"
            if not re.fullmatch(r"[\w-]+", block.get("id", "x"), re.A):
                return f"{at}: id"
    return "tool_use without tool_result at the end" if waiting else ""


def test_neighbours_of_one_role_and_several_rules_become_one() -> None:
    history = [system("一"), user("a"), system("  "), user("b"), assistant("c"), system("二")]

    assert to_anthropic([*history, assistant("d")]) == (
        "一\n\n二",
        [
            {"role": "user", "content": [{"type": "text", "text": "a\n\nb"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "c\n\nd"}]},
        ],
    )


def test_a_history_that_begins_with_the_assistant_is_given_a_user_before_it() -> None:
    rules, sent = to_anthropic([assistant("你好")])

    assert sent[0] == {"role": "user", "content": [{"type": "text", "text": CONTINUED}]}
    assert from_anthropic(rules, sent) == [assistant("你好")]


def test_an_id_of_another_provider_is_put_into_the_allowed_letters_on_both_sides() -> None:
    call = ToolCall("functions.write:0", "a")
    _, sent = to_anthropic([user("x"), assistant("", call), Message("tool", "", call_id=call.id)])

    assert sent[1]["content"][0]["id"] == sent[2]["content"][0]["tool_use_id"]
    assert anthropic_problem(sent) == ""


def test_blocks_of_a_foreign_history_are_read() -> None:
    read = from_anthropic(
        [{"type": "text", "text": "规则", "cache_control": {"type": "ephemeral"}}],
        [
            {"role": "user", "content": "看图"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "tool_use", "name": "look", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "and?"},
                    {
                        "type": "tool_result",
                        "tool_use_id": made_up_id(1, 0),
                        "content": [{"type": "text", "text": "猫"}, {"type": "image"}],
                        "is_error": True,
                    },
                ],
            },
        ],
    )

    call_id = made_up_id(1, 0)
    assert read == [
        system("规则"),
        user("看图"),
        assistant("", ToolCall(call_id, "look")),
        Message("tool", "猫\n[image]", call_id=call_id, is_error=True),
        user("and?"),
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_result"},
        {"type": "tool_use", "id": "a"},
        {"type": "tool_result", "tool_use_id": "a", "content": 5},
        7,
    ],
)
def test_a_block_that_cannot_be_read_is_refused_with_its_position(block: Any) -> None:
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [block]}]

    with pytest.raises(MessageError, match="Message 1 cannot be read"):
        from_anthropic("", turns)
