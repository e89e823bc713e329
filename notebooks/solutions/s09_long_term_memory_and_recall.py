"""Solutions of notebook 09. Each is one way among several.

Read after: ../09_long_term_memory_and_recall.ipynb.
"""

from __future__ import annotations

from collections.abc import Sequence

# 1 · Predict. "export" stands in one text and "report" in three, so "export" counts more, and
# a fourth "report" adds little to the third: BM25 lets repetition saturate.
GUESS = 2

# 3 · Break it. One small word turns the meaning around and the vector hardly moves. So a
# store may not merge two records because they lie close, and this one compares their words.
OPPOSITES = (
    "Deploys on Friday afternoon are allowed.",
    "Deploys on Friday afternoon are not allowed.",
)


def solved_rank_fuse(rankings: Sequence[Sequence[int]], k: int) -> list[int]:
    """2 · Build. Each ranking gives 1 / (60 + place); the sum decides, then the number."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + 1 / (60 + place)
    return sorted(scores, key=lambda one: (-scores[one], one))[:k]
