"""Makes a tool result small enough to read.

    rows of JSON    ──slim()──▶ the declared fields, the first and last rows, "… 187 more"
    a table, lines  ──────────▶ its head, whole lines from both ends, and how many are out
    anything else   ──────────▶ its first 500 and last 500 tokens, and what is missing
    nothing         ──────────▶ "found nothing": silence invites a second try

A result goes into every window of the rest of its turn, so a long one is paid for
many times. It never enters raw. What was JSON stays JSON, since a model that reads half
an object guesses the other half; and each cut says how much it left out.

Read after: tokens.py, guard.py, shrink.py.     Read next: loop.py.
Built in:   notebooks/07_tool_results_eat_the_window.ipynb
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentkit.guard import NOTHING
from agentkit.messages import ToolResult
from agentkit.shrink import choose, compact, cut_lines, cut_values
from agentkit.text import clean_text

MAX_RESULT = 2_000  # tokens; a quarter of a small window, two pages of text
KEPT_ENDS = 500  # tokens of head and of tail
CHARS_PER_TOKEN = 16  # a token has rarely more; what is longer by this need not be counted
EMPTY = "The tool answered, and found nothing. Empty is the answer."
LEFT_OUT = "… [{} of {} tokens left out] …"

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Slim:
    """A result as the model reads it.

    Attributes:
        result: With the text that goes into the window.
        before: Tokens of what came back.
        after: Tokens of what is read.
        how: "whole", "empty", "fields" (chosen and renamed), "compact" (JSON without its
            spaces), "json" (rows and long texts of it cut), "lines" (whole lines cut) or
            "head and tail".
    """

    result: ToolResult
    before: int
    after: int
    how: str


def slim(
    result: ToolResult,
    *,
    count: Count,
    budget: int = MAX_RESULT,
    fields: Mapping[str, str] | None = None,
) -> Slim:
    """Return a result of at most about `budget` tokens, whole where it fits.

    Args:
        result: As the host returned it.
        count: Counts for the model that will read it.
        budget: Above this, something is cut.
        fields: What a model needs of each object of the result, and under which name,
            e.g. {"order_no": "order"}; as the tool declares it. Without, all of it.
    """
    before = count(result.text)
    if not result.is_error and result.text.strip() in NOTHING:
        return Slim(replace(result, text=EMPTY), before, count(EMPTY), "empty")
    text, how = result.text, "whole"
    value = _json(text)
    if value is not None and fields and not result.is_error:
        chosen = choose(value, fields)
        if chosen != value:
            value, text, how = chosen, compact(chosen), "fields"
    if (before if how == "whole" else count(text)) > budget:
        text, how = _cut(text, value, before, count, budget)
    if text == result.text:
        return Slim(result, before, before, "whole")
    text = clean_text(text)
    return Slim(replace(result, text=text), before, count(text), how)


def _json(text: str) -> Any:
    """Return the object or list that a text is, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _cut(text: str, value: Any, before: int, count: Count, budget: int) -> tuple[str, str]:
    """Return what of a text fits, by the gentlest way that makes it fit."""

    def fits(shorter: str) -> bool:
        return len(shorter) <= budget * CHARS_PER_TOKEN and count(shorter) <= budget

    if value is not None:
        dense = compact(value)
        if fits(dense):
            return dense, "compact"
        shorter = cut_values(value, fits)
        if shorter is not None:
            return shorter, "json"
    lines = cut_lines(text, fits)
    if lines is not None:
        return lines, "lines"
    return _head_and_tail(text, before, count, budget), "head and tail"


def _head_and_tail(text: str, before: int, count: Count, budget: int) -> str:
    ends = min(KEPT_ENDS, budget // 2)
    head = _longest(text, ends, count, head=True)
    tail = _longest(text, ends, count, head=False)
    missing = max(before - count(head) - count(tail), 0)
    return f"{head}\n{LEFT_OUT.format(missing, before)}\n{tail}"


def _longest(text: str, tokens: int, count: Count, *, head: bool) -> str:
    """Return the longest end of a text within a number of tokens, by halving the doubt."""
    low, high = 0, min(len(text), tokens * CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        end = text[:middle] if head else text[len(text) - middle :]
        if count(end) <= tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low] if head else text[len(text) - low :]
