"""The loop's own mechanics: what goes to the model, what goes to the tools, and what goes wrong."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from agentkit.clock import FixedClock
from agentkit.context import Frame
from agentkit.errors import (
    BudgetError,
    MessageError,
    ModelError,
    ServerGoneError,
    ServerTimeoutError,
)
from agentkit.guard import Limits
from agentkit.loop import Agent, Turn, run_turn
from agentkit.messages import (
    Message,
    ModelSaid,
    ToolCall,
    ToolResult,
    assistant,
    faults,
    tool,
    user,
)
from agentkit.models.scripted import ScriptedModel
from agentkit.tokens import Counter
from agentkit.tools import Consent, ToolSpec
from agentkit.trace import Trace
from agentkit.window import Packed
from tests.toolbox import ToolBox, spec

COUNT = Counter.for_model("reader")
ADD = spec("sums.add", a="integer", b="integer", required=("a", "b"))
WIPE = spec("disk.wipe", path="string", required=("path",), tier="destructive")
SAY = spec("echo.say", text="string")


def box() -> ToolBox:
    return ToolBox(
        (ADD, lambda a, b: {"sum": a + b}), (WIPE, "wiped"), (SAY, lambda text="": f"said {text}")
    )


def agent_of(
    model: ScriptedModel,
    host: ToolBox | None = None,
    *,
    limits: Limits | None = None,
    consent: Consent | None = None,
    budget: int = 8_000,
    pinned: Sequence[str] = (),
) -> Agent:
    frame = Frame(budget, budget // 8, COUNT, "Be brief.", tuple(pinned))
    return Agent(model, frame, host, limits or Limits(), consent, FixedClock())


def run(
    steps: Sequence[Any],
    host: ToolBox | None = None,
    *,
    text: str = "go",
    history: Sequence[Message] = (),
    trace: Trace | None = None,
    **settings: Any,
) -> tuple[Turn, ScriptedModel]:
    """Run one turn of a script that has to be used up."""
    with ScriptedModel(steps) as model:
        agent = agent_of(model, host, **settings)
        turn = asyncio.run(run_turn(text, agent, history=history, trace=trace))
    return turn, model


def call(name: str, call_id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments)


def results(turn: Turn) -> list[str]:
    return [message.text for message in turn.messages if message.role == "tool"]


def test_the_result_of_a_call_goes_back_to_the_model_and_its_answer_ends_the_turn() -> None:
    asked = call("sums.add", a=2, b=3)

    turn, model = run([asked, "It is 5."], box(), text="2 + 3?")

    back = Message("tool", '{"sum": 5}', call_id="c1")
    assert turn.messages == (
        user("2 + 3?"),
        assistant("", asked),
        back,
        assistant("It is 5."),
    )
    assert model.seen[1].packed.messages()[-1] == back
    assert (turn.answer, turn.error, turn.stopped) == ("It is 5.", None, None)


def test_every_step_of_a_turn_is_one_event_in_order() -> None:
    trace = Trace(clock=FixedClock())

    run([call("sums.add", a=2, b=3), "5"], box(), trace=trace)

    assert trace.kinds("t1") == [
        "UserSaid",
        "Packed",
        "ModelSaid",
        "ToolCalled",
        "ToolReturned",
        "Packed",
        "ModelSaid",
        "Answered",
    ]


def test_several_calls_of_one_message_are_answered_in_its_order() -> None:
    calls = [call("sums.add", f"c{n}", a=n, b=n) for n in (3, 1, 2)]

    turn, model = run([calls, "done"], box())

    assert [m.call_id for m in turn.messages if m.role == "tool"] == ["c3", "c1", "c2"]
    assert results(turn) == ['{"sum": 6}', '{"sum": 2}', '{"sum": 4}']
    assert len(model.seen) == 2


def test_calls_with_the_same_id_or_none_get_ids_of_their_own() -> None:
    """By design: some servers count from 0 in each answer, and some send no id at all."""
    history = [
        user("before"),
        assistant("", call("sums.add", "c1", a=0, b=0)),
        tool(ToolResult("c1", "sums.add", "0")),
    ]
    calls = [call("sums.add", i, a=n, b=n) for n, i in enumerate(("c1", "c1", "", "own"))]

    turn, _ = run([calls, [call("echo.say", "own")], "done"], box(), history=history)

    ids = [c.id for message in turn.messages for c in message.tool_calls]
    assert "own" in ids[:4]
    assert len({"c1", *ids}) == 6
    assert not faults([*history, *turn.messages])


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (ToolCall.parse("c1", "sums.add", '{"a": 2, "b": '), ("JSON object", '"a": integer')),
        (ToolCall.parse("c1", "sums.add", "[2, 3]"), ("JSON object", '"b": integer')),
        (call("sums.add", a="two", b=3), ("a must be integer, not string", '"a": integer')),
        (call("sums.add", a=2), ("'b' is a required property", '"b": integer')),
        (call("sums.add", a=2, b=3, c=4), ("no argument 'c'", '"a": integer')),
        (call("sums.ad", a=2, b=3), ("no tool 'sums.ad'", "sums.add")),
        (call("打开", a=2), ("no tool '打开'", "sums.add")),
    ],
)
def test_a_call_that_does_not_fit_goes_back_with_the_expected_form(
    asked: ToolCall, wanted: tuple[str, str]
) -> None:
    host = box()

    turn, model = run([asked, "I see."], host)

    assert host.called == []
    [said] = results(turn)
    assert wanted[0] in said
    assert wanted[1] in said
    assert model.seen[1].packed.messages()[-1].is_error
    assert turn.answer == "I see."


def test_a_model_that_learns_from_its_error_gets_its_result() -> None:
    steps = [call("sums.add", a="2", b="3"), call("sums.add", "c2", a=2, b=3), "5"]

    turn, _ = run(steps, box())

    assert results(turn)[1] == '{"sum": 5}'
    assert turn.answer == "5"


def test_a_call_without_its_server_in_the_name_reaches_the_only_tool_of_that_name() -> None:
    host = box()

    run([call("add", a=2, b=3), "5"], host)

    assert host.called == [("sums.add", {"a": 2, "b": 3})]


def test_without_a_host_a_call_is_told_that_there_are_no_tools() -> None:
    turn, model = run([call("sums.add", a=2, b=3), "No tools."], None)

    assert "There are no tools" in results(turn)[0]
    assert model.seen[0].tools == ()


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (ServerGoneError("notes died.", hint="Answer without it."), "notes died. Answer without"),
        (ServerTimeoutError("No answer in 20 s.", hint="Later."), "No answer in 20 s. Later."),
        (ValueError("no such row"), "sums.add failed: ValueError: no such row"),
        (KeyError("键"), "sums.add failed: KeyError: '键'"),
    ],
)
def test_a_host_or_a_tool_that_fails_does_not_end_the_turn(error: Exception, wanted: str) -> None:
    trace = Trace(clock=FixedClock())
    host = ToolBox((ADD, error))

    turn, model = run([call("sums.add", a=1, b=1), "I could not."], host, trace=trace)

    assert wanted in results(turn)[0]
    assert model.seen[1].packed.messages()[-1].is_error
    assert [e.data["is_error"] for e in trace if e.kind == "ToolReturned"] == [True]
    assert turn.answer == "I could not."


def test_an_error_that_the_tool_itself_reports_stays_one() -> None:
    refusal = ToolResult("other id", "sums.add", "Too large; send at most 9.", is_error=True)

    turn, _ = run([call("sums.add", a=10, b=1), "Too large."], ToolBox((ADD, refusal)))

    said = next(m for m in turn.messages if m.role == "tool")
    assert said == Message("tool", "Too large; send at most 9.", call_id="c1", is_error=True)


def test_a_tool_whose_server_is_down_is_not_shown_but_a_call_reaches_the_host() -> None:
    """By design: the host may start the server once more; the loop does not decide that."""
    host = ToolBox((spec("notes.list", available=False), "one note"), (SAY, "hi"))

    turn, model = run([call("notes.list"), "one note"], host)

    assert [t.name for t in model.seen[0].tools] == ["echo.say"]
    assert results(turn) == ["one note"]


def test_a_destructive_call_needs_consent_and_nobody_is_nobody() -> None:
    host = box()

    turn, _ = run([call("disk.wipe", path="/"), "I may not."], host)

    assert host.called == []
    assert "nobody here to agree" in results(turn)[0]


@pytest.mark.parametrize("agreed", [True, False])
def test_the_person_who_is_asked_decides_and_sees_the_whole_call(agreed: bool) -> None:
    host, asked = box(), []

    async def consent(call: ToolCall, tool: ToolSpec) -> bool:
        asked.append((call.arguments, tool.name))
        return agreed

    turn, _ = run([call("disk.wipe", path="/"), "ok"], host, consent=consent)

    assert asked == [({"path": "/"}, "disk.wipe")]
    assert len(host.called) == agreed
    assert ("did not agree" in results(turn)[0]) != agreed


def test_a_consent_that_breaks_is_no_consent() -> None:
    host = box()

    async def consent(call: ToolCall, tool: ToolSpec) -> bool:
        raise RuntimeError("the window was closed")

    turn, _ = run([call("disk.wipe", path="/"), "ok"], host, consent=consent)

    assert host.called == []
    assert "the window was closed" in results(turn)[0]


class Stubborn(ScriptedModel):
    """A model that asks for the same thing for ever, tools or not."""

    def __init__(self, *calls: ToolCall, says: str = "") -> None:
        super().__init__([])
        self._said = ModelSaid(says, calls)
        self.asked = 0
        self.tools: list[int] = []

    async def complete(self, packed: Any, tools: Sequence[ToolSpec]) -> ModelSaid:
        self.asked += 1
        self.tools.append(len(tools))
        return self._said


def test_the_same_call_with_the_same_result_without_end_is_stopped() -> None:
    """By design: at the second time; then one last turn without tools."""
    host = box()
    model = Stubborn(call("echo.say", text="x"))
    trace = Trace(clock=FixedClock())

    turn = asyncio.run(run_turn("go", agent_of(model, host), trace=trace))

    assert len(host.called) == 2
    assert model.tools == [3, 3, 0]
    assert turn.stopped == "the same call brought the same result 2 times"
    assert [e.data["reason"] for e in trace if e.kind == "Stopped"] == [turn.stopped]
    assert turn.answer == f"I stopped calling tools: {turn.stopped}."
    assert not faults(turn.messages)


def test_the_order_of_the_arguments_makes_no_other_call() -> None:
    steps = [call("sums.add", a=1, b=2), call("sums.add", "c2", b=2, a=1), "3"]

    turn, _ = run(steps, box())

    assert turn.stopped == "the same call brought the same result 2 times"


def test_the_most_rounds_are_kept_however_different_the_calls() -> None:
    steps = [call("echo.say", f"c{n}", text=str(n)) for n in range(4)]

    turn, model = run([*steps, "enough"], box(), limits=Limits(max_rounds=4))

    assert turn.stopped == "4 rounds of tool calls without an answer"
    assert [len(seen.tools) for seen in model.seen] == [3, 3, 3, 3, 0]
    assert turn.answer == "enough"


def test_two_empty_results_are_enough_and_the_model_reads_that_empty_is_the_answer() -> None:
    host = ToolBox((SAY, lambda text: {"hits": [], "total": 0, "query": text}), (ADD, ""))
    steps = [call("echo.say", text="report"), call("sums.add", "c2", a=1, b=1), "Nothing."]

    turn, _ = run(steps, host)

    assert turn.stopped == "2 results were empty"
    assert results(turn)[1] == "The tool answered, and found nothing. Empty is the answer."


def test_a_model_that_still_asks_in_its_last_turn_is_taken_at_its_text_if_it_has_any() -> None:
    model = Stubborn(call("echo.say", text="x"), says="I found what I said.")

    turn = asyncio.run(run_turn("go", agent_of(model, box())))

    assert turn.answer == "I found what I said."


def test_a_chinese_question_is_told_in_chinese_that_the_calls_were_stopped() -> None:
    model = Stubborn(call("echo.say", text="x"))

    turn = asyncio.run(run_turn("帮我查一下", agent_of(model, box())))

    assert turn.answer.startswith("我停止了调用工具：")


@pytest.mark.parametrize("silence", [ModelSaid(""), ModelSaid("  \n")])
def test_a_model_that_says_nothing_is_an_error_and_not_an_answer(silence: ModelSaid) -> None:
    trace = Trace(clock=FixedClock())

    turn, _ = run([silence], trace=trace)

    assert isinstance(turn.error, ModelError)
    assert "Ask again" in turn.error.hint
    assert trace.kinds()[-1] == "Failed"


def test_a_model_that_fails_in_mid_turn_leaves_what_was_done() -> None:
    host = box()
    gone = ModelError("The line is dead.", hint="Ask again.")

    turn, _ = run([call("sums.add", a=1, b=1), gone], host)

    assert turn.error is gone
    assert [m.role for m in turn.messages] == ["user", "assistant", "tool"]
    assert host.called == [("sums.add", {"a": 1, "b": 1})]


def test_a_budget_too_small_for_what_is_pinned_names_the_sizes() -> None:
    turn, _ = run([], budget=60, pinned=["预算不超过 5000 元。" * 20])

    assert isinstance(turn.error, BudgetError)
    assert "pinned 1" in turn.error.hint
    assert turn.packed == ()


@pytest.mark.parametrize("text", ["", "  \n", "\u3000"])
def test_an_empty_message_is_refused_before_anything_happens(text: str) -> None:
    trace = Trace()

    with pytest.raises(MessageError):
        run([], text=text, trace=trace)

    assert len(trace) == 0


def test_a_megabyte_of_result_is_slimmed_and_the_trace_says_so() -> None:
    host = ToolBox((SAY, "测试 result " * 80_000))
    trace = Trace(clock=FixedClock())

    turn, model = run([call("echo.say"), "long"], host, trace=trace)

    slimmed = next(e.data for e in trace if e.kind == "Slimmed")
    assert slimmed["before"] > 100_000
    assert slimmed["after"] < 1_100
    assert f"of {slimmed['before']} tokens left out" in results(turn)[0]
    assert model.seen[1].packed.free >= 0


def test_many_long_results_in_one_message_fit_together() -> None:
    """By design: results share half the window, so a model that calls 12 tools can still answer."""
    host = ToolBox((SAY, lambda text: f"{text} " * 20_000))
    calls = [[call("echo.say", f"{r}-{n}", text=f"{r}{n}") for n in range(12)] for r in range(2)]

    turn, model = run([*calls, "done"], host)

    assert (turn.answer, turn.error) == ("done", None)
    assert model.seen[-1].packed.free >= 0


def test_lone_surrogates_and_nul_become_valid_text_at_every_border() -> None:
    host = ToolBox((SAY, lambda text: f"half \ud83d {text}\x00"))
    trace = Trace(clock=FixedClock())
    steps = [
        ModelSaid("look \udc00", (ToolCall("c\ud800", "echo.say", {"text": "\ud83d"}),)),
        ModelSaid("done \ud83d"),
    ]

    turn, model = run(steps, host, text="hi \ud83d", trace=trace)

    for message in turn.messages:
        message.text.encode()
    assert host.called == [("echo.say", {"text": "\ufffd"})]
    assert results(turn) == ["half \ufffd \ufffd\ufffd"]
    assert turn.answer == "done \ufffd"
    assert model.seen[0].text.endswith("hi \ufffd")
    assert not faults(turn.messages)
    "\n".join(entry.as_json() for entry in trace).encode()


def test_an_interrupted_turn_leaves_what_it_did_and_says_so() -> None:
    async def interrupted() -> tuple[list[Message], Trace]:
        reached, live, trace = asyncio.Event(), [], Trace(clock=FixedClock())

        async def slow(text: str) -> str:
            reached.set()
            await asyncio.Event().wait()
            return text

        host = ToolBox((ADD, {"sum": 2}), (SAY, slow))
        calls = [call("sums.add", a=1, b=1), call("echo.say", "c2", text="x")]
        turn = run_turn("go", agent_of(ScriptedModel([calls]), host), trace=trace, live=live)
        task = asyncio.create_task(turn)
        await asyncio.wait_for(reached.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return live, trace

    live, trace = asyncio.run(interrupted())

    assert [m.role for m in live] == ["user", "assistant", "tool"]
    assert trace.kinds()[-1] == "Failed"
    assert [fault.kind for fault in faults(live)] == ["lost result"]


def test_each_call_has_the_time_limit_of_the_turn() -> None:
    host = box()

    run([call("echo.say"), "ok"], host, limits=Limits(timeout_s=12))

    assert host.timeouts == [12]


def test_more_than_twenty_tools_are_cut_to_those_that_share_words_with_the_request() -> None:
    many = [(spec(f"box.tool{n}", about=f"Fetch thing {n}."), "x") for n in range(40)]
    host = ToolBox(*many, (spec("sky.weather", about="Weather tomorrow in a city."), "sunny"))

    _, model = run(["sunny"], host, text="weather tomorrow?")

    assert len(model.seen[0].tools) == 20
    assert "sky.weather" in [t.name for t in model.seen[0].tools]


def test_the_same_turn_twice_gives_the_same_trace() -> None:
    def once() -> str:
        trace = Trace(clock=FixedClock())
        run([call("sums.add", a=2, b=3), "5"], box(), trace=trace)
        return "\n".join(entry.as_json() for entry in trace)

    assert once() == once()


class Rubbish:
    """A model of somebody's own that answers what no model should."""

    name = "rubbish"

    def __init__(self, says: Any) -> None:
        self._says = says

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> Any:
        return self._says


