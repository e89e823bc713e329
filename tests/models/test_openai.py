"""The adapter over a real socket, against the strict server of chat_server.py."""

import asyncio
import json
import socket
import subprocess
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import pytest

from agentkit.errors import MessageError, ModelError, SetupError
from agentkit.messages import Message, ModelSaid, ToolCall, Usage, assistant, mend, system, user
from agentkit.models import load_model, openai
from agentkit.models.answers import CUT, FILTERED
from agentkit.models.openai import OpenAIModel
from agentkit.tools import ToolSpec
from agentkit.window import Packed, Section, pack
from tests.models.chat_server import ChatServer, Reply, called, chosen, failed, problem, said

KEY = "sk-secret-0123456789abcdef"
WRITE = ToolSpec(
    "notes.write_note",
    "Save one note. 保存一条笔记。",
    {
        "type": "object",
        "properties": {"title": {"type": "string"}, "text": {"type": "string"}},
        "required": ["title", "text"],
    },
    "write",
)
FAR = ToolSpec("notes.write_note_" + "x" * 60, "A name too long for the wire.")
NEAR = ToolSpec("notes.write_note_" + "x" * 60 + "y", "The same in its first 64 characters.")
NOTE = {"title": "结项报告 📝", "text": "重点是性能测试部分"}
BUDGET = 90_000  # characters: these tests count with len
LIMIT_S = 30  # of a test that would wait for ever


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)


def packed_with(*messages: Message, question: str = "") -> Packed:
    sections = [Section("round", messages=tuple(messages))] if messages else []
    sections += [Section("question", question, role="question")] if question else []
    return pack(sections, budget=BUDGET, count=len)


HELLO = packed_with(question="hello")


def ask(model: OpenAIModel, packed: Packed = HELLO, tools: Sequence[ToolSpec] = ()) -> ModelSaid:
    return asyncio.run(asyncio.wait_for(model.complete(packed, tools), LIMIT_S))


def model_at(server: ChatServer, **options: Any) -> OpenAIModel:
    return OpenAIModel("m", **{"base_url": server.url, "api_key": KEY, **options})


def answer_to(reply: Reply, packed: Packed = HELLO, tools: Sequence[ToolSpec] = ()) -> ModelSaid:
    with ChatServer(reply) as server:
        return ask(model_at(server), packed, tools)


def error_of(*replies: Reply, then: str = "still here", **options: Any) -> ModelError:
    """Return the error, once the same model has answered the next question after it."""
    with ChatServer(*replies, said(then)) as server:
        model = model_at(server, **options)
        with pytest.raises(ModelError) as raised:
            ask(model)
        assert ask(model).text == then
    return raised.value


@pytest.mark.parametrize("text", ["Noted.", "已记下：结项报告 📝", "e\u0301 \u202eabc", "a\nb"])
def test_a_text_goes_there_and_back(text: str) -> None:
    with ChatServer(said(text)) as server:
        answer = ask(model_at(server), packed_with(system("规则"), question=text))

    assert answer == ModelSaid(text, (), Usage(120, 8, cache_read=100), "test-model-2026")
    assert server.received == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "规则"},
                {"role": "user", "content": text},
            ],
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_tool_is_sent_called_and_its_result_accepted() -> None:
    arguments = json.dumps(NOTE)
    call = ("call_1", "notes__write_note", arguments)
    with ChatServer(called(call), said("记下了。")) as server:
        first = ask(model_at(server), packed_with(question="帮我记一下"), [WRITE])
        done = Message("tool", '{"replaced": false}', call_id="call_1")
        second = ask(model_at(server), packed_with(user("帮我记一下"), first.message(), done))

    assert first.tool_calls == (ToolCall("call_1", "notes.write_note", NOTE),)
    assert first.text == ""
    assert second.text == "记下了。"
    assert server.received[0]["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "notes__write_note",
                "description": WRITE.description,
                "parameters": WRITE.schema,
            },
        }
    ]
    sent = server.received[1]["messages"][1]
    assert sent["content"] is None
    assert json.loads(sent["tool_calls"][0]["function"]["arguments"]) == NOTE
    assert "tools" not in server.received[1]


def test_two_tools_whose_names_begin_alike_are_told_apart() -> None:
    with ChatServer(said("ok")) as probe:
        ask(model_at(probe), HELLO, [FAR, NEAR])
    wire = [tool["function"]["name"] for tool in probe.received[0]["tools"]]

    answer = answer_to(called(("a", wire[1], "{}"), ("b", wire[0], "{}")), HELLO, [FAR, NEAR])

    assert [call.name for call in answer.tool_calls] == [NEAR.name, FAR.name]


