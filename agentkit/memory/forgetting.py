"""Forgetting is physical: overwritten where it stands, then out of the journal.

    forget("m7") ──▶ zeros over m7, its older forms, and its sentence in other sources
                 ──▶ journal cut to nothing ──▶ Forgotten(ids, still_in)

An older form of a memory holds much of the same words, so it goes too, and so does its
source where other records have the same one. A sentence that another record says itself
stays there, and `still_in` names that record.

Read after: database.py, rows.py, tenants.py.     Read next: long.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentkit.errors import RecordError
from agentkit.memory.database import Database
from agentkit.memory.rows import (
    SELECT_RECORD,
    batches,
    blank,
    marks,
    open_text,
    overwrite_raw,
    record,
)
from agentkit.memory.seal import Seal
from agentkit.memory.tenants import Tenant
from agentkit.text import FORGOTTEN

COMPACT_FROM = 1_000  # blank rows; below, writing the file anew is not worth it


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten.

    Attributes:
        ids: The records that are gone, older forms included, in the order of writing.
        still_in: Ids of records that say a forgotten sentence as part of their own.
        in_journal: Another process was reading the store, so the old bytes are still in its
            journal. No query finds them; later writes, recalls and `close` try to cut it.
        texts: What the records said, and their sources, for whoever holds copies. They
            are not shown when this is printed.
    """

    ids: tuple[str, ...]
    still_in: tuple[str, ...] = ()
    in_journal: bool = False
    texts: tuple[str, ...] = field(default=(), repr=False)


class Forgetter:
    """Overwrites records; always inside `database.write()`."""

    def __init__(self, database: Database, seal: Seal) -> None:
        self._database = database
        self._seal = seal

    def forget(self, ids: Sequence[str], tenant: Tenant, tables: Sequence[str]) -> Forgotten:
        """Overwrite records and their older forms.

        Raises:
            RecordError: The tenant has no record of such an id; nothing is forgotten.
        """
        numbers = self._with_older(ids, tenant)
        sentences: list[str] = []
        sources: list[str] = []
        gone: list[str] = []
        for some in batches(sorted(numbers)):
            sql = f"{SELECT_RECORD} WHERE r.number IN ({marks(some)}) ORDER BY r.number"
            for row in self._database.read(sql, some):
                held = record(row, tenant.name, self._seal)
                sentences.append(held.text)
                sources += [held.draft.raw] if held.draft.raw else []
                gone.append(held.id)
        for number in numbers:
            blank(self._database, number, tables)
            self._database.run(
                "UPDATE records SET changed = ? WHERE number = ?", (tenant.changes, number)
            )
        still = self._clear_sources(sentences, sources, tenant)
        return Forgotten(tuple(gone), still, texts=(*sentences, *sources))

    def forget_all(self, tenant: Tenant, tables: Sequence[str]) -> Forgotten:
        """Overwrite every record of a tenant."""
        rows = self._database.read(
            "SELECT number, id FROM records WHERE tenant = ? AND id IS NOT NULL ORDER BY number",
            (tenant.number,),
        )
        for number, _ in rows:
            blank(self._database, number, tables)
        return Forgotten(tuple(one for _, one in rows))

    def drop_blank(self, tables: Sequence[str]) -> None:
        """Delete blank rows; the newest row stays, so that no number is given twice."""
        rows = self._database.read(
            "SELECT number FROM records WHERE id IS NULL"
            " AND number < (SELECT max(number) FROM records)"
        )
        for some in batches([number for (number,) in rows]):
            for table in ("records", "contents", *tables):
                self._database.run(f"DELETE FROM {table} WHERE number IN ({marks(some)})", some)

    def worth_compacting(self) -> bool:
        """Say whether at least a third of many rows is blank."""
        (rows, blank_rows) = self._database.read(
            "SELECT count(*), coalesce(sum(id IS NULL), 0) FROM records"
        )[0]
        return bool(blank_rows >= COMPACT_FROM and 3 * blank_rows >= rows)

    def _with_older(self, ids: Sequence[str], tenant: Tenant) -> list[int]:
        """Return the rows of records and of all that gave way to them, each once."""
        found: dict[int, None] = {}
        wanted = list(dict.fromkeys(ids))
        known = set(wanted)
        for one in wanted:
            sql = "SELECT number FROM records WHERE tenant = ? AND id = ?"
            rows = self._database.read(sql, (tenant.number, one))
            if not rows:
                raise unknown_record(one, tenant.name)
            found[rows[0][0]] = None
        while wanted:
            older = self._database.read(
                "SELECT number, id FROM records WHERE tenant = ? AND superseded_by = ?",
                (tenant.number, wanted.pop()),
            )
            for number, one in older:
                found[number] = None
                if one not in known:
                    known.add(one)
                    wanted.append(one)
        return list(found)

    def _clear_sources(
        self, sentences: Sequence[str], sources: Sequence[str], tenant: Tenant
    ) -> tuple[str, ...]:
        """Overwrite what was forgotten in other sources; return the records that say it."""
        still: list[str] = []
        for number, one, text, raw in self._suspects([*sources, *sentences], tenant):
            kept = raw
            for sentence in sorted([*sources, *sentences], key=len, reverse=True):
                kept = kept.replace(sentence, _filler(len(sentence.encode())))
            if kept != raw:
                overwrite_raw(self._database, number, kept, self._seal)
            if any(sentence in text for sentence in sentences):
                still.append(one)
        return tuple(still)

    def _suspects(
        self, sentences: Sequence[str], tenant: Tenant
    ) -> list[tuple[int, str, str, str]]:
        """Return (row, id, text, raw) of the records that may say one of the sentences."""
        sql = (
            "SELECT r.number, r.id, c.text, c.raw FROM records r JOIN contents c USING (number)"
            " WHERE r.tenant = ? AND r.id IS NOT NULL"
        )
        if not self._seal.plain:
            rows = self._database.read(sql, (tenant.number,))
        else:
            found: dict[int, tuple[int, str, str, str]] = {}
            for sentence in sentences:
                also = " AND (instr(c.raw, ?) OR instr(c.text, ?))"
                for row in self._database.read(sql + also, (tenant.number, sentence, sentence)):
                    found[row[0]] = row
            rows = [found[number] for number in sorted(found)]
        return [
            (number, one, open_text(text, self._seal), open_text(raw, self._seal))
            for number, one, text, raw in rows
        ]


def _filler(size_bytes: int) -> str:
    return FORGOTTEN.ljust(size_bytes)[:size_bytes]


def unknown_record(id: str, tenant: str) -> RecordError:  # noqa: A002
    """Return the error for an id that a tenant does not have."""
    return RecordError(
        f"{tenant!r} has no record {id!r}.", hint="Take the id from a hit or from records()."
    )


def files_with(files: Sequence[Path], needle: bytes) -> list[Path]:
    """Return those of the files that hold these bytes anywhere."""
    return [path for path in files if needle in _bytes_of(path)]


def _bytes_of(path: Path) -> bytes:
    """Return all of a file; Windows lets nobody read the page numbers of an open journal."""
    try:
        return path.read_bytes()
    except PermissionError:
        if not path.name.endswith("-shm"):
            raise
        return b""
