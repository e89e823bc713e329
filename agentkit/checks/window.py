"""What a packer must do: `CHECKS` for any, `FULL_CHECKS` for one that meets real histories.

    pack(sections, *, budget, count) ──▶ something with `.kept`, sections in order

Every section in these checks is worth its words, so each size can be seen by eye.

Read after: checks/__init__.py, window.py.
Built in:   notebooks/02_the_context_window.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agentkit.checks import (
    expect,
    expect_equal,
    expect_list,
    expect_names,
    expect_raises,
    kind_of,
)
from agentkit.errors import BudgetError
from agentkit.messages import ToolCall, ToolResult, assistant, tool, user
from agentkit.tokens import MESSAGE_OVERHEAD
from agentkit.window import Section
from agentkit.window import pack as _pack

Pack = Callable[..., Any]


def count_words(text: str) -> int:
    """Return the words of a text: a way to count that one can check by eye."""
    return len(text.split())


def what_fits_stays(pack: Pack) -> None:
    """When everything fits, nothing is dropped, to the last token."""
    sections = [Section("a", "one two", rank=1), Section("b", "three", rank=9)]
    expect_names(pack(sections, budget=3, count=count_words).kept, ["a", "b"])


def the_budget_is_kept(pack: Pack) -> None:
    """What is kept is never larger than the budget, in tokens and not in characters."""
    sections = [Section(f"s{i}", "one two three", rank=1 + i % 3) for i in range(20)]
    for budget in (0, 1, 2, 3, 10, 59):
        kept = pack(sections, budget=budget, count=count_words).kept
        used = sum(count_words(section.text) for section in kept)
        expect(used <= budget, f"{used} words are kept in a budget of {budget}.")


def reading_order_is_kept(pack: Pack) -> None:
    """Packing drops sections but never reorders them."""
    sections = [Section("late", "one", rank=5), Section("early", "two", rank=1)]
    expect_names(pack(sections, budget=5, count=count_words).kept, ["late", "early"])


def the_highest_rank_goes_first(pack: Pack) -> None:
    """Of two that do not fit together, the one with the lower rank stays."""
    sections = [Section("weak", "one two", rank=7), Section("strong", "three four", rank=1)]
    expect_names(pack(sections, budget=3, count=count_words).kept, ["strong"])


def a_smaller_one_may_stay(pack: Pack) -> None:
    """A section too large for what is left is skipped, and the next one is tried."""
    sections = [Section("large", "one two three", rank=1), Section("small", "one", rank=2)]
    expect_names(pack(sections, budget=2, count=count_words).kept, ["small"])


def the_same_again(pack: Pack) -> None:
    """The same sections and budget give the same result, and the input is untouched."""
    sections = [Section(f"rank {rank}", "one two", rank=rank) for rank in (3, 2, 1)]
    before = list(sections)
    first = [section.name for section in pack(sections, budget=4, count=count_words).kept]
    expect_equal(sections, before, "the list that was passed in")
    again = [section.name for section in pack(sections, budget=4, count=count_words).kept]
    expect_equal(again, first, "names kept the second time")


def the_given_count_is_used(pack: Pack) -> None:
    """Size is what `count` says, so the same packer works in words, tokens or characters."""
    sections = [Section("english", "to do"), Section("chinese", "待办事项")]
    expect_names(pack(sections, budget=5, count=len).kept, ["english"])
    expect_names(pack(sections, budget=5, count=count_words).kept, ["english", "chinese"])


CHECKS = (
    what_fits_stays,
    the_budget_is_kept,
    reading_order_is_kept,
    the_highest_rank_goes_first,
    a_smaller_one_may_stay,
    the_same_again,
    the_given_count_is_used,
)


def what_must_stay_is_never_lost(pack: Pack) -> None:
    """When sections of rank 0 do not fit, an error names their sizes."""
    sections = [Section("rules", "never spend over 5000", rank=0), Section("talk", "hi", rank=1)]
    expect_names(pack(sections, budget=4, count=count_words).kept, ["rules"])
    said = _refusal(pack, sections, budget=3)
    expect("rules 4" in said, f"the error does not name `rules 4`: {said}")
    said = _refusal(pack, [*sections, Section("question", "why not?", rank=0)], budget=5)
    expect("rules 4" in said and "question 2" in said, f"the error does not name both: {said}")


def value_decides_within_a_rank(pack: Pack) -> None:
    """Among equals of rank the most valuable stays, however old it is."""
    sections = [
        Section("old but vital", "paying customer", rank=2, value=0.9),
        Section("small talk", "nice weather", rank=2, value=0.1),
        Section("latest", "thanks bye", rank=2, value=0.2),
    ]
    packed = pack(sections, budget=4, count=count_words)
    expect_names(packed.kept, ["old but vital", "latest"])


def room_is_left_for_the_answer(pack: Pack) -> None:
    """Tokens in reserve stay free."""
    sections = [Section("a", "one two"), Section("b", "three")]
    expect_names(pack(sections, budget=4, count=count_words, reserve=2).kept, ["a"])


def a_call_keeps_its_result(pack: Pack) -> None:
    """A tool call and its result stay together or go together."""
    call = ToolCall("c1", "notes.list_notes")
    result = ToolResult("c1", "notes.list_notes", "one note: report")
    sections = [
        Section("asked", messages=(user("any notes?"), assistant("", call))),
        Section("answered", messages=(tool(result),), role="tool results"),
    ]
    both = sum(section.size(count_words) for section in sections)
    expect_names(pack(sections, budget=both, count=count_words).kept, ["asked", "answered"])
    expect_names(pack(sections, budget=both - 1, count=count_words).kept, [])


def messages_have_a_size(pack: Pack) -> None:
    """A section of messages costs their texts, their calls and 3 tokens a message."""
    section = Section("round 1", messages=(user("hello you"), assistant("hello")), rank=1)
    size = 3 + 2 * MESSAGE_OVERHEAD
    expect_names(pack([section], budget=size, count=count_words).kept, ["round 1"])
    expect_names(pack([section], budget=size - 1, count=count_words).kept, [])


def every_decision_has_a_reason(pack: Pack) -> None:
    """What was dropped is listed, with the tokens it needed and those that were left."""
    sections = [Section("a", "one two"), Section("b", "one two three")]
    packed = pack(sections, budget=4, count=count_words)
    expect_names(packed.dropped, ["b"])
    reason = packed.decisions[1].reason
    expect("3" in reason and "2" in reason, f"the reason says neither 3 nor 2: {reason!r}")


def _refusal(pack: Pack, sections: Sequence[Section], *, budget: int) -> str:
    """Return what the error says when the sections of rank 0 do not fit."""
    need = sum(count_words(section.text) for section in sections if section.rank == 0)

    def kept() -> list[str]:
        return [s.name for s in pack(sections, budget=budget, count=count_words).kept]

    return str(expect_raises(BudgetError, kept, f"{need} words of rank 0 into {budget}"))


FULL_CHECKS = (
    *CHECKS,
    what_must_stay_is_never_lost,
    value_decides_within_a_rank,
    room_is_left_for_the_answer,
    a_call_keeps_its_result,
    messages_have_a_size,
    every_decision_has_a_reason,
)


def the_survivors_are_foreseen(guess: Sequence[str] | None) -> None:
    """You name the sections that stay of `PUZZLE` with a budget of 10 words, in order."""
    if guess is None:
        raise NotImplementedError
    said = expect_list(guess, "the sections that stay")
    sizes = {section.name: count_words(section.text) for section in PUZZLE}
    unknown = [name for name in said if name not in sizes]
    expect(not unknown, f"not in PUZZLE: {unknown}.", hint=f"Its names are {list(sizes)}.")
    expect(
        said == [name for name in sizes if name in said],
        f"{said} is not the order of reading.",
        hint="What is kept comes back in its original order, each once.",
    )
    total = sum(sizes[name] for name in said)
    expect(total <= 10, f"yours take {total} words, and 10 fit.", hint=_BY_RANK)
    wanted = [section.name for section in _pack(PUZZLE, budget=10, count=count_words).kept]
    right = sum((name in said) == (name in wanted) for name in sizes)
    expect(said == wanted, f"you are right about {right} of {len(sizes)} sections.", hint=_BY_RANK)


_BY_RANK = "Go by rank, write down how many words are left, and skip what does not fit."


def first_come_wastes_room(attempt: tuple[Sequence[Section], int] | None) -> None:
    """Your sections and budget make `pack` leave more room free than it uses, for nothing.

    For nothing: each section that was left out would fit an empty window.
    """
    if attempt is None:
        raise NotImplementedError
    expect(
        isinstance(attempt, tuple) and len(attempt) == 2 and isinstance(attempt[1], int),
        f"expected a list of sections and a budget, got {kind_of(attempt)}.",
        hint="Write ([Section(...), ...], 10).",
    )
    sections, budget = expect_list(attempt[0], "your sections"), attempt[1]
    packed = _pack(sections, budget=budget, count=count_words)
    sizes = [decision.tokens for decision in packed.decisions if not decision.kept]
    expect(sizes, "nothing was left out.", hint="Make the sections larger or the budget smaller.")
    expect(
        max(sizes, default=0) <= budget,
        f"a section of {max(sizes, default=0)} words never fits into {budget}.",
    )
    expect(
        packed.free > packed.tokens,
        f"{packed.tokens} words are used and {packed.free} are free.",
        hint="What if the section of the best rank is small, and all others are large?",
    )


PUZZLE = (
    Section("rules", "you keep notes", rank=0),
    Section("round 1", "i pay for priority", rank=4),
    Section("round 2", "nice weather", rank=3),
    Section("round 3", "the report is due", rank=2),
    Section("question", "when?", rank=0),
)
PREDICT_CHECKS = (the_survivors_are_foreseen,)
REFUSE_CHECKS = (*CHECKS, what_must_stay_is_never_lost)
BREAK_CHECKS = (first_come_wastes_room,)
