"""What a database holds, told in a few lines, and what a statement finds, told in a few rows.

    tables()     names, one line each            about 20 tokens a table
    describe()   columns, keys, 3 rows           about 200
    find()       the first rows of a statement   and how many were left out

The line on a table is the comment behind `CREATE TABLE name (`, which SQLite keeps word
for word; where there is none, the first columns.

Read after: _sql.py.     Read next: _apart.py, database.py.
Built in:   notebooks/12_many_servers.ipynb
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from servers._sql import MAX_SQL_CHARS, TIME_LIMIT_S, Reading, SqlError, quoted, reading

MAX_CELL_CHARS = 200  # about 50 tokens: enough for a remark, not for a document
MAX_RESULT_CHARS = 16_000  # about 4,000 tokens: half of a small window
MAX_COUNTED = 100_000  # rows that are counted beyond those that are shown
SAMPLE_ROWS = 3
SAMPLE_CELL_CHARS = 60  # a sample shows the form of a value
MAX_ABOUT_CHARS = 120
SAFE_INTEGER = 2**53 - 1  # beyond it JSON readers that use floating point change the number
_COMMENT = re.compile(r"^[^(]*\(\s*--[ \t]*([^\r\n]+)")

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of a statement.

    Attributes:
        columns: As the statement names them.
        rows: The first ones, each cell ready for JSON.
        left_out: How many rows come after them.
        counted_all: False when counting stopped: then there are at least `left_out` more.
        cells_cut: How many cells were shortened.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int
    counted_all: bool
    cells_cut: int


@dataclass(frozen=True, slots=True)
class Table:
    """One table as `describe` tells it.

    Attributes:
        name: As it is written in the file.
        about: One line.
        columns: Each with type and key, e.g. "customer_id INTEGER → customers.customer_id".
        rows: How many it has; None when counting took too long.
        sample: Its first rows.
    """

    name: str
    about: str
    columns: tuple[str, ...]
    rows: int | None
    sample: Found


class Tables:
    """Reads one SQLite file. Every call opens it anew; all raise `SqlError`."""

    def __init__(self, path: Path, *, time_limit_s: float = TIME_LIMIT_S) -> None:
        self.path = path
        self._time_limit_s = time_limit_s

    def tables(self) -> list[tuple[str, str]]:
        """Return the name of each table and view, and one line about it, by name."""
        with reading(self.path, time_limit_s=self._time_limit_s) as now:
            return [(name, _about(now, name, sql)) for name, sql in _names(now).items()]

    def describe(self, name: str) -> Table:
        """Return what one table holds."""
        with reading(self.path, time_limit_s=self._time_limit_s) as now:
            known = _names(now)
            real = _real_name(name, known)
            about, columns = _about(now, real, known[real]), _columns(now, real)
            sample = _first(now, f"SELECT * FROM {quoted(real)}", SAMPLE_ROWS, SAMPLE_CELL_CHARS)
        return Table(real, about, columns, self._count(real), sample)

    def find(self, sql: str, *, limit: int) -> Found:
        """Return the first rows of one reading statement."""
        if len(sql) > MAX_SQL_CHARS:
            raise SqlError(
                f"The statement has {len(sql):,} characters; at most {MAX_SQL_CHARS:,} are "
                "allowed. Ask for less at once."
            )
        with reading(self.path, time_limit_s=self._time_limit_s) as now:
            return _first(now, sql, limit, MAX_CELL_CHARS, count=True)

    def _count(self, name: str) -> int | None:
        try:
            with reading(self.path, time_limit_s=self._time_limit_s) as now:
                sql = f"SELECT count(*) FROM {quoted(name)}"
                return int(now.connection.execute(sql).fetchone()[0])
        except SqlError:
            return None  # a very large table; its columns are worth having all the same


def _names(now: Reading) -> dict[str, str]:
    """Return each table and view with the statement that made it, by name."""
    sql = (
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    return {name: made or "" for name, made in now.connection.execute(sql)}


def _about(now: Reading, name: str, sql: str) -> str:
    comment = _COMMENT.match(sql)
    if comment:
        return comment[1].strip()[:MAX_ABOUT_CHARS]
    kind = "a view of " if sql[:20].upper().startswith("CREATE VIEW") else ""
    return f"{kind}{', '.join(row[1] for row in _info(now, name))}"[:MAX_ABOUT_CHARS]


def _info(now: Reading, name: str) -> list[Any]:
    try:
        return now.connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
    except sqlite3.OperationalError:
        return []  # a view of a table that is gone


def _columns(now: Reading, name: str) -> tuple[str, ...]:
    """Return the columns with their types and keys."""
    keys = now.connection.execute(f"PRAGMA foreign_key_list({quoted(name)})").fetchall()
    leads = {row[3]: f" → {row[2]}.{row[4] or row[3]}" for row in keys}
    return tuple(
        f"{column} {kind}".rstrip() + (" PRIMARY KEY" if key else "") + leads.get(column, "")
        for _, column, kind, _, _, key in _info(now, name)
    )


def _real_name(name: str, known: Sequence[str] | dict[str, str]) -> str:
    """Return a table's name as the file writes it; case does not count."""
    by_case = {each.casefold(): each for each in known}
    if name.strip().casefold() in by_case:
        return by_case[name.strip().casefold()]
    near = get_close_matches(name.casefold(), by_case, n=3, cutoff=0.5)
    close = ", ".join(by_case[each] for each in near)
    raise SqlError(
        f"There is no table {name[:60]!r}. "
        + (f"Near it: {close}." if close else "list_tables tells the names.")
    )


def _first(now: Reading, sql: str, most: int, chars: int, *, count: bool = False) -> Found:
    """Run a statement and return its first rows, each cell cut to `chars`."""
    cursor = now.connection.execute(sql)
    if cursor.description is None:
        raise SqlError("There is no statement in that. Send one SELECT.")
    columns = tuple(str(_cell(column[0], chars)) for column in cursor.description)
    rows: list[tuple[Cell, ...]] = []
    cut = size = 0
    while len(rows) < most and size < MAX_RESULT_CHARS:
        try:
            raw = cursor.fetchone()
        except sqlite3.OperationalError:
            if not rows:
                raise
            return Found(columns, tuple(rows), 0, False, cut)  # the time is up; keep what came
        if raw is None:
            return Found(columns, tuple(rows), 0, True, cut)
        row = tuple(_cell(value, chars) for value in raw)
        cut += sum(isinstance(value, str) and len(value) > chars for value in raw)
        size += sum(len(str(cell)) for cell in row)
        rows.append(row)
    left_out, all_of_them = _left(cursor) if count else (0, False)
    return Found(columns, tuple(rows), left_out, all_of_them, cut)


def _left(cursor: sqlite3.Cursor) -> tuple[int, bool]:
    """Return how many rows come, and whether that is all; time may run out over it."""
    counted = 0
    try:
        for _ in cursor:
            counted += 1
            if counted == MAX_COUNTED:
                return counted, False
    except sqlite3.Error:
        return counted, False
    return counted, True


def _cell(value: Any, chars: int) -> Cell:
    """Return a value as JSON can carry it unchanged, or as a text that says what it is."""
    match value:
        case bytes():
            return f"[{len(value)} bytes]"
        case str() if len(value) > chars:
            return f"{value[:chars]}… [{len(value) - chars} more characters]"
        case float() if not math.isfinite(value):
            return str(value)
        case int() if abs(value) > SAFE_INTEGER:
            return str(value)
    return value  # type: ignore[no-any-return]
