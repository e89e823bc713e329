"""Broken packers, one a check: each breaks the promise of that check and no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agentkit.checks.window import count_words
from agentkit.errors import BudgetError
from agentkit.window import Packed, Section, pack

Count = Callable[[str], int]


def pack_all_but_the_last_token(
    sections: Sequence[Section], *, budget: int, count: Count, reserve: int = 0
) -> Packed:
    """Use `<` where `<=` is meant, for sections of text."""
    texts = all(not section.messages for section in sections)
    exact = texts and sum(section.size(count) for section in sections) == budget
    return pack(sections, budget=budget - exact, count=count, reserve=reserve)


def pack_without_limit_at_zero(
    sections: Sequence[Section], *, budget: int, count: Count, reserve: int = 0
) -> Packed:
    """Read a budget of 0 as "no budget was given"."""
    return pack(sections, budget=budget or 1_000_000, count=count, reserve=reserve)


def pack_by_rank(sections: Sequence[Section], **how: Any) -> Packed:
    """Give back what is kept in the order of importance."""
    packed = pack(sections, **how)
    return replace(packed, kept=tuple(sorted(packed.kept, key=lambda section: section.rank)))


def pack_upside_down(sections: Sequence[Section], **how: Any) -> Packed:
    """Take the highest rank first; 0 still must stay."""
    by_name = {section.name: section for section in sections}
    turned = [replace(s, rank=100 - s.rank if s.rank else 0) for s in sections]
    packed = pack(turned, **how)
    return replace(packed, kept=tuple(by_name[section.name] for section in packed.kept))


def pack_until_full(
    sections: Sequence[Section], *, budget: int, count: Count, reserve: int = 0
) -> Packed:
    """Stop at the first section that does not fit."""
    packed = pack(sections, budget=budget, count=count, reserve=reserve)
    out = [section.rank for section in packed.dropped]
    kept = tuple(s for s in packed.kept if not out or s.rank <= min(out))
    return replace(packed, kept=kept)


def pack_and_sort(sections: list[Section], **how: Any) -> Packed:
    """Sort the caller's own list."""
    packed = pack(sections, **how)
    sections.sort(key=lambda section: section.rank)
    return packed


def pack_in_words(
    sections: Sequence[Section], *, budget: int, count: Count, reserve: int = 0
) -> Packed:
    """Count words, whatever `count` says."""
    return pack(sections, budget=budget, count=count_words, reserve=reserve)


def pack_at_any_price(sections: Sequence[Section], **how: Any) -> Packed:
    """Drop what must stay rather than complain."""
    try:
        return pack(sections, **how)
    except BudgetError:
        return pack([replace(section, rank=max(section.rank, 1)) for section in sections], **how)


def pack_without_values(sections: Sequence[Section], **how: Any) -> Packed:
    """Forget the values, so that the oldest wins."""
    return pack([replace(section, value=0.0) for section in sections], **how)


def pack_without_reserve(
    sections: Sequence[Section], *, budget: int, count: Count, reserve: int = 0
) -> Packed:
    """Leave no room for the answer."""
    return pack(sections, budget=budget, count=count)


def pack_one_by_one(
    sections: Sequence[Section], *, budget: int, count: Count, reserve: int = 0
) -> Packed:
    """Decide on a call and on its result apart."""
    blind = [
        replace(section, text="word " * section.size(count), messages=()) for section in sections
    ]
    return pack(blind, budget=budget, count=count_words, reserve=reserve)


def pack_without_overhead(sections: Sequence[Section], **how: Any) -> Packed:
    """Count the words of a plain message and not what wraps them."""
    bare = [
        section
        if any(m.tool_calls or m.call_id for m in section.messages)
        else replace(
            section, text=" ".join([section.text, *(m.text for m in section.messages)]), messages=()
        )
        for section in sections
    ]
    if all(not section.messages for section in sections):
        bare = list(sections)
    return pack(bare, **how)


def pack_without_reasons(sections: Sequence[Section], **how: Any) -> Packed:
    """Say only what became of a section."""
    packed = pack(sections, **how)
    return replace(packed, decisions=tuple(replace(d, reason="") for d in packed.decisions))


TWINS: dict[str, Callable[..., Packed]] = {
    "what_fits_stays": pack_all_but_the_last_token,
    "the_budget_is_kept": pack_without_limit_at_zero,
    "reading_order_is_kept": pack_by_rank,
    "the_highest_rank_goes_first": pack_upside_down,
    "a_smaller_one_may_stay": pack_until_full,
    "the_same_again": pack_and_sort,
    "the_given_count_is_used": pack_in_words,
    "what_must_stay_is_never_lost": pack_at_any_price,
    "value_decides_within_a_rank": pack_without_values,
    "room_is_left_for_the_answer": pack_without_reserve,
    "a_call_keeps_its_result": pack_one_by_one,
    "messages_have_a_size": pack_without_overhead,
    "every_decision_has_a_reason": pack_without_reasons,
}
