"""Makes a tool result small enough to read.

    8 KB of result ──slim()──▶ its first 500 and last 500 tokens, and what is missing

A result goes into every window of the rest of its turn, so a long one is paid for
many times. It never enters raw: head and tail stay, the middle is counted and left
out. An empty result says that empty is the answer; silence invites a second try.

Read after: tokens.py, guard.py.     Read next: loop.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentkit.guard import NOTHING
from agentkit.messages import ToolResult
from agentkit.tokens import Counter

MAX_RESULT = 2_000  # tokens; a quarter of a small window, two pages of text
KEPT_ENDS = 500  # tokens of head and of tail
EMPTY = "The tool answered, and found nothing. Empty is the answer."


@dataclass(frozen=True, slots=True)
class Slim:
    """A result as the model reads it.

    Attributes:
        result: With the text that goes into the window.
        before: Tokens of what came back.
        after: Tokens of what is read.
        how: "whole", "empty" or "head and tail".
    """

    result: ToolResult
    before: int
    after: int
    how: str


def slim(result: ToolResult, *, count: Counter, budget: int = MAX_RESULT) -> Slim:
    """Return a result of at most about `budget` tokens, whole where it fits.

    Args:
        result: As the host returned it.
        count: Counts for the model that will read it.
        budget: Above this, only head and tail stay (`KEPT_ENDS` each, less if the
            budget is smaller).
    """
    before = count(result.text)
    if not result.is_error and result.text.strip() in NOTHING:
        return Slim(replace(result, text=EMPTY), before, count(EMPTY), "empty")
    if before <= budget:
        return Slim(result, before, before, "whole")
    ends = min(KEPT_ENDS, budget // 2)
    head, tail = _ends(result.text, ends, count)
    missing = max(before - count(head) - count(tail), 0)
    text = f"{head}\n… [{missing} of {before} tokens left out] …\n{tail}"
    return Slim(replace(result, text=text), before, count(text), "head and tail")


def _ends(text: str, tokens: int, count: Counter) -> tuple[str, str]:
    """Return the longest head and tail of a text that have at most so many tokens."""
    return _longest(text, tokens, count, head=True), _longest(text, tokens, count, head=False)


def _longest(text: str, tokens: int, count: Counter, *, head: bool) -> str:
    """Return the longest end of a text within a number of tokens, by halving the doubt."""
    low, high = 0, min(len(text), tokens * 16)  # a token has rarely over 16 characters
    while low < high:
        middle = (low + high + 1) // 2
        end = text[:middle] if head else text[len(text) - middle :]
        if count(end) <= tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low] if head else text[len(text) - low :]
