"""Packs prompt sections into a context window of fixed size.

    sections + budget  ──pack()──▶  Packed (what the model reads, and what was left out)

The window is a budget in tokens, and every turn spends it again from zero.
`pack` is a pure function: the same sections and budget give the same result,
so a packing can be replayed from a trace and compared in a test.

Read after: tokens.py, messages.py.     Read next: monitor.py.
Built in:   notebooks/02_the_context_window.ipynb
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agentkit.errors import BudgetError, MessageError
from agentkit.messages import Message
from agentkit.text import one_line
from agentkit.tokens import message_size

SectionRole = Literal[
    "system",
    "tools",
    "pinned",
    "summary",
    "memory",
    "resources",
    "history",
    "tool results",
    "question",
]
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Section:
    """One part of what a model may read; it is kept whole or left out whole.

    Attributes:
        name: Unique in its window, e.g. "round 3".
        text: What it says. Empty when it holds messages instead.
        role: Its place in the window, e.g. "history".
        rank: 0 (or below) must stay; of the rest the highest number is the first to go.
        value: Among sections of one rank, the lowest value is the first to go.
        messages: For history: whole rounds, so that a call keeps its result.
        headed: Its text is read under its name as a heading, which counts too.
        overhead: Tokens of what frames its text, e.g. 3 for a message of its own.
    """

    name: str
    text: str = ""
    role: SectionRole = "history"
    rank: int = 1
    value: float = 0.0
    messages: tuple[Message, ...] = ()
    headed: bool = field(default=False, repr=False)
    overhead: int = field(default=0, repr=False)

    @property
    def read_as(self) -> str:
        """Its text as the model reads it."""
        return f"## {one_line(self.name)}\n{self.text}" if self.headed and self.text else self.text

    def size(self, count: Count) -> int:
        """Return its tokens: those of its text as it is read, and of each message."""
        return self.text_size(count) + sum(self.message_sizes(count))

    def text_size(self, count: Count) -> int:
        """Return the tokens of its text, with what frames it."""
        return self.overhead + (count(self.read_as) if self.text else 0)

    def message_sizes(self, count: Count) -> tuple[int, ...]:
        """Return the tokens of each of its messages."""
        return tuple(message_size(message, count) for message in self.messages)


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one section.

    Attributes:
        name: The section's.
        role: The section's.
        tokens: Its size.
        kept: Whether the model reads it.
        reason: Why, e.g. "needs 40, 12 were left".
        message_tokens: The part of `tokens` that each of its messages takes.
    """

    name: str
    role: SectionRole
    tokens: int
    kept: bool
    reason: str
    message_tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Packed:
    """What the model reads, and what was left out.

    Attributes:
        kept: In reading order.
        dropped: In reading order.
        decisions: One a section, in reading order.
        budget: Tokens of the window.
        reserve: The part of `budget` that is kept for the answer.
    """

    kept: tuple[Section, ...]
    dropped: tuple[Section, ...]
    decisions: tuple[Decision, ...]
    budget: int
    reserve: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of what is kept."""
        return sum(decision.tokens for decision in self.decisions if decision.kept)

    @property
    def usable(self) -> int:
        """Tokens the sections may use: the budget less the reserve."""
        return self.budget - self.reserve

    @property
    def free(self) -> int:
        """Tokens that are usable and not used."""
        return self.usable - self.tokens

    def messages(self) -> list[Message]:
        """Return what the model reads: one system message, then the messages.

        The texts of all sections make the system message, an empty line between two. Tool
        descriptions are left out: they travel beside the messages, but their size counts.
        """
        texts = [s for s in self.kept if s.text and s.role not in ("tools", "question")]
        parts = [section.read_as for section in texts]
        found = [Message("system", "\n\n".join(parts))] if parts else []
        for section in self.kept:
            found.extend(section.messages)
            if section.role == "question" and section.text:
                found.append(Message("user", section.text))
        return found


def pack(sections: Iterable[Section], *, budget: int, count: Count, reserve: int = 0) -> Packed:
    """Keep the sections that matter most and fit; never change their order.

    Sections are taken by (rank, -value, position); one that does not fit is skipped
    and the next is tried. Sections that share a tool call and its result stay or go
    together, under the strongest rank of the group.

    Args:
        sections: In reading order.
        budget: Tokens of the whole window.
        count: Returns the tokens of a text, e.g. a `Counter`.
        reserve: Tokens kept free for the answer.

    Raises:
        BudgetError: What must stay (rank 0) does not fit; names the sizes. Or the
            reserve is no part of the budget.
        MessageError: Something among the sections is none.
    """
    sections = _checked(sections)
    if not 0 <= reserve <= budget:
        raise BudgetError(
            f"A reserve of {reserve} tokens is no part of a window of {budget}.",
            hint="Reserve at least 0 and at most the budget, e.g. a tenth of it.",
        )
    parts = [section.message_sizes(count) for section in sections]
    sizes = [s.text_size(count) + sum(p) for s, p in zip(sections, parts, strict=True)]
    groups = _groups(sections)
    usable = budget - reserve
    _check_pinned(sections, groups, sizes, usable, budget)
    left = usable
    reasons: dict[int, tuple[bool, str]] = {}
    for group in _by_importance(sections, groups):
        size = sum(sizes[i] for i in group)
        fits = size <= left
        must = _must_stay(sections, group)
        reason = "must stay" if must else "fits" if fits else f"needs {size}, {left} were left"
        reasons.update(dict.fromkeys(group, (fits, reason)))
        left -= size if fits else 0
    decisions = tuple(
        Decision(section.name, section.role, sizes[i], *reasons[i], parts[i])
        for i, section in enumerate(sections)
    )
    return Packed(
        tuple(s for s, d in zip(sections, decisions, strict=True) if d.kept),
        tuple(s for s, d in zip(sections, decisions, strict=True) if not d.kept),
        decisions,
        budget,
        reserve,
    )


def _checked(sections: Iterable[Section]) -> Sequence[Section]:
    """Return the sections as they can be gone through more than once."""
    checked = tuple(sections) if isinstance(sections, Iterable) else (sections,)
    for position, section in enumerate(checked):
        if not isinstance(section, Section):
            raise MessageError(
                f"Number {position} of what to pack is a {type(section).__name__}, no section.",
                hint='Wrap a text first: Section("rules", text).',
            )
        if math.isnan(section.value):
            raise MessageError(
                f"The value of section {section.name!r:.60} is no number.",
                hint="Give a number, e.g. from 0 to 1; of equals the first stays.",
            )
    return checked


def _must_stay(sections: Sequence[Section], group: Sequence[int]) -> bool:
    """Return whether one of a group is ranked 0, or below."""
    return any(sections[i].rank <= 0 for i in group)


def _check_pinned(
    sections: Sequence[Section],
    groups: Sequence[list[int]],
    sizes: Sequence[int],
    usable: int,
    budget: int,
) -> None:
    """Raise BudgetError when what must stay is larger than the window."""
    must = {i for group in groups if _must_stay(sections, group) for i in group}
    needed = sum(sizes[i] for i in must)
    if needed <= usable:
        return
    largest = sorted(must, key=lambda i: (-sizes[i], i))
    named = ", ".join(f"{sections[i].name} {sizes[i]}" for i in largest[:6])
    reserved = f" less {budget - usable} for the answer" if budget != usable else ""
    raise BudgetError(
        f"What must stay needs {needed} tokens; the window has {budget}{reserved}.",
        hint=f"Shorten or unpin one of: {named}; or choose a model with a larger window.",
    )


def _groups(sections: Sequence[Section]) -> list[list[int]]:
    """Return the positions of the sections, a result together with its call.

    A result belongs to the last call of its id before it: some providers count the
    ids of their calls afresh in every turn.
    """
    parent = list(range(len(sections)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    caller: dict[str, int] = {}
    for i, section in enumerate(sections):
        for message in section.messages:
            caller.update((call.id, i) for call in message.tool_calls)
            if message.call_id in caller:
                first, second = sorted((root(caller[message.call_id]), root(i)))
                parent[second] = first
    groups: dict[int, list[int]] = {}
    for i in range(len(sections)):
        groups.setdefault(root(i), []).append(i)
    return list(groups.values())


def _by_importance(sections: Sequence[Section], groups: list[list[int]]) -> list[list[int]]:
    """Return the groups in the order in which they may take their tokens."""

    def importance(group: list[int]) -> tuple[int, float, int]:
        return (
            min(sections[i].rank for i in group),
            -max(sections[i].value for i in group),
            group[0],
        )

    return sorted(groups, key=importance)


ORDER: tuple[SectionRole, ...] = (
    "system",
    "tools",
    "pinned",
    "summary",
    "memory",
    "resources",
    "history",
    "tool results",
    "question",
)


def arrange(sections: Sequence[Section]) -> list[Section]:
    """Return the sections in the order in which a model reads them best.

    By role: rules first, the question last. Memory and resources go by value to the
    two ends of their part, since models read the middle worst (Liu et al. 2023,
    "Lost in the Middle", figure 1). All else keeps its order.
    """
    arranged: list[Section] = []
    for role in ORDER:
        part = [section for section in sections if section.role == role]
        arranged.extend(_to_both_ends(part) if role in ("memory", "resources") else part)
    return arranged


def _to_both_ends(part: Sequence[Section]) -> list[Section]:
    """Return the best first, the second best last, the third second, and so on inwards."""
    best = sorted(part, key=lambda section: -section.value)
    return [*best[::2], *reversed(best[1::2])]