def test_a_tool_that_nobody_offered_keeps_the_name_the_model_gave_it() -> None:
    answer = answer_to(called(("a", "notes.burn", "{}")), HELLO, [WRITE])

    assert answer.tool_calls == (ToolCall("a", "notes.burn"),)


@pytest.mark.parametrize(
    "arguments", ['{"title": "结项', "", "[1]", "null", '{"a": NaN}', '{"a":' * 5_000, "\\ud83d"]
)
def test_arguments_that_are_no_object_are_kept_as_written_and_can_be_sent_again(
    arguments: str,
) -> None:
    """By design: the loop gives the model an error to read, and the conversation goes on."""
    with ChatServer(called(("c1", "notes__write_note", arguments)), said("sorry")) as server:
        answer = ask(model_at(server), HELLO, [WRITE])
        result = Message("tool", "The arguments are not a JSON object.", call_id="c1")
        again = ask(model_at(server), packed_with(user("hello"), answer.message(), result))

    assert answer.tool_calls[0].unread == (arguments or None)
    assert again.text == "sorry"


def test_half_an_emoji_becomes_valid_text_in_both_directions() -> None:
    half = "\ud83d"
    wire = Reply(json.dumps(said(f"a{half}b").body))
    packed = packed_with(question=f"x{half}y\x00")
    bad_tool = ToolSpec("notes.a", f"d{half}")
    with ChatServer(wire) as server:
        answer = ask(model_at(server), packed, [bad_tool])

    assert answer.text == "a\ufffdb"
    assert server.received[0]["messages"][0]["content"] == "x\ufffdy\ufffd"
    assert server.received[0]["tools"][0]["function"]["description"] == "d\ufffd"


def test_several_calls_keep_their_order_and_text_beside_them() -> None:
    calls = [(f"c{i}", "notes__write_note", json.dumps({"n": i})) for i in range(3)]

    answer = answer_to(called(*calls, text="Let me."), HELLO, [WRITE])

    assert answer.text == "Let me."
    assert [call.arguments["n"] for call in answer.tool_calls] == [0, 1, 2]


@pytest.mark.parametrize("missing", [None, "", 0])
def test_missing_ids_are_made_up_and_the_same_each_time(missing: Any) -> None:
    reply = called((missing, "notes__write_note", "{}"), (missing, "notes__write_note", "{}"))

    first, second = answer_to(reply, HELLO, [WRITE]), answer_to(reply, HELLO, [WRITE])
    other = answer_to(reply, packed_with(question="something else"), [WRITE])

    ids = [call.id for call in first.tool_calls]
    assert first == second
    assert len({*ids, *(call.id for call in other.tool_calls)}) == 4
    assert all(len(made) == 9 and made.isalnum() and made.isascii() for made in ids)


def test_ids_that_the_model_was_shown_or_that_repeat_are_replaced() -> None:
    before = assistant("", ToolCall("call_0", "notes.write_note"))
    packed = packed_with(*mend([user("one"), before]), question="two")
    call = ("call_0", "notes__write_note", "{}")

    ids = [made.id for made in answer_to(called(call, call), packed, [WRITE]).tool_calls]

    assert len({"call_0", *ids}) == 3


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "assistant", "content": "hi", "tool_calls": None}, "hi"),
        ({"role": "assistant", "content": "hi", "tool_calls": []}, "hi"),
        ({"content": "hi"}, "hi"),
        ({"role": "model", "content": [{"type": "text", "text": "你"}, {"text": "好"}]}, "你好"),
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, "I cannot."),
        ({"role": "assistant", "content": "hi", "reasoning_content": "hm", "audio": None}, "hi"),
    ],
)
def test_odd_shapes_of_a_good_answer_are_read(message: Any, text: str) -> None:
    assert answer_to(chosen(message)).text == text


def test_the_older_form_of_a_call_is_read() -> None:
    message = {"content": None, "function_call": {"name": "notes__write_note", "arguments": "{}"}}

    assert answer_to(chosen(message), HELLO, [WRITE]).tool_calls[0].name == "notes.write_note"


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (None, None),
        ({}, None),
        ("many", None),
        ({"prompt_tokens": 5, "completion_tokens": None}, None),
        ({"prompt_tokens": True, "completion_tokens": 1}, None),
        ({"prompt_tokens": 5, "completion_tokens": 1}, Usage(5, 1)),
        ({"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": None}, Usage(5, 1)),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 1,
                "prompt_tokens_details": {"cached_tokens": 9},
            },
            Usage(5, 1, cache_read=5),
        ),
    ],
)
def test_usage_is_read_where_it_is_reported(usage: Any, read: Usage | None) -> None:
    assert answer_to(said("hi", usage=usage)).usage == read