@pytest.mark.parametrize(
    "says",
    [
        None,
        "a text",
        ModelSaid(None),  # type: ignore[arg-type]
        ModelSaid("x", None),  # type: ignore[arg-type]
        ModelSaid("x", ({"id": "c1"},)),  # type: ignore[arg-type]
        ModelSaid("x", (ToolCall("c1", None),)),  # type: ignore[arg-type]
    ],
)
def test_a_model_that_answers_rubbish_ends_the_turn_and_no_more(says: Any) -> None:
    trace = Trace(clock=FixedClock())
    agent = dataclasses.replace(agent_of(ScriptedModel([]), box()), model=Rubbish(says))

    turn = asyncio.run(run_turn("go", agent, trace=trace))

    assert isinstance(turn.error, ModelError)
    assert "rubbish answered" in turn.error.what
    assert trace.kinds()[-1] == "Failed"


def test_usage_that_is_none_is_left_out() -> None:
    agent = dataclasses.replace(
        agent_of(ScriptedModel([])),
        model=Rubbish(ModelSaid("hi", usage="5")),  # type: ignore[arg-type]
    )

    turn = asyncio.run(run_turn("go", agent))

    assert (turn.answer, turn.said[0].usage) == ("hi", None)


@pytest.mark.parametrize(
    "result",
    [
        None,
        5,
        "a text",
        ToolResult("c1", "echo.say", None),  # type: ignore[arg-type]
        ToolResult("c1", "echo.say", "x", data=[1]),  # type: ignore[arg-type]
    ],
)
def test_a_host_that_returns_no_result_is_an_error_that_the_model_reads(result: Any) -> None:
    class Host(ToolBox):
        async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
            return result  # type: ignore[no-any-return]

    turn, _ = run([call("echo.say"), "I could not."], Host((SAY, "")))

    assert results(turn)[0].startswith("echo.say failed: TypeError: ")
    assert turn.answer == "I could not."
