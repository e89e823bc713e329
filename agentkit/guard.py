"""Decides when a turn has called enough tools.

    results so far ──verdict()──▶ None (go on)  or  a reason (answer now)

A model that does not find what it wants asks again, and again. The guard ends that:
after `max_rounds` in a row without an answer, after `max_empty` empty results, or
when the same call brings the same result. The model then gets one last turn without
tools, to answer with what it has.

Read after: tools.py.     Read next: loop.py.
Built in:   notebooks/06_the_loop.ipynb
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agentkit.errors import BudgetError
from agentkit.messages import ToolCall, ToolResult

MAX_TIMEOUT_S = 30.0  # a person waits about this long before they think it is broken
NOTHING = ("", "[]", "{}", "null", "None")  # how a result looks that holds nothing


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one turn may do.

    Attributes:
        max_rounds: Model calls in a row that ask for tools instead of answering.
        max_empty: Results that found nothing, in the whole turn.
        max_same: Times that one call may bring one result.
        timeout_s: For one tool call.

    Raises:
        BudgetError: A limit under 1, or a time-out over `MAX_TIMEOUT_S`.
    """

    max_rounds: int = 3
    max_empty: int = 2
    max_same: int = 2
    timeout_s: float = 20.0

    def __post_init__(self) -> None:
        if min(self.max_rounds, self.max_empty, self.max_same) < 1:
            raise BudgetError(
                f"A limit is under 1: {self}.", hint="Give each limit at least 1; 1 means once."
            )
        if not 0 < self.timeout_s <= MAX_TIMEOUT_S:
            raise BudgetError(
                f"A tool call may take {self.timeout_s} s; at most {MAX_TIMEOUT_S} s are allowed.",
                hint="Let a tool that needs longer start its work and offer a second tool to look.",
            )


Step = Sequence[tuple[ToolCall, ToolResult]]  # what one model call asked for, and got


def verdict(steps: Sequence[Step], limits: Limits) -> str | None:
    """Return why this turn should call no more tools, or None to go on.

    Args:
        steps: One a model call that asked for tools, in order.
        limits: What the turn may do.
    """
    done = [pair for step in steps for pair in step]
    same = _most_repeated(done)
    if same >= limits.max_same:
        return f"the same call brought the same result {same} times"
    empty = sum(is_empty(result) for _, result in done)
    if empty >= limits.max_empty:
        return f"{empty} results were empty"
    if len(steps) >= limits.max_rounds:
        return f"{len(steps)} rounds of tool calls without an answer"
    return None


def is_empty(result: ToolResult) -> bool:
    """Return whether a result found nothing. An error is not empty: it says something.

    A structured result is empty when its lists are and its numbers are 0. One that has
    texts beside an empty list needs such a 0: `{"query": "x", "hits": [], "total": 0}`
    found nothing, but `{"title": "x", "tags": []}` found a thing without tags.
    """
    if result.is_error:
        return False
    values = list((result.data or {}).values())
    lists = [value for value in values if isinstance(value, list)]
    if lists:
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        bare = not any(isinstance(value, str | dict) and value for value in values)
        return not any(lists) and not any(numbers) and (bool(numbers) or bare)
    return result.text.strip() in NOTHING


def _most_repeated(done: Sequence[tuple[ToolCall, ToolResult]]) -> int:
    """Return how often the most frequent pair of call and result occurs."""
    seen: dict[tuple[str, str, str], int] = {}
    for call, result in done:
        key = (call.name, _in_order(call), result.text)
        seen[key] = seen.get(key, 0) + 1
    return max(seen.values(), default=0)


def _in_order(call: ToolCall) -> str:
    """Return the arguments so that their order does not count."""
    if call.unread is not None:
        return call.unread
    return json.dumps(dict(call.arguments), sort_keys=True, default=str)
