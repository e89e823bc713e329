import asyncio
from collections.abc import Sequence

import pytest

from agentkit.errors import ModelError, ScriptError, ServerTimeoutError
from agentkit.messages import ModelSaid, ToolCall, Usage, assistant, user
from agentkit.models.scripted import ScriptedModel, Step
from agentkit.tools import ToolSpec
from agentkit.window import Packed, Section, pack

WRITE = ToolCall("c1", "notes.write_note", {"title": "结项报告", "text": "重点是性能测试部分"})
READ = ToolCall("c2", "notes.read_note", {"title": "report"})
TOOLS = [ToolSpec("notes.write_note", "Save a note.")]


def packed_with(*texts: str) -> Packed:
    sections = [Section(f"said {i}", messages=(user(text),)) for i, text in enumerate(texts)]
    return pack(sections, budget=10_000, count=len)


def ask(model: ScriptedModel, packed: Packed, tools: Sequence[ToolSpec] = TOOLS) -> ModelSaid:
    return asyncio.run(model.complete(packed, tools))


def test_each_form_of_a_step_becomes_the_same_answer_as_written_in_full() -> None:
    usage = Usage(10, 2)
    whole = ModelSaid("ok", (READ,), usage, "m")
    model = ScriptedModel(["记下了。", WRITE, [WRITE, READ], whole, lambda _, tools: tools[0].name])

    said = [ask(model, packed_with("hello")) for _ in range(5)]

    assert said == [
        ModelSaid("记下了。"),
        ModelSaid("", (WRITE,)),
        ModelSaid("", (WRITE, READ)),
        whole,
        ModelSaid("notes.write_note"),
    ]


def test_a_function_answers_from_what_is_packed() -> None:
    model = ScriptedModel([lambda packed, _: packed.messages()[-1].text[::-1]])

    assert ask(model, packed_with("你好")) == ModelSaid("好你")


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_exception_is_raised_whether_it_is_given_or_returned(wrapped: bool) -> None:
    error = ServerTimeoutError("No answer in 5 s.", hint="Try again.")
    model = ScriptedModel([(lambda *_: error) if wrapped else error, "back again"])

    with pytest.raises(ServerTimeoutError) as raised:
        ask(model, packed_with("hello"))

    assert raised.value is error
    assert ask(model, packed_with("hello")) == ModelSaid("back again")


def test_a_call_beyond_the_script_says_where_and_what_was_asked() -> None:
    model = ScriptedModel(["one"])
    ask(model, packed_with("first"))

    with pytest.raises(ScriptError) as raised:
        ask(model, packed_with("帮我记一下"))

    assert "Call 2 of a script of 1 steps" in raised.value.what
    assert "user '帮我记一下'" in raised.value.what
    assert isinstance(raised.value, ModelError)


def test_a_call_beyond_the_script_names_the_tool_call_it_ends_in() -> None:
    packed = pack([Section("round", messages=(assistant("", WRITE),))], budget=9_999, count=len)

    with pytest.raises(ScriptError, match=r"notes\.write_note .*结项报告"):
        ask(ScriptedModel([]), packed)


def test_a_call_with_nothing_packed_says_so() -> None:
    with pytest.raises(ScriptError, match="holds no message"):
        ask(ScriptedModel([]), packed_with())


@pytest.mark.parametrize("expected", ["性能测试", "notes.write_note"])
def test_an_expected_text_is_looked_for_in_messages_and_calls(expected: str) -> None:
    packed = pack([Section("round", messages=(assistant("", WRITE),))], budget=9_999, count=len)

    assert ask(ScriptedModel([Step("ok", expects=expected)]), packed) == ModelSaid("ok")


def test_an_expected_text_that_is_not_packed_fails() -> None:
    model = ScriptedModel([Step("ok", expects="the report")])

    with pytest.raises(ScriptError, match="Step 1 of 1 expects 'the report'"):
        ask(model, packed_with("something else"))


def test_an_expectation_may_be_a_function_of_window_and_tools() -> None:
    def no_tools(_: Packed, tools: Sequence[ToolSpec]) -> bool:
        return not tools

    assert ask(ScriptedModel([Step("ok", expects=no_tools)]), packed_with("hi"), []).text == "ok"
    with pytest.raises(ScriptError, match="expects no_tools"):
        ask(ScriptedModel([Step("ok", expects=no_tools)]), packed_with("hi"))


@pytest.mark.parametrize("nonsense", [3, None, [], ["text"], ServerTimeoutError])
def test_a_step_that_is_no_answer_is_refused(nonsense: object) -> None:
    model = ScriptedModel([nonsense])  # type: ignore[list-item]

    with pytest.raises(ScriptError, match="Step 1 says a"):
        ask(model, packed_with("hi"))


def test_finish_names_the_steps_that_were_not_used() -> None:
    model = ScriptedModel(["one", "two", "three"])
    ask(model, packed_with("hi"))

    with pytest.raises(ScriptError, match="2 of 3 steps were not used; the next says 'two'"):
        model.finish()


def test_as_a_context_manager_it_finishes() -> None:
    with ScriptedModel(["one"]) as model:
        ask(model, packed_with("hi"))
    with pytest.raises(ScriptError, match="1 of 1"), ScriptedModel(["unused"]):
        pass


def test_as_a_context_manager_it_does_not_hide_another_error() -> None:
    with pytest.raises(ZeroDivisionError), ScriptedModel(["unused"]):
        raise ZeroDivisionError


def test_it_keeps_what_it_was_given() -> None:
    model = ScriptedModel(["one", "two"])
    first, second = packed_with("hello"), packed_with("hello", "again")

    ask(model, first)
    ask(model, second, [])

    assert [(seen.packed, seen.tools) for seen in model.seen] == [
        (first, tuple(TOOLS)),
        (second, ()),
    ]
    assert model.seen[1].text == "hello\nagain"
    assert repr(model) == "ScriptedModel(2 of 2 steps used)"