@pytest.mark.parametrize(("reason", "note"), [("length", CUT), ("content_filter", FILTERED)])
def test_an_answer_that_was_cut_says_so(reason: str, note: str) -> None:
    assert answer_to(said("很长的回答", finish_reason=reason)).text == "很长的回答" + note


@pytest.mark.parametrize(
    ("reason", "hint"),
    [("length", "Pack less"), ("content_filter", "other words"), ("stop", "Ask again")],
)
@pytest.mark.parametrize("nothing", [None, ""])
def test_an_answer_without_anything_is_an_error(reason: str, hint: str, nothing: Any) -> None:
    assert hint in error_of(said(nothing, finish_reason=reason)).hint


@pytest.mark.parametrize(
    "body",
    [
        "<!DOCTYPE html><html><body>网关登录</body></html>",
        "",
        '{"choices": [',
        "[" * 100_000,
        [],
        "null",
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 5}}]},
        {"choices": [{"message": {"tool_calls": [{"id": "a"}]}}]},
        {"choices": [{"message": {"tool_calls": ["a"]}}]},
        {"choices": [{"message": {"tool_calls": {"a": 1}}}]},
    ],
)
def test_what_is_no_answer_is_an_error_that_points_to_the_address(body: Any) -> None:
    error = error_of(Reply(body))

    assert "cannot be read" in error.what
    assert "/v1" in error.hint
    assert len(error.what) < 600


@pytest.mark.parametrize(
    ("reply", "hint"),
    [
        (failed(401, "bad key", "invalid_api_key"), "OPENAI_API_KEY"),
        (failed(403, "no access"), "OPENAI_API_KEY"),
        (failed(404, "no such model"), "'m'"),
        (failed(404, "Not Found"), "/chat/completions"),
        (failed(400, "too big", "context_length_exceeded"), "budget than 90000; about 5 tokens"),
        (failed(400, "This model's maximum context length is 8192 tokens."), "smaller budget"),
        (failed(400, "the request exceeds the available context size"), "smaller budget"),
        (failed(400, "Range of input length should be [1, 30720]"), "smaller budget"),
        (failed(400, "Prompt 超长"), "smaller budget"),
        (failed(413, "Request too large"), "smaller budget"),
        (failed(400, "'temperature' does not support 0 with this model"), "leave temperature out"),
        (failed(400, "this model does not support tools"), "call tools"),
        (failed(402, "Insufficient Balance"), "credit"),
        (Reply({"error": "model 'm' not found"}, 404), "'m'"),
        (Reply({"detail": "Not authenticated"}, 401), "OPENAI_API_KEY"),
        (Reply({"error": {"message": "Overloaded", "code": 503}}), "server's side"),
        (Reply({"error": {"message": "context window exceeded"}}), "smaller budget"),
        (Reply({"error": {"message": "odd", "code": "weird"}}), "Change what it names"),
        (Reply({"error": None}), "/v1"),
    ],
)
def test_a_refusal_says_what_to_do(reply: Reply, hint: str) -> None:
    assert hint in error_of(reply).hint


def test_a_refusal_repeats_what_the_server_said_on_one_short_line() -> None:
    error = error_of(failed(400, "first line\n" + "长" * 5_000))

    assert "first line 长长" in error.what
    assert len(error.what) < 400


@pytest.mark.parametrize(
    ("status", "hint"), [(429, "wait a minute"), (500, "server's side"), (503, "server's side")]
)
def test_a_passing_fault_is_tried_again_before_it_is_an_error(status: int, hint: str) -> None:
    with ChatServer(failed(status, "busy"), failed(status, "busy"), said("at last")) as server:
        assert ask(model_at(server, max_retries=2)).text == "at last"
        assert len(server.received) == 3

    busy = [failed(status, "busy")] * 2
    assert hint in error_of(*busy, max_retries=1).hint


def test_no_credit_is_told_from_too_many_requests() -> None:
    reply = failed(429, "You exceeded your current quota", "insufficient_quota")

    assert "credit" in error_of(reply, max_retries=0).hint


