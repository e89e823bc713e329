"""Opens a SQLite file so that a statement can read, and do nothing else.

    statement ──▶ authorizer: is each step on the list?   ──▶ rows
                  limits:     size of values and statements
                  progress:   is there time left?    (inside one function: see _apart.py)

What is allowed is listed, not what is forbidden: a word that nobody thought of is refused
too. The file is opened read-only on top, so a hole in the list still cannot write.

Read after: nothing.     Read next: _tables.py, _apart.py, database.py.
Built in:   notebooks/12_many_servers.ipynb
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

TIME_LIMIT_S = 5.0  # a question that takes longer needs another statement
STEPS_BETWEEN_LOOKS = 2_000  # of SQLite's machine; some 50 microseconds
BUSY_LIMIT_S = 2.0  # how long to wait for a program that is writing
MAX_SQL_CHARS = 8_000
MAX_VALUE_BYTES = 1_000_000  # of one text, blob or row, also of one that is made on the way
MAX_HEAP_BYTES = 256_000_000  # of all of SQLite in this process: sorting holds its rows there
MAX_COLUMNS = 100

_READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_PRAGMAS = frozenset(  # the last is what full-text search asks of itself
    "table_info table_xinfo table_list index_list index_info foreign_key_list data_version".split()
)
# Left out on purpose: what makes values of any size (randomblob, zeroblob, printf), what
# loads code (load_extension), and what tells about the machine.
_FUNCTIONS = frozenset(
    "abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling coalesce cos cosh count cume_dist "
    "current_date current_time current_timestamp date datetime degrees dense_rank exp first_value "
    "floor glob group_concat hex ifnull iif instr json json_array json_array_length json_each "
    "json_extract json_group_array json_group_object json_object json_quote json_tree json_type "
    "json_valid julianday lag last_value lead length like likelihood likely ln log log10 log2 "
    "lower ltrim match max min mod nth_value ntile nullif octet_length percent_rank pi pow power "
    "quote radians rank replace round row_number rtrim sign sin sinh sqrt strftime string_agg "
    "substr substring sum tan tanh time timediff total trim trunc typeof unicode unixepoch "
    "unlikely upper bm25 highlight snippet -> ->>".split()
)
_CHANGES = {
    sqlite3.SQLITE_INSERT: "insert into",
    sqlite3.SQLITE_UPDATE: "update",
    sqlite3.SQLITE_DELETE: "delete from",
    sqlite3.SQLITE_ALTER_TABLE: "alter a table of",
    sqlite3.SQLITE_ATTACH: "attach another file",
    sqlite3.SQLITE_DETACH: "detach",
    sqlite3.SQLITE_TRANSACTION: "hold a transaction:",
    sqlite3.SQLITE_SAVEPOINT: "hold a transaction:",
}
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * MAX_SQL_CHARS,  # in bytes
    sqlite3.SQLITE_LIMIT_COLUMN: MAX_COLUMNS,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 32,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


class SqlError(Exception):
    """A statement that was refused or failed; the text says what to do."""


class Reading:
    """One open, guarded connection, for the length of one call.

    Attributes:
        connection: What runs the statements.
        refused: The first step that was not allowed, in words; "" while there is none.
    """

    def __init__(self, connection: sqlite3.Connection, time_limit_s: float) -> None:
        self.connection = connection
        self.refused = ""
        self.time_limit_s = time_limit_s
        self._ends_at = time.monotonic() + time_limit_s

    def time_is_up(self) -> bool:
        """Tell SQLite to stop when the time limit is over."""
        return time.monotonic() > self._ends_at

    def allow(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """Answer SQLite whether one step of a statement is allowed."""
        if (
            action in _READS
            or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS)
            or (action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _PRAGMAS)
        ):
            return sqlite3.SQLITE_OK
        self.refused = self.refused or _in_words(action, first or "", second or "")
        return sqlite3.SQLITE_DENY


def _in_words(action: int, first: str, second: str) -> str:
    if action == sqlite3.SQLITE_FUNCTION:
        return f"the function {second}() is not allowed here"
    if action == sqlite3.SQLITE_PRAGMA:
        return f"PRAGMA {first} is not allowed here"
    if first.startswith("sqlite_"):  # where SQLite keeps tables, views and statistics
        return "it would change SQLite's own tables"
    return f"it would {_CHANGES.get(action, 'do more than read:')} {first}".rstrip()


@contextmanager
def reading(path: Path, *, time_limit_s: float = TIME_LIMIT_S) -> Iterator[Reading]:
    """Open a file for one call; whatever SQLite refuses inside becomes a `SqlError`."""
    found: Reading | None = None
    try:
        with closing(_open(path)) as connection:
            found = Reading(connection, time_limit_s)
            _meet_virtual_tables(connection)
            connection.set_authorizer(found.allow)
            connection.set_progress_handler(found.time_is_up, STEPS_BETWEEN_LOOKS)
            yield found
    except (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError, ValueError) as error:
        raise SqlError(_explained(error, found)) from error


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro",
        uri=True,
        timeout=BUSY_LIMIT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for pragma in (
            "query_only=ON",
            "trusted_schema=OFF",  # a view in a foreign file may call harmless functions only
            "temp_store=MEMORY",  # else a sort fills the disk
            f"hard_heap_limit={MAX_HEAP_BYTES}",
            "mmap_size=0",
        ):
            connection.execute(f"PRAGMA {pragma}").close()
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
    except BaseException:
        connection.close()
        raise
    return connection


def _meet_virtual_tables(connection: sqlite3.Connection) -> None:
    """Let SQLite take up each virtual table once, before the authorizer is set.

    It does so by declaring a table, which to the authorizer looks like creating one.
    """
    sql = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%' LIMIT 200"
    for (name,) in [*connection.execute(sql), ("json_each",), ("json_tree",)]:
        with suppress(sqlite3.OperationalError):  # a kind that this SQLite does not know
            connection.execute(f"SELECT 1 FROM {quoted(name)} LIMIT 0").close()


def quoted(name: str) -> str:
    """Return a name as SQL may hold it, whatever is in it."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _explained(error: BaseException, found: Reading | None) -> str:
    """Say what happened, then what to do."""
    said = str(error)
    if found and found.refused:
        return (
            f"Refused: {found.refused}. One SELECT (or WITH … SELECT) is allowed, with the usual "
            "functions; nothing is changed here."
        )
    for sign, text in _SIGNS:
        if sign in said:
            return text.format(seconds=found.time_limit_s if found else "", said=said)
    if isinstance(error, MemoryError):
        return _TOO_MUCH
    return f"SQLite says: {said[:300]}. Correct the statement and send it again."


