"""Reduces the rows of a session's trace to those that its model read last.

    rows of all rounds + ReadWindow ──▶ rows inside, and the numbers of what is not:
        summed up before · left out by value · said since

Sizes are those that the session counted, where it is to be counted for the same model: a
trace holds no secrets, and the model read them.

Read after: report/rows.py, transcript/read_window.py.     Read next: report/build.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agentkit.context import SEAM
from agentkit.report.rows import Collected, Row
from agentkit.tokens import MESSAGE_OVERHEAD, Counter
from agentkit.transcript.read_window import ROUND, ReadWindow
from agentkit.value import named_pieces
from agentkit.window import Section

LIVE = ("question", "tool results")
PARTS = {"system": "system", "tools": "tools", "summary so far": "summary"}
PREFIXES = {
    "pinned": "pinned",
    "constraints": "pinned",
    "recalled": "memory",
    "done by memory": "memory",
}
UNKNOWN = "history"  # of rounds that the file does not hold, or not in these pieces


def keep_what_was_read(found: Collected, window: ReadWindow, other: Counter | None) -> None:
    """Take out of the rows what the model did not read last, and count it.

    Args:
        found: Of the whole trace; is changed.
        window: What was read.
        other: Counts the texts, where another model is asked about than the session's.
    """
    kept, dropped = dict(window.kept), dict(window.dropped)
    inside: dict[str, list[Row]] = {}
    for name, rows in _named(found.rows, window):
        if name in kept:
            inside[name] = rows
        else:
            bucket = found.left_out if name in dropped else found.earlier
            bucket = found.since if name == "" else bucket
            bucket[0] += len(rows)
            bucket[1] += sum(row.tokens for row in rows)
    found.fixed = _fixed(window, inside, other)
    if other is None:
        _as_counted(inside, kept)
    _reduce(found, [row for rows in inside.values() for row in rows])
    found.compressions = window.shorter
    found.summary = "\n".join(window.texts.get(name, "") for name in kept)


def _named(rows: list[Row], window: ReadWindow) -> Iterator[tuple[str, list[Row]]]:
    """Yield the rows by section; "" for what was said since, another name for what has left."""
    groups: list[list[Row]] = []
    for row in rows:
        if row.role == "user" or not groups:
            groups.append([])
        groups[-1].append(row)
    since = False
    for group in groups:
        number = window.rounds.get(group[0].at)
        if since:
            yield "", group
        elif group[0].at == window.question:
            for row in group:
                row.round = window.live_round
            yield from _live(group, {name for name, _ in window.kept})
            since = True
        elif number is None:
            yield "left", group
        else:
            yield from _pieces(number, group)


def _live(group: list[Row], kept: set[str]) -> Iterator[tuple[str, list[Row]]]:
    """Yield the question and the steps of the turn under way; those behind the window are since."""
    yield "question", group[:1]
    steps: list[list[Row]] = []
    for row in group[1:]:
        if row.role != "tool" or not steps:
            steps.append([])
        steps[-1].append(row)
    for number, step in enumerate(steps, start=1):
        name = f"tool results {number}"
        yield (name if name in kept else ""), step


def _pieces(number: int, group: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    roles, calls = [row.role for row in group], [row.calls for row in group]
    for row in group:
        row.round = number
    for name, piece in named_pieces(number, roles, calls, [row.value for row in group]):
        yield name, group[piece.start : piece.end]


def _fixed(
    window: ReadWindow, inside: dict[str, list[Row]], other: Counter | None
) -> dict[str, int]:
    """Return the tokens of what is no row, by its line in the table of sections."""
    sizes: dict[str, int] = {}
    for name, tokens in window.kept:
        if name in inside:
            continue
        text = window.texts.get(name, "")
        if other is not None and text:
            tokens = _section(name, text).size(other)
        part = _part(name)
        sizes[part] = sizes.get(part, 0) + tokens
    return sizes


def _section(name: str, text: str) -> Section:
    """Return a part of the system message as `context.lay_out` makes it."""
    section = Section(name, text, role="system")
    if name == "tools":
        return section
    if name == "system":
        return replace(section, overhead=MESSAGE_OVERHEAD)
    return replace(section, headed=True, overhead=SEAM)


def _part(name: str) -> str:
    if ROUND.match(name) or name.startswith(LIVE):
        return UNKNOWN
    prefix = next((p for p in PREFIXES if name.startswith(p)), "")
    return PARTS.get(name) or PREFIXES.get(prefix, "other")


def _as_counted(inside: dict[str, list[Row]], kept: dict[str, int]) -> None:
    """Give the largest row of a section what its session counted more or less than we do."""
    for name, rows in inside.items():
        largest = max(rows, key=lambda row: row.tokens)
        largest.tokens += kept[name] - sum(row.tokens for row in rows)


def _reduce(found: Collected, rows: list[Row]) -> None:
    """Let only these rows remain, and what is known of them."""
    ids = {id(row) for row in rows}
    places = {row.at for row in rows}
    found.rows[:] = [row for row in found.rows if id(row) in ids]
    found.lasting = [s if id(s.row) in ids else replace(s, row=None) for s in found.lasting]
    found.largest = [each for each in found.largest if id(each[2]) in ids]
    found.empty = [each for each in found.empty if each[0] in places]
    results = [row for row in found.rows if row.role == "tool" and not row.orphan]
    found.errors = sum(row.error for row in results)
    found.tools.clear()
    for row in results:
        used = found.tools.setdefault(row.name.partition(" ")[0], [0, 0])
        used[0] += 1
        used[1] += row.tokens
