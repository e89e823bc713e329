"""Solutions of notebook 07. Each is one way among several.

Read after: ../07_tool_results_eat_the_window.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable

# 1 · Predict. The letter has 300 words and no lines; forty rows of eight words are 320, and
# JSON without its spaces is a few words long only if you count by spaces: it still has some.
GUESS = ["whole", "empty", "json", "head and tail"]

# 3 · Break it. The fact stands in the middle, where nobody looks. No slimmer can know what
# will be asked; a tool that takes a query, or a page, would have sent less.
FACT = "the key is under the mat"
TEXT = f"{'blah ' * 500}{FACT}{' blah' * 500}"


def table(text: str, *, count: Callable[[str], int], budget: int) -> str:
    """2 · Build. Take rows from the top until the next one would be too many."""
    if count(text) <= budget:
        return text
    head, rows = text.split("\n")[:2], text.split("\n")[2:]
    for keep in range(len(rows), -1, -1):
        gap = f"… {len(rows) - keep} of {len(rows)} rows left out"
        shorter = "\n".join([*head, *rows[:keep], gap])
        if count(shorter) <= budget:
            return shorter
    return "\n".join([*head, f"… {len(rows)} rows left out"])
