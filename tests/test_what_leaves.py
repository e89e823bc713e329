"""What leaves for the model, whatever the history, the budget and the strategy.

Random histories (several calls in one message, results in any order, interrupted calls,
rounds without tools), random budgets, every way of choosing what stays: the result is one
that any provider accepts, in the order in which it was said, with the live round whole, and
so it is when it was written for either of the two wire formats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentkit.compress import Compression, as_message, compress, is_summary
from agentkit.context import Frame, lay_out
from agentkit.errors import BudgetError
from agentkit.memory.short import Strategy, shorten
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
from agentkit.monitor import Monitor
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


Shown = tuple[list[Message], list[Section]]  # what stays of the history, and what stands before it


def as_it_is(history: list[Message], budget: int) -> Shown:
    return history, []


def last_rounds(history: list[Message], budget: int) -> Shown:
    return [message for each in rounds(history)[-3:] for message in each.messages], []


def compressed(history: list[Message], budget: int) -> Shown:
    target = sum(map(COUNT.message, history)) * 2 // 3
    done = compress(history, count=COUNT, target=target, keep=2, budget=40)
    return list(done.messages), []


def remembered(strategy: Strategy) -> Callable[[list[Message], int], Shown]:
    """Return a strategy of short-term memory, with so few rounds that it has to act."""

    def keep(history: list[Message], budget: int) -> Shown:
        memory = shorten(history, strategy=strategy, count=COUNT, least=1, most=2, budget=budget)
        return memory.messages, memory.sections()

    return keep


def monitored(history: list[Message], budget: int) -> Shown:
    """Do what the monitor of a full window advises: compress, or go on from a hand-over."""
    monitor = Monitor(window=budget, compress_at=0.3, new_session_at=0.8)
    try:
        sections = lay_out(Frame(budget, 0, COUNT, *FIXED), history, [user("?")], [])
        monitor.record(pack(sections, budget=budget, count=COUNT))
    except BudgetError:
        return history, []
    done = monitor.act(history, count=COUNT)
    if done is None:
        return history, []
    if isinstance(done, Compression):
        return list(done.messages), []
    return [as_message(done)] if done.text else [], []


VALUES = {"rules": RULES, "age": by_age, "any": by_length}
BEFORE = {
    "whole": as_it_is,
    "last rounds": last_rounds,
    "compressed": compressed,
    "truncate": remembered("truncate"),
    "summary": remembered("summary"),
    "layered": remembered("layered"),
    "monitor": monitored,
}


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
) -> tuple[Packed, list[Section]]:
    """Return what one strategy sends on, and what it put before the history."""
    shown, besides = BEFORE[before](history, budget)
    frame = Frame(budget, 0, COUNT, *FIXED, VALUES[values])
    sections = lay_out(frame, shown, live, [], besides=besides)
    return packer(sections, budget=budget, count=COUNT), besides


def wrong(packed: Packed, history: list[Message], live: list[Message], budget: int) -> list[str]:
    """Return the promises that a packing breaks."""
    sent = [message for message in packed.messages() if message.role != "system"]
    found = [f.kind for f in faults(sent) if f.kind != "unread arguments"]
    if sent[len(sent) - len(live) :] != live:
        found.append("live round not whole")
    said = sent[1:] if sent and is_summary(sent[0]) and sent[0] not in history else sent
    left = iter([*history, *live])
    if not all(any(message == each for each in left) for message in said):
        found.append("order changed, or said by nobody")
    read = sum(COUNT.message(message) for message in packed.messages())
    if packed.tokens > budget or read > packed.tokens:
        found.append("over budget")
    if faults(sent) and found:
        return found  # no wire format would take it
    wired = packed.messages()
    return [*found, *wrong_openai(to_openai(wired)), *wrong_anthropic(to_anthropic(wired)[1])]


def wrong_openai(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Return what OpenAI's server would refuse."""
    found: list[str] = []
    waiting: set[str] = set()
    for entry in [*entries, {"role": "end", "content": "."}]:
        if entry["role"] == "tool":
            found += [] if entry["tool_call_id"] in waiting else ["openai: result without a call"]
            waiting.discard(entry["tool_call_id"])
            continue
        found += ["openai: call without a result"] if waiting else []
        waiting = {call["id"] for call in entry.get("tool_calls", ())}
        if not entry.get("content") and not waiting:
            found.append("openai: empty message")
    return found


def wrong_anthropic(turns: Sequence[dict[str, Any]]) -> list[str]:
    """Return what Anthropic's server would refuse."""
    found: list[str] = []
    waiting: list[str] = []
    for turn in [*turns, {"role": "end", "content": "."}]:
        blocks = turn["content"] if isinstance(turn["content"], list) else []
        answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if sorted(answered) != sorted(waiting):
            found.append("anthropic: calls and results differ")
        if any(block["type"] != "tool_result" for block in blocks[: len(answered)]):
            found.append("anthropic: something stands before the results")
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        if not turn["content"] or not all(text.strip() for text in texts):
            found.append("anthropic: empty message")
        waiting = [b["id"] for b in blocks if b["type"] == "tool_use"]
    roles = [turn["role"] for turn in turns]
    found += ["anthropic: no turns"] if any(a == b for a, b in pairwise(roles)) else []
    return found