_TOO_MUCH = (
    f"It needed more than {MAX_HEAP_BYTES:,} bytes of memory. Select fewer rows, or aggregate them."
)
_SAYS = "SQLite says: {said}. "
_SIGNS = (
    (
        "interrupted",
        "Stopped after {seconds} s without an end. Add WHERE or LIMIT, or end the recursion.",
    ),
    ("one statement at a time", "Refused: these are several statements. Send them one by one."),
    (
        "too big",
        f"A value has more than {MAX_VALUE_BYTES:,} bytes. Leave that column out, or select "
        "length(column).",
    ),
    ("out of memory", _TOO_MUCH),
    ("number of bindings", "Refused: write the values into the statement, not as ? or :name."),
    (
        "no such column",
        _SAYS + "describe_table tells the columns; a text stands in 'single quotes'.",
    ),
    ("no such table", _SAYS + "list_tables tells the names."),
    ("ambiguous column", _SAYS + "Write table.column."),
    ("locked", "Another program is writing to the file. Send the statement again."),
    ("not a database", "The file is no SQLite database. Tell the user; no statement can help."),
    ("malformed JSON", _SAYS + "Give the function valid JSON; json_valid() tells whether it is."),
    ("malformed", _SAYS + "The file is damaged; tell the user."),
    ("unable to open", "The file cannot be opened; it may have been moved. Tell the user."),
)
