"""Numbers that say how good a run was.

    found ["m7", "m2", "m9"] + wanted {"m2", "m4"} ──recall_at_k(k=3)──▶ 0.5

Read after: errors.py, memory/recall.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from agentkit.errors import RecordError


def recall_at_k(found: Sequence[Hashable], wanted: Collection[Hashable], *, k: int) -> float:
    """Return the share of what was wanted that is among the first k found, 0.0 to 1.0.

    Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", 8.4, with
    the list cut at k. What is found or wanted twice counts once; its first place counts.

    Args:
        found: Ids, best first.
        wanted: Ids that answer the question.
        k: How many of the found ones count; 0 finds nothing.

    Raises:
        RecordError: Nothing was wanted, so there is no share of it; or k is no such number.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 0:
        raise RecordError(f"k is {k!r}.", hint="Count the first 0 or more, e.g. k=10.")
    if not wanted:
        raise RecordError(
            "Nothing was wanted, and a share of nothing is no number.",
            hint="Leave questions without an answer out of the average, or score them apart.",
        )
    first = list(dict.fromkeys(found))[:k]
    right = set(wanted)
    return len(right.intersection(first)) / len(right)
