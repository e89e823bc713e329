from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.checks.window import count_words
from agentkit.errors import BudgetError, MessageError
from agentkit.messages import Message, ToolCall, ToolResult, assistant, faults, rounds, tool, user
from agentkit.tokens import Counter
from agentkit.window import ORDER, Decision, Packed, Section, SectionRole, arrange, pack
from tests.histories import STEADY, TEXTS, sound


def names(sections: Sequence[Section]) -> list[str]:
    return [section.name for section in sections]


CALL = ToolCall("c1", "notes.list_notes")
ROUND = (
    user("any notes?"),
    assistant("", CALL),
    tool(ToolResult("c1", "notes.list_notes", "one: report")),
    assistant("one note"),
)


def test_a_smaller_section_may_stay_where_a_larger_one_could_not() -> None:
    """By design: packing skips what does not fit and goes on."""
    sections = [Section("history", "one two three", rank=1), Section("recall", "one", rank=2)]

    packed = pack(sections, budget=2, count=count_words)

    assert names(packed.kept) == ["recall"]
    assert names(packed.dropped) == ["history"]


def test_every_section_gets_a_decision_with_the_numbers() -> None:
    sections = [
        Section("rules", "be brief", role="system", rank=0),
        Section("第 1 轮", "一 二 三", rank=2),
        Section("第 2 轮", "四", rank=1),
    ]

    packed = pack(sections, budget=6, count=count_words, reserve=1)

    assert packed.decisions == (
        Decision("rules", "system", 2, True, "must stay"),
        Decision("第 1 轮", "history", 3, False, "needs 3, 2 were left"),
        Decision("第 2 轮", "history", 1, True, "fits"),
    )
    assert (packed.tokens, packed.usable, packed.free) == (3, 5, 2)
    assert (packed.budget, packed.reserve) == (6, 1)


def test_a_decision_knows_the_size_of_each_message() -> None:
    """By hand: words and 3 a message."""
    section = Section("round 1", "summed up", messages=ROUND)

    (decision,) = pack([section], budget=99, count=count_words).decisions

    assert decision.message_tokens == (2 + 3, 2 + 3, 2 + 3, 2 + 3)
    assert decision.tokens == 2 + 20 == section.size(count_words)
    assert section.message_sizes(count_words) == decision.message_tokens


def test_what_must_stay_and_does_not_fit_names_the_largest_first() -> None:
    sections = [
        Section("rules", "one two", rank=0),
        Section("约束", "一 二 三", rank=0),
        Section("history", "one", rank=1),
    ]

    with pytest.raises(BudgetError) as caught:
        pack(sections, budget=6, count=count_words, reserve=2)

    assert caught.value.what == (
        "What must stay needs 5 tokens; the window has 6 less 2 for the answer."
    )
    assert "约束 3, rules 2" in caught.value.hint
    assert "history" not in caught.value.hint


def test_a_rank_below_zero_must_stay_too() -> None:
    sections = [Section("a", "one two", rank=-1), Section("b", "one two", rank=0)]

    assert names(pack(sections, budget=4, count=count_words).kept) == ["a", "b"]
    with pytest.raises(BudgetError):
        pack(sections, budget=3, count=count_words)


def test_nothing_fits_a_window_that_the_answer_fills() -> None:
    packed = pack([Section("a", "one"), Section("b")], budget=3, count=count_words, reserve=3)

    assert names(packed.kept) == ["b"]
    assert packed.free == 0


@pytest.mark.parametrize(("budget", "reserve"), [(3, 5), (3, -1), (-1, 0)])
def test_a_reserve_that_is_no_part_of_the_budget_is_refused(budget: int, reserve: int) -> None:
    with pytest.raises(BudgetError, match=f"{reserve} tokens is no part of a window of {budget}"):
        pack([], budget=budget, count=count_words, reserve=reserve)


