"""Shortens data without breaking it: fields chosen, rows left out, long texts cut.

    [{"order_no": "A-1", "sku": ...}, ... 200 rows]
        ──choose({"order_no": "order"})──▶ [{"order": "A-1"}, ...]
        ──cut_values(fits)──▶ [{...}, {...}, "… 196 of 200 left out …", {...}, {...}]

Each cut stands where something is missing and says how much: a model that does not know
that rows are missing counts the ones it sees.

Read after: text.py.     Read next: slim.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

LEFT_OUT = "… {} of {} left out …"
CUT_TEXT = "{}… [{} of {} characters left out] …{}"
TEXT_CHARS = (4_000, 1_000, 300, 100, 40)  # how long texts inside may be, from gentle to hard
FEWEST_LINES = 8  # a text of fewer is prose, not lines
HEAD_SHARE = 0.7  # of the rows or lines that stay, so many are the first: they explain the rest
MAX_ROWS = 20_000  # more is never kept, so more need not be tried
MAX_DEPTH = 40  # of nested data; below, it is written out as text

_RULE_LINE = re.compile(r"[\s|+:=-]{3,}")  # the line under a table's head

Fits = Callable[[str], bool]


def compact(value: Any) -> str:
    """Return a JSON value without the spaces that only help a person."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def choose(value: Any, fields: Mapping[str, str]) -> Any:
    """Return the data with the named fields of its objects, under their new names.

    An object that has none of them is a frame around those that do: it stays, and its
    values are looked into. A text of another language or a number stays as it is.
    """
    if isinstance(value, list):
        return [choose(item, fields) for item in value]
    if not isinstance(value, dict):
        return value
    if any(name in value for name in fields):
        return {fields[n]: choose(value[n], fields) for n in fields if n in value}
    return {name: choose(item, fields) for name, item in value.items()}


def cut_values(value: Any, fits: Fits) -> str | None:
    """Return the most of a JSON value that fits, as JSON, or None when nothing does.

    Rows go before texts: for each length of text, from gentle to hard, the most rows
    that fit are looked for. Three rows with shorter texts say more than one whole.
    """
    widest = min(_longest_list(value), MAX_ROWS)
    for chars in TEXT_CHARS:
        rows = _most(widest, lambda n, c=chars: fits(compact(_shrunk(value, n, c, 0))))  # type: ignore[misc]
        if rows >= min(widest, 3) and rows > 0:
            return compact(_shrunk(value, rows, chars, 0))
    smallest = compact(_shrunk(value, 1, TEXT_CHARS[-1], 0))
    return smallest if fits(smallest) else None


def _longest_list(value: Any, depth: int = 0) -> int:
    """Return how many entries the largest list or object of a value has, at least 1."""
    if not isinstance(value, list | dict) or depth > MAX_DEPTH:
        return 1
    inner = value.values() if isinstance(value, dict) else value
    return max(len(value), 1, *(_longest_list(item, depth + 1) for item in inner))


def _shrunk(value: Any, rows: int, chars: int, depth: int) -> Any:
    """Return a value with at most so many rows a list and characters a text."""
    if isinstance(value, str):
        return _shorter(value, chars)
    if depth > MAX_DEPTH and isinstance(value, list | dict):
        return _shorter(compact(value), chars)
    if isinstance(value, list):
        first, last = _ends(len(value), rows)
        head = [_shrunk(item, rows, chars, depth + 1) for item in value[:first]]
        tail = [_shrunk(item, rows, chars, depth + 1) for item in value[len(value) - last :]]
        out = len(value) - first - last
        return [*head, LEFT_OUT.format(out, len(value)), *tail] if out else [*head, *tail]
    if isinstance(value, dict):
        names = list(value)
        most = max(rows, 12)  # an object's fields belong together; a dozen always stay
        kept = {_shorter(n, 200): _shrunk(value[n], rows, chars, depth + 1) for n in names[:most]}
        out = len(names) - len(names[:most])
        return {**kept, "…": LEFT_OUT.format(out, len(names))} if out else kept
    return value


def _ends(length: int, rows: int) -> tuple[int, int]:
    """Return how many rows stay at the start and at the end."""
    if length <= rows:
        return length, 0
    first = max(1, round(rows * HEAD_SHARE))
    return first, max(rows - first, 0)


def _shorter(text: str, chars: int) -> str:
    if len(text) <= chars + 30:  # the words that say so take about as much
        return text
    head = chars * 2 // 3
    tail = chars - head
    return CUT_TEXT.format(text[:head], len(text) - chars, len(text), text[len(text) - tail :])


def _most(high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 to `high` that fits, by halving the doubt; 0 for none."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def cut_lines(text: str, fits: Fits) -> str | None:
    """Return a table or list with whole lines from both ends, or None for prose.

    The head of a table stays: without it the columns have no names. It counts as a
    table when most lines have the same number of one separator.
    """
    lines = text.strip("\n").split("\n")
    if len(lines) < FEWEST_LINES:
        return None
    head = _head(lines)
    if head is None:
        return None
    body = lines[head:]

    def written(rows: int) -> str:
        return "\n".join([*lines[:head], *_cut_body(body, rows)])

    rows = _most(min(len(body), MAX_ROWS), lambda n: fits(written(n)))
    return written(rows) if rows >= 2 else None


def _cut_body(body: list[str], rows: int) -> Iterator[str]:
    first, last = _ends(len(body), rows)
    yield from body[:first]
    out = len(body) - first - last
    if out:
        yield f"… [{out} of {len(body)} rows left out] …"
    yield from body[len(body) - last :] if last else ()


def _head(lines: list[str]) -> int | None:
    """Return how many lines are a table's head, or None when this is no table."""
    if all(line.lstrip()[:1] in ("{", "[") for line in lines[:FEWEST_LINES]):
        return 0  # JSON, one value a line
    for separator in ("|", "\t", ",", ";", "，"):
        counts = [line.count(separator) for line in lines if line.strip()]
        usual = max(set(counts[:50]), key=counts[:50].count)
        if usual >= (2 if separator in ",;，" else 1) and counts.count(usual) > 0.8 * len(counts):
            return 2 if _RULE_LINE.fullmatch(lines[1]) else 1
    return None