def test_a_page_of_a_proxy_under_an_error_status_is_shown_in_short() -> None:
    page = Reply("<html>Bad Gateway" + " " * 5_000 + "x</html>", 502)

    error = error_of(page, max_retries=0)

    assert "502" in error.what
    assert "<html>Bad Gateway x</html>" in error.what


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_server_that_never_ends_its_answer_is_left_after_the_time_limit(kind: str) -> None:
    """A drip keeps a limit between two bytes from ever being reached."""
    error = error_of(Reply('{"choices": [', kind=kind), timeout_s=0.4, max_retries=2)

    assert "within 0.4 s" in error.what
    assert "timeout_s" in error.hint


def test_a_connection_that_is_dropped_is_an_error() -> None:
    error = error_of(Reply(kind="drop"), max_retries=0)

    assert "cannot be reached" in error.what


def test_a_server_that_is_not_there_is_an_error_that_names_its_address() -> None:
    with socket.socket() as held:  # bound and not listening: nobody else gets this port
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        model = OpenAIModel("m", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
        with pytest.raises(ModelError) as raised:
            ask(model)

    assert f"127.0.0.1:{port}" in raised.value.what
    assert "Start the server" in raised.value.hint


def test_a_model_that_the_server_does_not_know_is_named() -> None:
    with ChatServer(said("hi"), model="other") as server, pytest.raises(ModelError) as raised:
        ask(model_at(server))

    assert "`m` does not exist" in raised.value.what
    assert "'m'" in raised.value.hint


def test_a_server_may_need_no_key_and_says_when_it_does() -> None:
    with ChatServer(said("hi")) as server:
        assert ask(OpenAIModel("m", base_url=server.url)).text == "hi"
    with ChatServer(said("hi"), key=KEY) as server, pytest.raises(ModelError) as raised:
        ask(OpenAIModel("m", base_url=server.url))

    assert "a key is needed: set OPENAI_API_KEY" in raised.value.hint


def test_no_error_and_no_repr_holds_the_key() -> None:
    """The server of this test repeats a wrong key, as careless ones do."""
    with ChatServer(key="another") as server:
        model = model_at(server)
        with pytest.raises(ModelError) as raised:
            ask(model)

    shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value) + repr(model)
    assert "Incorrect API key provided: [key]." in shown
    assert KEY not in shown


def test_a_password_in_the_address_is_not_shown() -> None:
    with ChatServer(failed(400, "no")) as server:
        address = server.url.replace("http://", "http://anna:pass-word@")
        model = OpenAIModel("m", base_url=address)
        with pytest.raises(ModelError) as raised:
            ask(model)

    shown = "".join(traceback.format_exception(raised.value)) + repr(model)
    assert "127.0.0.1" in repr(model)
    assert "pass-word" not in shown


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(said("hi"), key=KEY, model="qwen3") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f" {server.url} ")
        monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
        model = load_model("openai:qwen3")
        answer = asyncio.run(model.complete(HELLO, []))

    assert answer.text == "hi"
    assert model.name == "qwen3"
    assert "127.0.0.1" in repr(model)


def test_a_proxy_of_the_environment_is_not_asked_for_a_local_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    assert answer_to(said("hi")).text == "hi"


def test_a_proxy_setting_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://127.0.0.1:9")
    model = OpenAIModel("m", base_url="http://models.invalid/v1")

    with pytest.raises(ModelError) as raised:
        ask(model)

    assert "ALL_PROXY" in raised.value.hint


def test_without_a_key_openai_itself_is_not_asked() -> None:
    with pytest.raises(ModelError) as raised:
        OpenAIModel("gpt-4o-mini")

    assert "OPENAI_API_KEY" in raised.value.hint
    assert "OPENAI_BASE_URL" in raised.value.hint


@pytest.mark.parametrize("key", ["sk-密钥", "sk-a b", "sk-a\nb", "“sk-abc”"])
def test_a_key_that_is_none_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ModelError) as raised:
        OpenAIModel("m", api_key=key)

    assert key not in str(raised.value)


