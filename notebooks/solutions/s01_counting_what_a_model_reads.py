"""Solutions of notebook 01. Each is one way among several.

Read after: ../01_counting_what_a_model_reads.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable

# 1 · Predict. Three of them are so common that they are one token, also the two Chinese
# characters. The sign is one character of four bytes, and the web shows it rarely: three
# tokens, none of which can be printed alone.
GUESS = "🧾"

# 3 · Break it. A character that is rare enough was never put together: each of its four
# bytes stays a token. This one is a dish of noodles, and a favourite of its kind.
DEAR = "𰻝" * 10


class SolvedTally:
    """2 · Build. What is known is added to, never counted again."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count = count
        self.totals: dict[str, int] = {}

    @property
    def total(self) -> int:
        return sum(self.totals.values())

    def add(self, section: str, text: str) -> None:
        self.totals[section] = self.totals.get(section, 0) + self.count(text)
