"""A conversation: it goes on, whatever it began with and whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.checks.host import small_server
from agentkit.clock import FixedClock
from agentkit.compress import Compression
from agentkit.errors import (
    AgentkitError,
    BudgetError,
    MessageError,
    ModelError,
    UnknownModelError,
)
from agentkit.guard import Limits
from agentkit.host import McpHost
from agentkit.messages import (
    LOST_RESULT,
    Message,
    ModelSaid,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
    faults,
    system,
    tool,
    user,
)
from agentkit.models.reader import ReaderModel
from agentkit.models.scripted import ScriptedModel
from agentkit.session import Session
from agentkit.summary import Summary
from agentkit.tools import ToolSpec
from agentkit.window import Packed
from tests.histories import STEADY, TEXTS, anything
from tests.toolbox import ToolBox, spec

SAY = spec("echo.say", text="string")
ADD = spec("sums.add", a="integer", b="integer", required=("a", "b"))


def ask(session: Session, text: str) -> str:
    return asyncio.run(session.ask(text))


def session_of(*steps: Any, host: ToolBox | None = None, **settings: Any) -> Session:
    return Session(model=ScriptedModel(steps), host=host, clock=FixedClock(), **settings)


def test_a_conversation_grows_by_a_turn_and_the_model_reads_what_went_before() -> None:
    session = session_of("Hello Anna.", "Anna.")

    answers = [ask(session, "I am Anna."), ask(session, "Who am I?")]

    assert answers == ["Hello Anna.", "Anna."]
    said = [user("I am Anna."), assistant("Hello Anna."), user("Who am I?"), assistant("Anna.")]
    assert session.messages == said
    assert session.packed is not None
    assert session.packed.messages()[1:] == said[:3]
    assert [turn.id for turn in session.turns] == ["t1", "t2"]
    assert len(session.monitor.report().snapshots) == 2


def test_a_session_and_what_came_of_a_compression_say_so_on_one_line() -> None:
    session = session_of("Hello.", "周三。", budget=2_000, reserve=200)
    assert repr(session) == "Session(scripted, 0 turns)"
    ask(session, "I am Anna. The budget is 5,000 dollars.")
    assert session.packed is not None
    used = session.packed.tokens

    assert repr(session) == f"Session(scripted, 1 turn, {used:,} of 1,800 tokens, {used // 18} %)"
    assert repr(session.compress()).startswith("Compression(refused: the history has ")
    done = Compression((user("Goal: the report"),), Summary(), 900, 400, 500, True, "3 of 4 rounds")
    assert repr(done) == "Compression(900 → 400 tokens: 3 of 4 rounds)"


def test_the_default_model_is_the_reader_with_its_own_window() -> None:
    session = Session()

    assert session.agent.model.name == "reader"
    assert (session.agent.frame.budget, session.agent.frame.reserve) == (8_000, 1_000)
    assert session.packed is None


def test_a_model_of_unknown_window_needs_a_budget() -> None:
    model = ScriptedModel([], name="my-own-model")

    with pytest.raises(UnknownModelError):
        Session(model=model)

    assert Session(model=model, budget=32_000).agent.frame.reserve == 1_024


CALL = ToolCall("c1", "notes.list_notes")


def test_a_history_whose_call_lost_its_result_goes_on_and_the_trace_says_so() -> None:
    """The case of a crash between the call and its result."""
    history = [user("any notes?"), assistant("", CALL), user("hello?")]

    session = session_of("Still here.", history=history)
    answer = ask(session, "go on")

    assert answer == "Still here."
    mended = [(e.data["kind"], e.data["call_id"]) for e in session.trace if e.kind == "Mended"]
    assert mended == [("lost result", "c1")]
    lost = Message("tool", LOST_RESULT, call_id="c1", is_error=True)
    assert session.messages[:4] == [*history[:2], lost, history[2]]
    assert session.packed is not None
    assert not faults(session.packed.messages())


def test_a_history_whose_result_lost_its_call_goes_on_without_it() -> None:
    """The case of a history that was cut at the front."""
    orphan = tool(ToolResult("c0", "notes.list_notes", "one note"))

    session = session_of("ok", history=[orphan, user("and?"), assistant("One.")])
    ask(session, "go on")

    assert [e.data["kind"] for e in session.trace if e.kind == "Mended"] == ["lost call"]
    assert session.messages[:2] == [user("and?"), assistant("One.")]


def test_a_sound_history_is_taken_as_it_is_without_its_system_prompt() -> None:
    history = [system("Be rude."), user("hi"), assistant("hello")]

    session = session_of(history=history)

    assert session.messages == history[1:]
    assert len(session.trace) == 0


def test_arguments_that_nobody_can_read_are_the_models_own_words_and_stay() -> None:
    broken = ToolCall("c1", "sums.add", unread='{"a": ')
    history = [user("add"), assistant("", broken), tool(ToolResult("c1", "sums.add", "no"))]

    session = session_of(history=history)

    assert session.messages == history
    assert session.trace.kinds() == []


def test_a_second_question_at_the_same_time_is_refused_and_the_first_is_answered() -> None:
    async def both() -> tuple[str, BaseException | str]:
        reached, go_on = asyncio.Event(), asyncio.Event()

        async def slow(text: str) -> str:
            reached.set()
            await go_on.wait()
            return text

        session = session_of(
            ToolCall("c1", "echo.say", {"text": "x"}), "first", "third", host=ToolBox((SAY, slow))
        )
        first = asyncio.create_task(session.ask("one"))
        await asyncio.wait_for(reached.wait(), 30)
        with pytest.raises(MessageError) as refused:
            await session.ask("two")
        go_on.set()
        answer = await asyncio.wait_for(first, 30)
        assert await session.ask("three") == "third"
        assert [m.text for m in session.messages if m.role == "user"] == ["one", "three"]
        return answer, refused.value

    answer, refused = asyncio.run(both())

    assert answer == "first"
    assert "second session" in str(refused)


def test_what_a_failed_turn_did_stays_and_the_next_one_knows_it() -> None:
    gone = ModelError("The line is dead.", hint="Ask again.")
    asked = ToolCall("c1", "sums.add", {"a": 1, "b": 1})
    session = session_of(asked, gone, "It was 2.", host=ToolBox((ADD, {"sum": 2})))

    with pytest.raises(ModelError):
        ask(session, "1 + 1?")
    answer = ask(session, "and?")

    assert answer == "It was 2."
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert session.packed is not None
    assert '{"sum": 2}' in [message.text for message in session.packed.messages()]


def test_a_turn_that_did_nothing_leaves_no_message_behind() -> None:
    session = session_of(ModelError("dead", hint="Ask again."), "hello")

    with pytest.raises(ModelError):
        ask(session, "lost words")
    ask(session, "hi")

    assert [m.text for m in session.messages] == ["hi", "hello"]
    assert [turn.error is None for turn in session.turns] == [False, True]


def test_a_fault_of_the_model_itself_passes_through_and_keeps_what_was_done() -> None:
    session = session_of(
        ToolCall("c1", "sums.add", {"a": 1, "b": 1}),
        ZeroDivisionError("a bug"),
        "ok",
        host=ToolBox((ADD, {"sum": 2})),
    )

    with pytest.raises(ZeroDivisionError):
        ask(session, "1 + 1?")

    assert [m.role for m in session.messages] == ["user", "assistant", "tool"]
    assert ask(session, "again") == "ok"


def test_an_interrupted_turn_keeps_its_calls_and_the_conversation_goes_on() -> None:
    async def interrupted() -> Session:
        reached = asyncio.Event()

        async def stuck() -> str:
            reached.set()
            await asyncio.Event().wait()
            return ""

        session = session_of(ToolCall("c1", "echo.say"), "still here", host=ToolBox((SAY, stuck)))
        task = asyncio.create_task(session.ask("go"))
        await asyncio.wait_for(reached.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await session.ask("and now?") == "still here"
        return session

    session = asyncio.run(interrupted())

    assert not faults(session.messages)
    assert session.messages[2] == Message("tool", LOST_RESULT, call_id="c1", is_error=True)


def test_an_empty_message_changes_nothing() -> None:
    session = session_of("ok")

    with pytest.raises(MessageError):
        ask(session, " ")

    assert (session.messages, len(session.trace), session.turns) == ([], 0, [])
    assert ask(session, "hi") == "ok"


def test_a_window_too_small_for_what_is_pinned_says_so_each_time_and_goes_on_when_it_fits() -> None:
    session = session_of("ok", budget=200)
    session.pin("不要超过预算。" * 60)

    for _ in range(2):
        with pytest.raises(BudgetError, match="pinned 1"):
            ask(session, "hi")

    assert session.messages == []


def test_what_is_pinned_is_in_every_window_and_its_new_text_in_the_trace() -> None:
    session = session_of("a", "b", pinned=["at most 5000"])

    ask(session, "one")
    session.pin("只用公司账户")
    ask(session, "two")

    assert session.packed is not None
    assert "at most 5000" in session.packed.messages()[0].text
    assert "只用公司账户" in session.packed.messages()[0].text
    new = [e.data["new"] for e in session.trace if e.kind == "Packed"]
    assert list(new[0]) == ["system", "pinned 1"]
    assert new[1] == {"pinned 2": "只用公司账户"}


def test_old_rounds_leave_the_window_and_stay_in_the_history() -> None:
    session = session_of(*["answer " * 90] * 12, budget=700)

    for n in range(12):
        ask(session, f"question {n}")

    assert len(session.messages) == 24
    assert session.packed is not None
    dropped = [section.name for section in session.packed.dropped]
    assert dropped == [f"round {n}" for n in range(1, len(dropped) + 1)]
    assert 0 < len(dropped) < 11
    assert session.monitor.report().snapshots[-1].dropped


class Whim:
    """A model that does what was drawn, and checks every window that it is given."""

    name = "scripted"

    def __init__(self, whims: Sequence[ModelSaid]) -> None:
        self._whims = iter(whims)
        self.windows: list[Packed] = []

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        self.windows.append(packed)
        return next(self._whims, ModelSaid("done"))


IDS = st.sampled_from(["c1", "c2", "c3", ""])
CALLS = st.builds(
    ToolCall,
    IDS,
    st.sampled_from(["echo.say", "sums.add", "no.such", "say"]),
    st.sampled_from([{}, {"text": "x " * 400}, {"text": "报告"}, {"a": 1, "b": 2}, {"a": "1"}]),
    st.none() | st.just("{broken"),
)
WHIMS = st.lists(
    st.builds(ModelSaid, TEXTS, st.lists(CALLS, max_size=3).map(tuple)), min_size=1, max_size=9
)


def subsequence(part: Sequence[Message], whole: Sequence[Message]) -> bool:
    rest = iter(whole)
    return all(any(message == other for other in rest) for message in part)


@given(
    history=anything(),
    whims=WHIMS,
    texts=st.lists(TEXTS, min_size=1, max_size=4),
    budget=st.sampled_from([150, 400, 1_500]),
    long=st.booleans(),
)
@STEADY
def test_every_window_that_leaves_for_a_model_is_sound_in_order_and_within_its_budget(
    history: list[Message], whims: list[ModelSaid], texts: list[str], budget: int, long: bool
) -> None:
    host = ToolBox((SAY, lambda text="": text * (900 if long else 1)), (ADD, {"sum": 3}))
    model = Whim(whims)
    session = Session(model=model, host=host, budget=budget, history=history, clock=FixedClock())

    for text in texts:
        try:
            ask(session, text)
        except AgentkitError:
            continue

    spoken = list(session.messages)
    assert not [f for f in faults(spoken) if f.kind != "unread arguments"]
    for packed in model.windows:
        read = [m for m in packed.messages() if m.role != "system"]
        assert not [f for f in faults(read) if f.kind != "unread arguments"]
        assert packed.tokens <= packed.usable
        failed = [m for turn in session.turns if turn.error for m in turn.messages]
        assert subsequence(read, spoken) or subsequence(read, [*spoken, *failed])


def test_what_fell_out_of_the_window_cannot_be_said() -> None:
    """By design: the reader says only what it reads, so a lost fact is a wrong answer."""
    session = Session(model=ReaderModel(), budget=600, clock=FixedClock())
    fact = "The server room has the number XJH-2309."

    ask(session, fact)
    known = ask(session, "What is the number of the server room?")
    for n in range(9):
        ask(session, f"Item {n} of the long list of things that were bought " + "and so on " * 30)
    lost = ask(session, "What is the number of the server room?")

    assert "XJH-2309" in known
    assert "XJH-2309" not in lost


def test_a_server_that_dies_or_never_answers_costs_a_result_and_not_the_conversation() -> None:
    """With a real program: it dies in mid-call, comes back, and then keeps silent."""

    async def talk() -> tuple[list[str], list[str]]:
        steps = [
            ToolCall("c1", "small.die_writing"),
            "It died.",
            ToolCall("c2", "small.repeat", {"text": "你好 ", "times": 2}),
            "It is back.",
            ToolCall("c3", "small.never"),
            "It is silent.",
        ]
        async with McpHost({"mcpServers": {"small": small_server()}}) as host:
            session = session_of(*steps, host=host, limits=Limits(timeout_s=1.0))
            answers = [await session.ask(f"question {n}") for n in range(3)]
        assert not faults(session.messages)
        return answers, [m.text for m in session.messages if m.role == "tool"]

    answers, results = asyncio.run(talk())

    assert answers == ["It died.", "It is back.", "It is silent."]
    assert "small.die_writing" in results[0]
    assert results[1] == "你好 你好 "
    assert "did not answer" in results[2]


@pytest.mark.parametrize("entry", [{"role": "user", "content": "hi"}, "hi", None])
def test_a_history_of_other_things_than_messages_is_refused_with_a_way_to_read_it(
    entry: Any,
) -> None:
    with pytest.raises(MessageError, match="Entry 1 of the history is a ") as refused:
        session_of(history=[user("hello"), entry])

    assert "from_openai" in refused.value.hint


def test_one_text_is_one_rule_and_not_a_rule_a_character() -> None:
    session = session_of("ok", pinned="只用中文")

    ask(session, "hi")

    assert session.agent.frame.pinned == ("只用中文",)


@pytest.mark.parametrize("text", [None, 5, b"hi"])
def test_a_message_that_is_no_text_is_refused_and_nothing_has_happened(text: Any) -> None:
    session = session_of("hi")

    with pytest.raises(MessageError, match="The message is "):
        ask(session, text)

    assert session.messages == []
    assert ask(session, "你好") == "hi"


def test_what_cannot_be_a_model_or_pinned_is_refused() -> None:
    with pytest.raises(ModelError, match="'reader' is the name of a model"):
        Session(model="reader")  # type: ignore[arg-type]
    with pytest.raises(MessageError, match="None cannot be pinned"):
        Session(pinned=[None])  # type: ignore[list-item]


def test_a_provider_that_reports_what_cannot_be_costs_no_turn() -> None:
    session = session_of(ModelSaid("hi", usage=Usage(10, -3)), budget=9_000)
    session.monitor.model = "gpt-4o"

    assert ask(session, "你好") == "hi"
    assert session.monitor.report().snapshots[-1].cost is None