def needed(live: list[Message], besides: list[Section]) -> int:
    """Return the tokens of what must stay."""
    sections = lay_out(Frame(10_000, 0, COUNT, *FIXED), [], live, [], besides=besides)
    return sum(section.size(COUNT) for section in sections if section.rank == 0)


def in_words(messages: Sequence[Message]) -> list[tuple[object, ...]]:
    """Return what must be the same on the other side of a wire."""
    return [(m.role, m.text, m.call_id, [call.id for call in m.tool_calls]) for m in messages]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("values", VALUES)
@settings(STEADY, max_examples=30)
@given(conversations(), live_rounds(), st.integers(-40, 300))
def test_what_leaves_is_sound_in_order_within_budget_with_the_live_round_whole(
    values: str, before: str, history: list[Message], live: list[Message], spare: int
) -> None:
    budget = max(needed(live, []) + spare, 20)
    try:
        packed, _ = leaving(history, live, budget, values, before)
    except BudgetError:
        _, besides = BEFORE[before](history, budget)
        assert needed(live, besides) > budget
        return

    assert wrong(packed, history, live, budget) == []
    sent = packed.messages()
    assert in_words(from_openai(to_openai(sent))) == in_words(sent)
    again = from_anthropic(*to_anthropic(sent))
    assert [f for f in faults(again) if f.kind != "unread arguments"] == []
    ids = [(m.call_id, [call.id for call in m.tool_calls]) for m in sent]
    assert sorted(each for each, _ in ids if each) == sorted(m.call_id for m in again if m.call_id)
    assert [c for _, calls in ids for c in calls] == [c.id for m in again for c in m.tool_calls]


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


def last_messages(history: list[Message], budget: int) -> Shown:
    return history[2:], []


def last_first(history: list[Message], budget: int) -> Shown:
    return [m for each in reversed(rounds(history)) for m in each.messages], []


def made_up(history: list[Message], budget: int) -> Shown:
    return [user("What nobody said."), *history[-2:]], []


def emptied(history: list[Message], budget: int) -> Shown:
    return [*history, assistant("")], []


HISTORY = [
    user("any notes?"),
    assistant("", ToolCall("c1", "notes.list_notes")),
    tool(ToolResult("c1", "notes.list_notes", "one note")),
    assistant("one"),
    user("Do not change the public API."),
    assistant("ok"),
]
LIVE = [user("and now?")]


@pytest.mark.parametrize("twin", [splitting, reversing])
def test_a_packer_that_breaks_a_promise_is_caught(twin: Packer) -> None:
    packed, _ = leaving(HISTORY, LIVE, 200, "rules", "whole", twin)

    assert wrong(packed, HISTORY, LIVE, 200) != []


@pytest.mark.parametrize(
    ("twin", "broken"),
    [
        (last_messages, "lost call"),
        (last_first, "order changed, or said by nobody"),
        (made_up, "order changed, or said by nobody"),
        (emptied, "empty message"),
    ],
)
def test_a_strategy_that_breaks_a_promise_is_caught(
    monkeypatch: pytest.MonkeyPatch,
    twin: Callable[[list[Message], int], Shown],
    broken: str,
) -> None:
    monkeypatch.setitem(BEFORE, "twin", twin)

    packed, _ = leaving(HISTORY, LIVE, 200, "age", "twin")

    assert broken in wrong(packed, HISTORY, LIVE, 200)


CALLED: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}
RETURNED: dict[str, Any] = {"role": "tool", "tool_call_id": "c1", "content": "one"}
USED = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1"}]}
RESULT = {"type": "tool_result", "tool_use_id": "c1"}
SAID = {"type": "text", "text": "and now?"}


@pytest.mark.parametrize(
    ("entries", "broken"),
    [
        ([CALLED, RETURNED], []),
        ([CALLED], ["openai: call without a result"]),
        ([RETURNED], ["openai: result without a call"]),
        ([CALLED, RETURNED, RETURNED], ["openai: result without a call"]),
        ([{"role": "assistant", "content": None}], ["openai: empty message"]),
    ],
)
def test_what_openai_would_refuse_is_seen(entries: list[dict[str, Any]], broken: list[str]) -> None:
    assert wrong_openai(entries) == broken


@pytest.mark.parametrize(
    ("content", "broken"),
    [
        ([RESULT, SAID], []),
        ([SAID], ["anthropic: calls and results differ"]),
        ([RESULT, RESULT], ["anthropic: calls and results differ"]),
        ([SAID, RESULT], ["anthropic: something stands before the results"]),
        ([RESULT, {"type": "text", "text": " "}], ["anthropic: empty message"]),
    ],
)
def test_what_anthropic_would_refuse_is_seen(content: list[Any], broken: list[str]) -> None:
    assert wrong_anthropic([USED, {"role": "user", "content": content}]) == broken
    assert wrong_anthropic([USED, USED])[-1] == "anthropic: no turns"


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
