"""Finds places in the code of a folder: file, line and a few lines around it.

    "def pack"  ──▶  window.py:88   def pack(sections, *, budget, count):     never a whole file

The query is looked for as it is, without case; a pattern language would let one query run
for ever. Where no line holds all of it, lines that hold each of its words are places too.

Read after: _folder.py.     Read next: knowledge.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from servers._folder import NotFoundError, read_text, scan

MAX_FILE_BYTES = 500_000  # larger ones are made by programs, not written
MAX_TOTAL_BYTES = 50_000_000  # read for one search
MAX_LINE_CHARS = 160
AROUND = 1  # lines before and after
_DEFINES = re.compile(
    r"\s*(?:export |pub |public |private |static |async )*"
    r"(?:def|class|function|func|fn|interface|struct|enum|type|CREATE TABLE)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """One place where the query is found.

    Attributes:
        at: File and line, e.g. "servers/notes.py:88".
        lines: The line with its neighbours, each cut to `MAX_LINE_CHARS`.
        weight: 3 where something of that name is defined, 2 for the whole query, 1 for
            its words.
    """

    at: str
    lines: str
    weight: int


@dataclass(frozen=True, slots=True)
class Looked:
    """All places, best first, ties by file and line.

    Attributes:
        places: The best ones.
        total: How many there are in all.
        files: How many files were searched.
        skipped: How many were not: no text, too large, a link that leads out.
    """

    places: tuple[Place, ...]
    total: int
    files: int
    skipped: int


def search_code(folder: Path, query: str, *, inside: str = "", limit: int) -> Looked:
    """Return the best places for a query.

    Args:
        folder: Only what lies inside it is read.
        query: Plain text.
        inside: Only files whose path holds this, e.g. "servers/" or ".py".
        limit: Most places to return.

    Raises:
        NotFoundError: The query is empty, or the folder is gone.
    """
    wanted = query.strip().casefold()
    if not wanted:
        raise NotFoundError("The query is empty. Send a name or a few words, e.g. 'def pack'.")
    if not folder.is_dir():
        raise NotFoundError(f"The folder {folder.name!r} is gone. Tell the user.")
    part = inside.strip().replace("\\", "/").casefold()
    found = scan(folder, endings=None, max_bytes=MAX_FILE_BYTES)
    ranked: list[tuple[int, int, str, int]] = []
    lines_of: dict[str, list[str]] = {}
    size = files = 0
    for name, path in found.files.items():
        if part not in name.casefold() or size > MAX_TOTAL_BYTES:
            continue
        lines = _lines(path)
        size += sum(map(len, lines))
        files += 1
        hits = _hits(lines, wanted)
        if hits:
            lines_of[name] = lines
            ranked += [(-weight, files, name, number) for number, weight in hits]
    best = sorted(ranked)[:limit]
    places = [_place(name, lines_of[name], number, -weight) for weight, _, name, number in best]
    return Looked(tuple(places), len(ranked), files, len(found.skipped))


def _lines(path: Path) -> list[str]:
    try:
        return (read_text(path, max_bytes=MAX_FILE_BYTES) or "").split("\n")
    except OSError:
        return []  # gone since the scan


def _hits(lines: list[str], wanted: str) -> list[tuple[int, int]]:
    """Return the number of each line that holds the query, from 0, and its weight."""
    words = wanted.split()
    hits = []
    for number, line in enumerate(lines):
        folded = line.casefold()
        if wanted in folded:
            hits.append((number, 3 if _DEFINES.match(line) else 2))
        elif len(words) > 1 and all(word in folded for word in words):
            hits.append((number, 1))
    return hits


def _place(name: str, lines: list[str], number: int, weight: int) -> Place:
    first, last = max(0, number - AROUND), min(len(lines), number + AROUND + 1)
    shown = "\n".join(_cut(line) for line in lines[first:last]).strip("\n")
    return Place(f"{name}:{number + 1}", shown, weight)


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"
