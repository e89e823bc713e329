"""The file of a store: SQLite, opened so that what was acknowledged is on the disk.

    open_database(path) ──▶ Database ── write() ──▶ one transaction, all or nothing
                                     └─ scrub() ──▶ nothing forgotten left in the journal

An acknowledged record survives a killed process (kill -9): it is in the journal, with the
operating system. With `power_safe` each commit also waits for the disk, so that it
survives a power cut as well, at about twice the cost; without, a power cut may take the
last seconds, and never more. Many processes may read while one writes; the others wait
`wait_s` seconds for their turn.

**How forgetting is physical.** SQLite leaves copies of a row behind when it moves rows
between pages, and no setting prevents it. So nothing here ever moves: `contents` and the
vectors are only appended to, and forgetting overwrites them in place with zeros of the
same size. Then the journal is cut to nothing. What changes (`records`) holds no text.

Read after: errors.py.     Read next: rows.py, long.py.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentkit.errors import (
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreVersionError,
)
from agentkit.files import as_path

APPLICATION = 0x616B6D31  # "akm1": a SQLite file with another mark is not ours
VERSION = 1  # of the tables below; a store of a newer version is refused
WAIT_S = 10.0  # how long a write waits for another process
JOURNAL_PAGES = 4_000  # 16 MB: a page that changes often is brought into the file once
CACHE_KB = 512  # of pages; the system keeps them too, and 2 MB was no faster to read or add
RETRY_S = 0.01  # between two attempts to cut the journal
CUT_WAIT_S = 0.2  # for it after forgetting; a recall reads for milliseconds, and a turn waits
IN_MEMORY = ":memory:"

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE tenants (
    number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, label NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE records (
    number INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id TEXT, changed INTEGER,
    kind TEXT NOT NULL, importance REAL NOT NULL, confidence REAL NOT NULL,
    created REAL NOT NULL, last_used REAL, expires REAL, superseded_by TEXT,
    same INTEGER, subject INTEGER, talk INTEGER, turn INTEGER);
CREATE UNIQUE INDEX record_ids ON records (tenant, id);
CREATE INDEX record_changes ON records (tenant, changed) WHERE changed IS NOT NULL;
CREATE INDEX record_same ON records (tenant, same);
CREATE INDEX record_subjects ON records (tenant, subject) WHERE subject IS NOT NULL;
CREATE TABLE contents (
    number INTEGER PRIMARY KEY, text NOT NULL, raw NOT NULL, about NOT NULL,
    words BLOB NOT NULL, exact BLOB NOT NULL);
CREATE TABLE embedders (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, dimension INTEGER NOT NULL);
"""

Row = tuple[Any, ...]


class Database:
    """One open SQLite file; every error of SQLite comes out as one of the kit's.

    Attributes:
        path: The file.
        read_only: Whether writing is refused.
        closed: Whether it was closed.
        lock: Held during every read and write, so that threads take turns.
        uncut: Whether the journal still has to be cut, as somebody was reading it; that is
            tried again after each write and recall, and at the end.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: str, *, read_only: bool, wait_s: float
    ) -> None:
        self.path = path
        self.read_only = read_only
        self._wait_s = wait_s
        self.lock = threading.RLock()
        self._connection = connection
        self._inside = False
        self.closed = False
        self.uncut = False

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query."""
        with self.lock:
            return self._fetch(self._execute(sql, values))

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement inside `write()`; return the number of rows it changed."""
        return self._execute(sql, values).rowcount

    def insert(self, sql: str, values: Sequence[Any]) -> tuple[int, bool]:
        """Run one INSERT inside `write()`.

        Returns:
            The number of the new row, and whether it was left out as a duplicate.
        """
        cursor = self._execute(sql, values)
        return cursor.lastrowid or 0, cursor.rowcount == 0

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, values)
        except sqlite3.Error as error:
            raise _translate(error, self.path) from error

    def _fetch(self, cursor: sqlite3.Cursor) -> list[Row]:
        try:
            return cursor.fetchall()
        except sqlite3.Error as error:  # a query may meet the disk only row by row
            raise _translate(error, self.path) from error

    @contextmanager
    def write(self) -> Iterator[None]:
        """Do all that is inside in one transaction: on the disk at the end, or not at all.

        Raises:
            StoreReadOnlyError: The store was opened to be read.
            StoreLockedError: Another process was writing all the time.
            StoreFullError: There is no room on the disk.
        """
        with self.lock:
            if self.read_only:
                raise _read_only(self.path)
            if self._inside:  # part of the larger transaction
                yield
                return
            self._execute("BEGIN IMMEDIATE")
            self._inside = True
            try:
                yield
                self._execute("COMMIT")
            except BaseException:
                if not self.closed and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._inside = False
            if self.uncut:
                self._cut()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads inside see one state of the store."""
        with self.lock:
            if self._inside or (not self.closed and self._connection.in_transaction):
                yield
                return
            self._execute("BEGIN")
            try:
                yield
            finally:
                self._execute("COMMIT")
            if self.uncut and not self.read_only:
                self._cut()

    def scrub(self) -> None:
        """Bring the journal into the file and cut it to nothing.

        Raises:
            StoreLockedError: Another process is reading or writing all the time. What
                was deleted is deleted, but its old bytes are still in the journal.
        """
        if not self.cut_journal(wait_s=self._wait_s):
            raise StoreLockedError(
                f"Another process holds {self.path}, so its journal still has old bytes.",
                hint="What you deleted is gone for every query. Call scrub() again to finish.",
            )

    def cut_journal(self, *, wait_s: float = CUT_WAIT_S) -> bool:
        """Do what `scrub` does, waiting no longer than this; return whether it was done."""
        give_up = time.monotonic() + wait_s
        while not self._cut():
            if time.monotonic() >= give_up:
                return False
            time.sleep(RETRY_S)
        return True

    def _cut(self) -> bool:
        """Try once, without SQLite's own waiting, which would hold up a whole event loop."""
        with self.lock:
            self.read("PRAGMA busy_timeout = 0")
            try:
                self.uncut = bool(self.read("PRAGMA wal_checkpoint(TRUNCATE)")[0][0])
            except StoreLockedError:  # inside a larger transaction, whose end cuts it
                self.uncut = True
            finally:
                self.read(f"PRAGMA busy_timeout = {round(self._wait_s * 1000)}")
            return not self.uncut

    def vacuum(self) -> None:
        """Write the file anew without the room of what is gone; the journal has it then."""
        self.read("VACUUM")

    def files(self) -> list[Path]:
        """Return every file of the store that is there now."""
        if self.path == IN_MEMORY:
            return []
        names = (self.path, f"{self.path}-wal", f"{self.path}-shm", f"{self.path}-journal")
        return [Path(name) for name in names if Path(name).exists()]

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        with self.lock:
            if self.uncut and not self.closed:
                self.cut_journal()
            self._connection.close()
            self.closed = True