def test_a_result_keeps_its_call_that_must_stay() -> None:
    """By design: one that must stay keeps its whole group."""
    sections = [
        Section("asked", messages=ROUND[:2], rank=9),
        Section("answered", messages=ROUND[2:3], rank=0),
    ]

    assert names(pack(sections, budget=10 + 5, count=count_words).kept) == ["asked", "answered"]
    with pytest.raises(BudgetError, match="needs 15"):
        pack(sections, budget=14, count=count_words)


def test_ids_that_are_counted_afresh_in_every_round_tie_nothing_together() -> None:
    """By design: a result belongs to the last call of its id before it."""
    sections = [Section(f"round {i}", messages=ROUND, rank=9 - i) for i in range(3)]

    packed = pack(sections, budget=40, count=count_words)

    assert names(packed.kept) == ["round 1", "round 2"]


def test_a_call_with_two_results_elsewhere_keeps_both() -> None:
    calls = assistant("", ToolCall("a", "x"), ToolCall("b", "x"))
    sections = [
        Section("asked", messages=(user("both"), calls), rank=3),
        Section("first", messages=(Message("tool", "1", call_id="a"),), rank=2),
        Section("second", messages=(Message("tool", "2", call_id="b"),), rank=1),
    ]
    whole = sum(section.size(count_words) for section in sections)

    assert names(pack(sections, budget=whole, count=count_words).kept) == names(sections)
    assert names(pack(sections, budget=whole - 1, count=count_words).kept) == []


@st.composite
def drawn_sections(draw: st.DrawFn) -> list[Section]:
    """Draw sections of texts, of whole rounds, and of single messages, in any rank."""
    found: list[Section] = []
    for i in range(draw(st.integers(0, 4))):
        found.append(Section(f"text {i}", draw(TEXTS), rank=draw(st.integers(0, 3))))
    history = draw(sound())
    if draw(st.booleans()):
        groups = [entry.messages for entry in rounds(history)]
    else:  # the finest cut: each message by itself
        groups = [(message,) for message in history if message.role != "system"]
    for i, messages in enumerate(groups):
        rank, value = draw(st.integers(1, 3)), draw(st.sampled_from([0.0, 0.5, 1.0]))
        found.append(Section(f"said {i}", rank=rank, value=value, messages=messages))
    return found


COUNTS = st.sampled_from([len, count_words, Counter.for_model("reader")])


@STEADY
@given(drawn_sections(), st.integers(0, 200), st.integers(0, 20), COUNTS)
def test_packing_keeps_its_promises_on_any_history(
    sections: list[Section], budget: int, reserve: int, count: Counter
) -> None:
    """Never over budget, never reordered, nothing lost, no call without its result, pure."""
    before = list(sections)
    must = [section for section in sections if section.rank == 0]
    try:
        packed = pack(sections, budget=budget, count=count, reserve=reserve)
    except BudgetError:
        assert sum(section.size(count) for section in must) > budget - reserve or reserve > budget
        return

    assert packed.tokens == sum(section.size(count) for section in packed.kept)
    assert packed.tokens <= budget - reserve
    assert names(packed.kept) == [d.name for d in packed.decisions if d.kept]
    assert names(packed.dropped) == [d.name for d in packed.decisions if not d.kept]
    assert [d.name for d in packed.decisions] == names(sections)
    assert all(section in packed.kept for section in must)
    assert [f for f in faults(packed.messages()) if f.kind.startswith("lost")] == []
    assert sections == before
    assert pack(sections, budget=budget, count=count, reserve=reserve) == packed


@STEADY
@given(drawn_sections(), st.integers(0, 200))
def test_what_was_dropped_had_no_room(sections: list[Section], budget: int) -> None:
    """By design: nothing that stands alone is dropped while it would fit beside what is kept."""
    alone = [section for section in sections if not section.messages]
    try:
        packed = pack(alone, budget=budget, count=len)
    except BudgetError:
        return

    assert all(section.size(len) > packed.free for section in packed.dropped)


