"""Between a record and its rows: what is written where, and read back.

    Draft + Keys ──▶ records (what changes) · contents (what is said) ──record()──▶ Record
                                                            └──Source──▶ both indexes

Rows are the truth of a store. Everything else, both indexes included, can be made
from them again.

Read after: records.py, keys.py, database.py, seal.py.     Read next: index.py, long.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from agentkit.memory.database import Database, Row
from agentkit.memory.keys import CODES, Keys
from agentkit.memory.postings import Floats
from agentkit.memory.records import Draft, Record
from agentkit.memory.seal import Seal

KeyLists = tuple[npt.NDArray[np.int64], npt.NDArray[np.void]]  # how many each, then all of them
Item = TypeVar("Item")

INSERT_RECORD = (
    "INSERT OR IGNORE INTO records (tenant, id, kind, importance, confidence, created, expires,"
    " same, subject, talk, turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_CONTENT = (
    "INSERT INTO contents (number, text, raw, about, words, exact) VALUES (?, ?, ?, ?, ?, ?)"
)
SELECT_RECORD = (
    "SELECT r.number, r.id, r.kind, r.importance, r.confidence, r.created, r.last_used, r.expires,"
    " r.superseded_by, c.text, c.raw, c.about"
    " FROM records r JOIN contents c ON c.number = r.number"
)
SELECT_CHANGES = (
    "SELECT number, id IS NOT NULL AND superseded_by IS NULL, importance, confidence, created,"
    " expires, kind, coalesce(talk, 0), coalesce(turn, 0)"
    " FROM records"
)
BATCH = 500  # numbers in one query
VECTOR_BATCH = 100  # vectors in one query: 200 KB, gone again before the next


class Change(NamedTuple):
    """The facts of a row that an index needs; a tuple, for 100,000 may come at once.

    Attributes:
        number: The row.
        live: Neither superseded nor forgotten.
        importance: Of the record.
        confidence: Of the record.
        created: In seconds.
        expires: In seconds, or None.
        kind: Of the record.
        talk: The code of its conversation, 0 for none.
        turn: The turn there.
    """

    number: int
    live: bool
    importance: float
    confidence: float
    created: float
    expires: float | None
    kind: str
    talk: int
    turn: int


@dataclass(frozen=True, slots=True)
class Source:
    """Where an index reads the rows of one tenant.

    Attributes:
        database: The store.
        seal: Opens what is sealed.
        tenant: The number of the tenant.
        vectors: The table of vectors, or "" when none can be read.
        dimension: Of the vectors; at least 1.
    """

    database: Database
    seal: Seal
    tenant: int
    vectors: str
    dimension: int

    def newer(self, newest: int) -> list[int]:
        """Return the numbers of the rows behind a row, in order; -1: of all rows."""
        if newest < 0:
            sql = "SELECT number FROM records INDEXED BY record_ids WHERE tenant = ?"
            rows = self.database.read(sql, (self.tenant,))
        else:
            sql = "SELECT number FROM records WHERE number > ? AND +tenant = ?"
            rows = self.database.read(sql, (newest, self.tenant))
        return sorted([number for (number,) in rows])

    def changed(self, after: int, newest: int) -> list[Change]:
        """Return the rows up to a row that changed behind a change, ordered by row."""
        sql = f"{SELECT_CHANGES} WHERE tenant = ? AND changed > ? AND +number <= ?"
        return _changes(self.database.read(sql, (self.tenant, after, newest)))

    def facts(self, numbers: Sequence[int]) -> list[Change]:
        """Return these rows, ordered by row."""
        found: list[Change] = []
        for some in batches(numbers):
            sql = f"{SELECT_CHANGES} WHERE number IN ({marks(some)})"
            found += _changes(self.database.read(sql, some))
        return found

    def keys(self, numbers: Sequence[int]) -> tuple[KeyLists, KeyLists]:
        """Return the words and the exact keys of some rows, as `Postings.load` takes them."""
        words: list[bytes] = []
        exact: list[bytes] = []
        for some in batches(numbers):
            sql = f"SELECT words, exact FROM contents WHERE number IN ({marks(some)})"
            for row in self.database.read(f"{sql} ORDER BY number", some):
                words.append(self.seal.open(row[0]))
                exact.append(self.seal.open(row[1]))
        return _joined(words), _joined(exact)

    def vectors_of(self, numbers: Sequence[int]) -> Iterator[tuple[list[int], Floats]]:
        """Yield rows that have a vector, some at a time, and their vectors, (n, d)."""
        for some in batches(numbers, VECTOR_BATCH) if self.vectors else ():
            sql = f"SELECT number, vector FROM {self.vectors} WHERE known AND number IN"
            rows = self.database.read(f"{sql} ({marks(some)}) ORDER BY number", some)
            if rows:
                stored = b"".join([self.seal.open(vector) for _, vector in rows])
                vectors = from_file(stored).reshape(len(rows), self.dimension)
                yield [number for number, _ in rows], vectors


def _changes(rows: list[Row]) -> list[Change]:
    return list(map(Change._make, sorted(rows)))


def to_file(vector: Floats) -> bytes:
    """Return a vector as it stands in the file: 16 bits a number, which ranks the same."""
    return vector.astype("<f2").tobytes()


def from_file(stored: bytes) -> Floats:
    """Return the vector of `to_file`; every process sees these numbers and no others."""
    return np.frombuffer(stored, "<f2").astype(np.float32)


def _joined(lists: Sequence[bytes]) -> KeyLists:
    sizes = np.array([len(keys) // CODES.itemsize for keys in lists], np.int64)
    return sizes, np.frombuffer(b"".join(lists), CODES)


def record_values(draft: Draft, keys: Keys, tenant: int, id: str, now: float) -> Row:  # noqa: A002
    """Return the values of `INSERT_RECORD`."""
    turn = draft.turn
    return (
        tenant,
        id,
        draft.kind,
        draft.importance,
        draft.confidence,
        now,
        seconds(draft.expires),
        keys.same,
        keys.subject or None,
        keys.talk or None,
        turn[1] if turn else None,
    )


def content_values(number: int, draft: Draft, keys: Keys, seal: Seal) -> Row:
    """Return the values of `INSERT_CONTENT`."""
    about = {
        name: value
        for name, value in (
            ("entities", dict(draft.entities)),
            ("subject", draft.subject),
            ("source", draft.source),
            ("speaker", draft.speaker),
        )
        if value
    }
    return (
        number,
        close_text(draft.text, seal),
        close_text(draft.raw, seal),
        close_text(json.dumps(about, ensure_ascii=False) if about else "", seal),
        seal.close(keys.words.tobytes()),
        seal.close(keys.exact.tobytes()),
    )


def record(row: Row, tenant: str, seal: Seal) -> Record:
    """Return the record of a row of `SELECT_RECORD`."""
    about = open_text(row[11], seal)
    fields: dict[str, Any] = json.loads(about) if about else {}
    draft = Draft(
        open_text(row[9], seal),
        raw=open_text(row[10], seal),
        kind=row[2],
        importance=row[3],
        confidence=row[4],
        expires=moment(row[7]),
        **fields,
    )
    created = datetime.fromtimestamp(row[5], UTC)
    return Record(row[1], tenant, draft, created, moment(row[6]), row[8])


def read_records(
    database: Database, numbers: Sequence[int], tenant: str, seal: Seal
) -> dict[int, Record]:
    """Return the records of these rows by number; those that are gone are left out."""
    found: dict[int, Record] = {}
    for some in batches(numbers):
        sql = f"{SELECT_RECORD} WHERE r.id IS NOT NULL AND r.number IN ({marks(some)})"
        for row in database.read(sql, some):
            found[row[0]] = record(row, tenant, seal)
    return found


def blank(database: Database, number: int, vector_tables: Sequence[str]) -> None:
    """Overwrite all that a record says with zeros of the same size, where it stands."""
    columns = ("text", "raw", "about", "words", "exact")
    zeros = ", ".join(f"{name} = zeroblob(length(CAST({name} AS BLOB)))" for name in columns)
    database.run(f"UPDATE contents SET {zeros} WHERE number = ?", (number,))
    for table in vector_tables:
        database.run(
            f"UPDATE {table} SET known = 0, vector = zeroblob(length(vector)) WHERE number = ?",
            (number,),
        )
    database.run(
        "UPDATE records SET id = NULL, kind = '', same = NULL, subject = NULL, talk = NULL,"
        " superseded_by = NULL WHERE number = ?",
        (number,),
    )


def overwrite_raw(database: Database, number: int, raw: str, seal: Seal) -> None:
    """Put a source of the same size in bytes in the place of the one that stands there."""
    database.run("UPDATE contents SET raw = ? WHERE number = ?", (close_text(raw, seal), number))


def close_text(text: str, seal: Seal) -> str | bytes:
    """Return a text as it may stand in the file; readable where there is no key."""
    return text if seal.plain else seal.close(text.encode())


def open_text(stored: str | bytes, seal: Seal) -> str:
    """Return the text that `close_text` was given."""
    return stored if isinstance(stored, str) else seal.open(stored).decode()


def moment(stored: float | None) -> datetime | None:
    """Return a stored time, in UTC."""
    return None if stored is None else datetime.fromtimestamp(stored, UTC)


def seconds(time: datetime | None) -> float | None:
    """Return a time as it is stored."""
    return None if time is None else time.timestamp()


def batches(items: Sequence[Item], size: int = BATCH) -> Iterator[Sequence[Item]]:
    """Yield the items, some at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def marks(numbers: Sequence[int]) -> str:
    """Return as many question marks as there are numbers."""
    return ",".join("?" * len(numbers))