@pytest.mark.parametrize(
    "address", ["localhost:8000/v1", "ftp://a/v1", "http://", "http://a:port/v1", "http://[/v1"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ModelError) as raised:
        OpenAIModel("m", base_url=address)

    assert "http://localhost:8000/v1" in raised.value.hint


def test_a_history_that_is_not_sound_is_refused_before_it_is_sent() -> None:
    lost = packed_with(user("hi"), assistant("", ToolCall("c1", "notes.write_note")))
    with ChatServer(said("hi")) as server, pytest.raises(MessageError) as raised:
        ask(model_at(server), lost)

    assert "mend" in raised.value.hint
    assert server.received == []


def test_an_empty_window_is_refused_before_it_is_sent() -> None:
    too_large = pack([Section("q", "hello", role="question")], budget=3, count=len)
    with ChatServer(said("hi")) as server, pytest.raises(ModelError) as raised:
        ask(model_at(server), too_large)

    assert "of 1 sections none" in raised.value.what
    assert "larger than 3" in raised.value.hint
    assert server.received == []


def test_temperature_is_sent_only_when_it_is_asked_for() -> None:
    with ChatServer(said("a"), said("b")) as server:
        ask(model_at(server))
        ask(model_at(server, temperature=0))

    assert [request.get("temperature") for request in server.received] == [None, 0]
    assert "temperature" not in server.received[0]


def test_the_sdk_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "find_spec", lambda name: None)

    with pytest.raises(SetupError) as raised:
        OpenAIModel("m", api_key=KEY)

    assert 'pip install "openai>=2,<4"' in raised.value.hint


def test_the_sdk_is_not_imported_before_it_is_needed() -> None:
    script = (
        "import sys, agentkit.models.openai as o; o.OpenAIModel('m', api_key='sk-x');"
        "sys.exit('openai' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=120).returncode == 0


GOOD: list[dict[str, Any]] = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "a__b", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": ""},
    {"role": "assistant", "content": "done"},
]


def _call(**changes: Any) -> dict[str, Any]:
    call = GOOD[1]["tool_calls"][0]
    function = {k: changes.pop(k) for k in ("name", "arguments") if k in changes}
    changed = {**call, "function": {**call["function"], **function}, **changes}
    return {**GOOD[1], "tool_calls": [changed]}


@pytest.mark.parametrize(
    "messages",
    [
        [],
        GOOD[:2],
        [GOOD[0], GOOD[2]],
        [GOOD[0], GOOD[1], GOOD[3], GOOD[2]],
        [*GOOD[:3], GOOD[2]],
        [{"role": "human", "content": "hi"}],
        [{"role": "user"}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": 5}],
        [GOOD[0], {**GOOD[1], "content": ""}, *GOOD[2:]],
        [GOOD[0], {k: v for k, v in GOOD[1].items() if k != "content"}, *GOOD[2:]],
        [GOOD[0], {"role": "assistant", "content": "hi", "tool_calls": []}],
        [GOOD[0], _call(name="a.b"), *GOOD[2:]],
        [GOOD[0], _call(name="x" * 65), *GOOD[2:]],
        [GOOD[0], _call(arguments="{"), *GOOD[2:]],
        [GOOD[0], _call(arguments="[]"), *GOOD[2:]],
        [GOOD[0], _call(arguments='{"a": NaN}'), *GOOD[2:]],
        [GOOD[0], _call(arguments={}), *GOOD[2:]],
        [GOOD[0], _call(type="tool"), *GOOD[2:]],
        [GOOD[0], _call(id="")],
    ],
)
def test_the_server_of_these_tests_refuses_what_real_ones_refuse(messages: Any) -> None:
    assert problem({"model": "m", "messages": GOOD}) == ""
    assert problem({"model": "m", "messages": messages})


def _tool(**function: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    whole = {"name": "a", "description": "d", "parameters": parameters, **function}
    return {"type": "function", "function": whole}


@pytest.mark.parametrize(
    "changes",
    [
        {"model": ""},
        {"stream_options": {}},
        {"tools": []},
        {"tools": [_tool(), _tool()]},
        {"tools": [_tool(name="a.b")]},
        {"tools": [_tool(description="x" * 1_025)]},
        {"tools": [_tool(parameters={"type": "object"})]},
        {"tools": [_tool(parameters={"properties": {}})]},
        {"tools": [_tool(name=f"t{i}") for i in range(129)]},
    ],
)
def test_the_server_of_these_tests_refuses_tools_and_settings_that_real_ones_refuse(
    changes: Any,
) -> None:
    good = {"model": "m", "messages": GOOD, "tools": [_tool()], "temperature": 0}

    assert problem(good) == ""
    assert problem({**good, **changes})


def test_a_schema_and_a_description_that_the_format_does_not_allow_are_made_to_fit() -> None:
    long = ToolSpec("a.long", "说明 " * 2_000, {})

    answer = answer_to(said("hi"), HELLO, [long])

    assert answer.text == "hi"
