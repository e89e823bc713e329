"""What leaves for the model, whatever the history, the budget and the strategy.

Random histories (several calls in one message, results in any order, interrupted calls,
rounds without tools), random budgets, every way of choosing what stays: the result is one
that any provider accepts, in the order in which it was said, with the live round whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentkit.compress import compress
from agentkit.context import Frame, lay_out
from agentkit.errors import BudgetError
from agentkit.messages import (
    Message,
    ToolCall,
    ToolResult,
    assistant,
    faults,
    mend,
    rounds,
    tool,
    user,
)
from agentkit.tokens import Counter
from agentkit.value import Value, load_rules
from agentkit.window import Packed, Section, pack
from agentkit.wire import from_anthropic, from_openai, to_anthropic, to_openai
from tests.histories import SPOKEN, STEADY, anything, sound, tool_steps

COUNT = Counter.for_model("reader")
RULES = load_rules()
TELLING = st.sampled_from(
    [
        "Do not change the public API.",
        "我是付费用户，工单优先级要高。",
        "以后都用中文回答。",
        "We decided to go with PostgreSQL.",
        "谢谢",
        "It fails with an error.",
        "That is fixed now.",
    ]
)


def by_age(history: Sequence[Message]) -> list[Value]:
    return [Value() for _ in history]


def by_length(history: Sequence[Message]) -> list[Value]:
    """Return values that cut rounds everywhere: a model may say anything."""
    kinds = ("talk", "constraint", "error fixed", "decision")
    weights = (0.0, 8.0, -2.0, 6.0)
    return [Value(kinds[len(m.text) % 4], weights[len(m.text) % 4]) for m in history]


def as_it_is(history: list[Message], budget: int) -> list[Message]:
    return history


def last_rounds(history: list[Message], budget: int) -> list[Message]:
    return [message for each in rounds(history)[-3:] for message in each.messages]


def with_summary(history: list[Message], budget: int) -> list[Message]:
    return list(compress(history, count=COUNT, target=budget // 2, keep=2, budget=60).messages)


VALUES = {"rules": RULES, "age": by_age, "any": by_length}
BEFORE = {"whole": as_it_is, "last rounds": last_rounds, "summary": with_summary}


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Draw a history to pack: sound, or mended, with things worth keeping in it."""
    history: list[Message] = []
    for at in range(draw(st.integers(0, 5))):
        history.append(user(draw(TELLING | SPOKEN)))
        for step in range(draw(st.integers(0, 2))):
            steps = draw(tool_steps(f"c{at}-{step}", SPOKEN))
            lost = draw(st.integers(0, len(steps) - 1))
            history.extend(steps[: len(steps) - lost])  # interrupted: some results never came
        if draw(st.booleans()):
            history.append(assistant(draw(TELLING | SPOKEN)))
    if draw(st.integers(0, 3)) == 0:
        history = [*draw(anything()), *history]
    if draw(st.integers(0, 3)) == 0:
        history = [*draw(sound()), *history]
    return [message for message in mend(history) if message.role != "system"]


@st.composite
def live_rounds(draw: st.DrawFn) -> list[Message]:
    """Draw the round at hand: a message, and what tools brought until now."""
    steps = draw(tool_steps("live", SPOKEN)) if draw(st.booleans()) else []
    return [user(draw(SPOKEN)), *steps]


Packer = Callable[..., Packed]
FIXED = ("Be brief.", ("at most 5000", "不要打电话"))  # the system prompt, and what is pinned


def leaving(
    history: list[Message],
    live: list[Message],
    budget: int,
    values: str,
    before: str,
    packer: Packer = pack,
) -> tuple[Packed, list[Message]]:
    """Return what one strategy sends on, and the history that it packed."""
    shown = BEFORE[before](history, budget)
    frame = Frame(budget, 0, COUNT, *FIXED, VALUES[values])
    packed = packer(lay_out(frame, shown, live, []), budget=budget, count=COUNT)
    return packed, shown


def wrong(packed: Packed, shown: list[Message], live: list[Message], budget: int) -> list[str]:
    """Return the promises that a packing breaks."""
    sent = [message for message in packed.messages() if message.role != "system"]
    found = [f.kind for f in faults(sent) if f.kind != "unread arguments"]
    if sent[len(sent) - len(live) :] != live:
        found.append("live round not whole")
    left = iter([*shown, *live])
    if not all(any(message is said for said in left) for message in sent):
        found.append("order changed, or said by nobody")
    read = sum(COUNT.message(message) for message in packed.messages())
    if packed.tokens > budget or read > packed.tokens:
        found.append("over budget")
    return found


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("values", VALUES)
@settings(STEADY, max_examples=50)
@given(conversations(), live_rounds(), st.integers(20, 400))
def test_what_leaves_is_sound_in_order_within_budget_with_the_live_round_whole(
    values: str, before: str, history: list[Message], live: list[Message], budget: int
) -> None:
    try:
        packed, shown = leaving(history, live, budget, values, before)
    except BudgetError:
        frame = Frame(budget, 0, COUNT, *FIXED)
        needed = sum(section.size(COUNT) for section in lay_out(frame, [], live, []))
        assert needed > budget
        return

    assert wrong(packed, shown, live, budget) == []
    sent = packed.messages()
    assert [m.role for m in from_openai(to_openai(sent))] == [m.role for m in sent]
    system, turns = to_anthropic(sent)
    again = from_anthropic(system, turns)
    assert [f for f in faults(again) if f.kind != "unread arguments"] == []
    assert all(a["role"] != b["role"] for a, b in pairwise(turns))


def splitting(sections: Sequence[Section], **options: object) -> Packed:
    """Pack each message by itself: the twin that the test must catch."""
    apart = [
        Section(f"{s.name} {i}", s.text, s.role, s.rank, s.value, (message,))
        for s in sections
        for i, message in enumerate(s.messages or (user(s.text),))
    ]
    kept = [s for i, s in enumerate(apart) if s.rank == 0 or i % 2]
    return pack(kept, budget=10_000, count=COUNT)


def reversing(sections: Sequence[Section], **options: object) -> Packed:
    return pack([*reversed(sections)], budget=10_000, count=COUNT)


@pytest.mark.parametrize("twin", [splitting, reversing])
def test_a_packer_that_breaks_a_promise_is_caught(twin: Packer) -> None:
    history = [
        user("any notes?"),
        assistant("", ToolCall("c1", "notes.list_notes")),
        tool(ToolResult("c1", "notes.list_notes", "one note")),
        assistant("one"),
        user("Do not change the public API."),
        assistant("ok"),
    ]
    live = [user("and now?")]

    packed, shown = leaving(history, live, 200, "rules", "whole", twin)

    assert wrong(packed, shown, live, 200) != []


@STEADY
@given(conversations(), live_rounds(), st.integers(40, 400))
def test_what_lasts_is_the_last_to_go(
    history: list[Message], live: list[Message], budget: int
) -> None:
    """By design: while anything of plain talk stays, nothing that lasts and fits was dropped."""
    try:
        packed, _ = leaving(history, live, budget, "rules", "whole")
    except BudgetError:
        assume(False)
    free = packed.free
    plain = [s for s in packed.kept if s.role == "history" and s.value < 6]
    taken = sum(s.size(COUNT) for s in plain)

    lost = [s for s in packed.dropped if s.value >= 6]

    assert all(s.size(COUNT) > free + taken for s in lost)