def open_database(
    path: str | Path, *, read_only: bool = False, power_safe: bool = False, wait_s: float = WAIT_S
) -> Database:
    """Open a store, or make a new one where no file is.

    Raises:
        StoreError: One of its children says why it cannot be opened.
    """
    name = IN_MEMORY
    if str(path) != IN_MEMORY:
        place = as_path(path, what="store", error=StoreError).absolute()
        _check_place(place, read_only=read_only)
        name = str(place)
    target = f"{Path(name).as_uri()}?mode=ro" if read_only else name
    try:
        connection = sqlite3.connect(
            target, timeout=wait_s, isolation_level=None, check_same_thread=False, uri=read_only
        )
    except sqlite3.Error as error:
        raise _translate(error, name) from error
    except UnicodeError as error:
        raise StoreError(
            f"The path of the store holds half a character: {name!r}.",
            hint="Give a path without it.",
        ) from error
    database = Database(connection, name, read_only=read_only, wait_s=wait_s)
    try:
        version = _version(database)
        if not read_only:
            synchronous = "FULL" if power_safe else "NORMAL"
            journal = f"wal_autocheckpoint={JOURNAL_PAGES}"
            for pragma in (
                "journal_mode=WAL",
                journal,
                f"synchronous={synchronous}",
                "fullfsync=ON",
            ):
                database.read(f"PRAGMA {pragma}")
        for pragma in ("secure_delete=ON", "temp_store=MEMORY", f"cache_size=-{CACHE_KB}"):
            database.read(f"PRAGMA {pragma}")
        if version == 0:
            _create(database)
    except BaseException:
        connection.close()
        raise
    return database


def _check_place(path: Path, *, read_only: bool) -> None:
    try:
        folder, there, ours = path.parent.is_dir(), path.exists(), path.is_file()
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StoreError(
            f"{str(path)!r:.120} cannot be a store: {why}.",
            hint="Give a file with a shorter name, in a folder that may be read.",
        ) from error
    if not folder:
        raise StoreError(f"There is no folder {path.parent}.", hint="Create it first.")
    if path.is_dir():
        raise StoreError(f"{path} is a folder.", hint="Give a file, e.g. memory.db in it.")
    if there and not ours:
        raise StoreError(
            f"{path} is a device or a pipe, and no file.", hint="Give a file, e.g. memory.db."
        )
    if read_only and not there:
        raise StoreError(f"There is no store {path}.", hint="Open it without read_only first.")


def _version(database: Database) -> int:
    """Return the version of the tables, 0 for a new file; refuse what is not ours."""
    (mark,) = database.read("PRAGMA application_id")[0]
    (version,) = database.read("PRAGMA user_version")[0]
    (tables,) = database.read("SELECT count(*) FROM sqlite_schema")[0]
    if mark == APPLICATION and version > VERSION:
        raise StoreVersionError(
            f"{database.path} has version {version}; this agentkit reads up to {VERSION}.",
            hint="Upgrade agentkit. The file was not touched.",
        )
    if mark != APPLICATION and (tables or mark):
        raise StoreDamagedError(
            f"{database.path} is a database of another program.",
            hint="Give another file. This one was not touched.",
        )
    return int(version) if mark == APPLICATION else 0


def _create(database: Database) -> None:
    """Make the tables, unless another process just did."""
    with database.write():
        if _version(database):
            return
        for statement in TABLES.split(";"):
            if statement.strip():
                database.run(statement)
        database.run(f"PRAGMA application_id={APPLICATION}")
        database.run(f"PRAGMA user_version={VERSION}")


def _translate(error: sqlite3.Error, path: str) -> StoreError:
    """Return the kit's error for one of SQLite's (its primary result code decides)."""
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return StoreError(f"{path} is closed.", hint="Open the store again.")
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreLockedError(
                f"Another process holds {path}.",
                hint="Nothing was written. Try again, or close it.",
            )
        case sqlite3.SQLITE_READONLY:
            return _read_only(path)
        case sqlite3.SQLITE_FULL:
            return StoreFullError(
                f"There is no room left for {path}.", hint="Nothing was written. Free some room."
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreDamagedError(
                f"{path} is damaged or no store: {error}.",
                hint="Nothing was changed. Bring back a copy, or give another file.",
            )
    return StoreError(f"{path} cannot be used: {error}.", hint="Check the file, folder and disk.")


def _read_only(path: str) -> StoreReadOnlyError:
    return StoreReadOnlyError(
        f"{path} may only be read.", hint="Make the file writable, or open it without read_only."
    )
