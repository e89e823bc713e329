"""Solutions of notebook 02. Each is one way among several.

Read after: ../02_the_context_window.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentkit.errors import BudgetError
from agentkit.window import Section

# 1 · Predict. Rules and question take 4 of 10 words. Round 3 takes 4 more. Of round 2 and
# round 1 only the weather fits, so the customer who pays for priority is forgotten. Give
# round 1 a better rank when it is said, or the same rank and a higher value.
GUESS = ["rules", "round 2", "round 3", "question"]

# 3 · Break it. The small section has the better rank and is taken first; then the large one
# lacks a single word. Nothing is at fault but the order: ranks are a promise, and keeping
# it may waste room. That is why sections should be of a size: rounds, not whole days.
WASTE = ([Section("small", "one", rank=1), Section("large", "one " * 10, rank=2)], 10)


@dataclass(frozen=True)
class SolvedPacked:
    """What is kept, in reading order."""

    kept: list[Section]


def solved_pack(
    sections: Sequence[Section], *, budget: int, count: Callable[[str], int]
) -> SolvedPacked:
    """2 · Build. Look at what must stay before anything is chosen."""
    must = {section.name: count(section.text) for section in sections if section.rank == 0}
    if sum(must.values()) > budget:
        sizes = ", ".join(f"{name} {size}" for name, size in must.items())
        raise BudgetError(
            f"What must stay needs {sum(must.values())} tokens; the window has {budget}.",
            hint=f"Shorten one of: {sizes}.",
        )
    keep, left = set(), budget
    for i in sorted(range(len(sections)), key=lambda i: sections[i].rank):
        size = count(sections[i].text)
        if size <= left:
            keep.add(i)
            left -= size
    return SolvedPacked([section for i, section in enumerate(sections) if i in keep])