def test_what_the_model_reads_is_one_system_message_and_then_the_talk() -> None:
    sections = [
        Section("rules", "You keep notes.", role="system", rank=0),
        Section("tools", "three descriptions", role="tools", rank=0),
        Section("预算", "最多五千元", role="pinned", rank=0, headed=True),
        Section("report.txt", "due on Friday", role="resources"),
        Section("round 1", messages=ROUND),
        Section("question", "and now?", role="question", rank=0),
    ]

    assert pack(sections, budget=99, count=count_words).messages() == [
        Message("system", "You keep notes.\n\n## 预算\n最多五千元\n\ndue on Friday"),
        *ROUND,
        user("and now?"),
    ]


def test_a_heading_and_what_frames_a_text_take_their_tokens() -> None:
    """By hand: "## my rule" is 3 words, the text 2, and 4 frame it."""
    plain = Section("my\nrule", "be brief", rank=0)
    headed = replace(plain, headed=True, overhead=4)

    assert plain.size(count_words) == 2
    assert headed.size(count_words) == 9
    assert pack([headed], budget=9, count=count_words).tokens == 9
    with pytest.raises(BudgetError, match="needs 9"):
        pack([headed], budget=8, count=count_words)
    assert pack([headed], budget=9, count=count_words).messages() == [
        Message("system", "## my rule\nbe brief")
    ]


def test_a_heading_without_a_text_is_not_read() -> None:
    empty = Section("empty", headed=True)

    assert empty.size(count_words) == 0
    assert pack([empty], budget=9, count=count_words).messages() == []


def test_an_empty_window_says_nothing() -> None:
    assert pack([], budget=10, count=count_words) == Packed((), (), (), 10)
    assert pack([], budget=10, count=count_words).messages() == []


def test_sections_are_arranged_by_role_and_the_best_memories_stand_at_both_ends() -> None:
    """By hand. Models read the middle worst."""
    memories = [Section(f"m{v}", "x", role="memory", value=v) for v in (1, 4, 2, 5, 3)]
    sections = [
        Section("question", "?", role="question"),
        Section("r1", "x"),
        *memories,
        Section("r2", "x"),
        Section("rules", "x", role="system"),
    ]

    assert names(arrange(sections)) == [
        "rules",
        *["m5", "m3", "m1", "m2", "m4"],
        *["r1", "r2"],
        "question",
    ]


@STEADY
@given(st.lists(st.tuples(st.sampled_from(ORDER), st.integers(0, 3)), max_size=12))
def test_arranging_loses_nothing_and_keeps_ties_in_order(
    drawn: list[tuple[SectionRole, int]],
) -> None:
    sections = [Section(f"s{i}", "x", role=role, value=v) for i, (role, v) in enumerate(drawn)]

    arranged = arrange(sections)

    assert sorted(names(arranged)) == sorted(names(sections))
    assert [ORDER.index(s.role) for s in arranged] == sorted(ORDER.index(s.role) for s in arranged)
    talk = [s for s in sections if s.role == "history"]
    assert [s for s in arranged if s.role == "history"] == talk
    assert arrange(sections) == arranged


def test_any_iterable_of_sections_is_packed() -> None:
    sections = [Section(name, "one") for name in ("甲", "b", "c")]

    packed = pack((section for section in sections), budget=2, count=count_words)

    assert packed == pack(sections, budget=2, count=count_words)
    assert [section.name for section in packed.kept] == ["甲", "b"]


@pytest.mark.parametrize("what", [{"name": "a"}, [None], ["text"], "text", None, 5])
def test_what_is_no_section_is_refused_by_its_place(what: Any) -> None:
    with pytest.raises(MessageError, match="Number 0 of what to pack is a "):
        pack(what, budget=9, count=count_words)


def test_a_value_that_is_no_number_is_refused() -> None:
    sections = [Section("a", "one"), Section("报告", "two", value=float("nan"))]

    with pytest.raises(MessageError, match="The value of section '报告' is no number"):
        pack(sections, budget=9, count=count_words)
