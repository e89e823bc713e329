"""What becomes of a draft: a twin takes it in, it supersedes its subject, or it is new.

    draft ──▶ says what a record says?      merge: the record gains, nothing is added
          ──▶ gives its subject a value?    add, and the former value gives way
          ──▶ neither                       add

Two texts are the same when they differ only in case, width, commas and light words.
One changed word may be the whole news ("Monday", "Tuesday"), so nothing looser merges.

Read after: records.py, rows.py, tenants.py.     Read next: long.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentkit.clock import Clock
from agentkit.memory.database import Database
from agentkit.memory.keys import Keys, record_keys
from agentkit.memory.postings import Floats
from agentkit.memory.records import Draft, Record, Written
from agentkit.memory.rows import (
    INSERT_CONTENT,
    INSERT_RECORD,
    SELECT_RECORD,
    content_values,
    moment,
    record,
    record_values,
    seconds,
)
from agentkit.memory.seal import Seal
from agentkit.memory.stored_vectors import StoredVectors
from agentkit.memory.tenants import Tenant

TWINS = 20  # records of one text and different entities that are looked at


@dataclass(frozen=True, slots=True)
class Added:
    """A row that was written, for the index that shows it.

    Attributes:
        number: The row.
        keys: What it is found by.
        vector: What was stored, or None.
    """

    number: int
    keys: Keys
    vector: Floats | None


class Writer:
    """Writes drafts into the rows; always inside `database.write()`."""

    def __init__(
        self, database: Database, seal: Seal, vectors: StoredVectors, clock: Clock
    ) -> None:
        self._database = database
        self._seal = seal
        self._vectors = vectors
        self._clock = clock

    def write(
        self, draft: Draft, keys: Keys, vector: Floats | None, tenant: Tenant
    ) -> tuple[Written, Added | None]:
        """Write one draft, and say what became of it."""
        now = self._clock.now().timestamp()
        twin = self._twin(draft, keys, tenant, now)
        if twin is not None:
            number, held = twin
            merged = _merged(held.draft, draft)
            if _same_content(merged, held.draft):
                self._strengthen(number, merged, tenant)
                return Written(replace(held, draft=merged), "merged", (held.id,)), None
            keys = record_keys(merged, self._seal.secret)
            new, added = self.insert(merged, keys, vector, tenant, now)
            self.supersede(
                [number, *self._same_subject(keys, tenant, added.number)], new.id, tenant
            )
            return Written(new, "merged", (held.id,)), added
        new, added = self.insert(draft, keys, vector, tenant, now)
        former = self._same_subject(keys, tenant, added.number)
        others = self.supersede(former, new.id, tenant)
        return Written(new, "superseded" if others else "added", others), added

    def replace(
        self, number: int, draft: Draft, keys: Keys, vector: Floats | None, tenant: Tenant
    ) -> Written:
        """Write a draft in the place of a record."""
        now = self._clock.now().timestamp()
        new, added = self.insert(draft, keys, vector, tenant, now)
        former = [number, *self._same_subject(keys, tenant, added.number)]
        return Written(new, "superseded", self.supersede(former, new.id, tenant))

    def insert(
        self, draft: Draft, keys: Keys, vector: Floats | None, tenant: Tenant, now: float
    ) -> tuple[Record, Added]:
        """Write a new record."""
        number, taken = 0, True
        while taken:  # counted ids begin again when a store is opened again
            new = self._clock.new_id("m")
            values = record_values(draft, keys, tenant.number, new, now)
            number, taken = self._database.insert(INSERT_RECORD, values)
        self._database.insert(INSERT_CONTENT, content_values(number, draft, keys, self._seal))
        stored = self._vectors.place(number, vector, tenant.embedder)
        created = moment(now)
        assert created is not None
        return Record(new, tenant.name, draft, created), Added(number, keys, stored)

    def supersede(self, numbers: Sequence[int], by: str, tenant: Tenant) -> tuple[str, ...]:
        """Let records give way to another; return their ids."""
        ids: list[str] = []
        for number in dict.fromkeys(numbers):
            ids += [row[0] for row in self._database.read(_ID, (number,))]
            self._database.run(
                "UPDATE records SET superseded_by = ?, changed = ? WHERE number = ?",
                (by, tenant.changes, number),
            )
        return tuple(ids)

    def _twin(
        self, draft: Draft, keys: Keys, tenant: Tenant, now: float
    ) -> tuple[int, Record] | None:
        """Return the current record that says the same of the same things, if there is one."""
        rows = self._database.read(
            f"{SELECT_RECORD} WHERE r.tenant = ? AND r.same = ? AND r.superseded_by IS NULL"
            " AND (r.expires IS NULL OR r.expires > ?) ORDER BY r.number LIMIT ?",
            (tenant.number, keys.same, now, TWINS),
        )
        for row in rows:
            held = record(row, tenant.name, self._seal)
            if _compatible(held.draft, draft):
                return row[0], held
        return None

    def _strengthen(self, number: int, draft: Draft, tenant: Tenant) -> None:
        self._database.run(
            "UPDATE records SET importance = ?, confidence = ?, expires = ?, changed = ?"
            " WHERE number = ?",
            (
                draft.importance,
                draft.confidence,
                seconds(draft.expires),
                tenant.changes,
                number,
            ),
        )

    def _same_subject(self, keys: Keys, tenant: Tenant, number: int) -> list[int]:
        if not keys.subject:
            return []
        rows = self._database.read(
            "SELECT number FROM records WHERE tenant = ? AND subject = ?"
            " AND superseded_by IS NULL AND number <> ? ORDER BY number",
            (tenant.number, keys.subject, number),
        )
        return [found for (found,) in rows]


_ID = "SELECT id FROM records WHERE number = ? AND id IS NOT NULL"


def _compatible(held: Draft, draft: Draft) -> bool:
    """Say whether nothing that both name differs."""
    entities = all(draft.entities.get(k, v) == v for k, v in held.entities.items())
    subject = not held.subject or not draft.subject or held.subject == draft.subject
    speaker = not held.speaker or not draft.speaker or held.speaker == draft.speaker
    return entities and subject and speaker


def _merged(held: Draft, draft: Draft) -> Draft:
    """Return what both say: the held text, all entities, the greater of each number."""
    open_ended = held.expires is None or draft.expires is None
    return replace(
        held,
        entities={**held.entities, **draft.entities},
        subject=held.subject or draft.subject,
        speaker=held.speaker or draft.speaker,
        importance=max(held.importance, draft.importance),
        confidence=max(held.confidence, draft.confidence),
        expires=None if open_ended else max(filter(None, (held.expires, draft.expires))),
    )


def _same_content(one: Draft, other: Draft) -> bool:
    return (dict(one.entities), one.subject, one.speaker) == (
        dict(other.entities),
        other.subject,
        other.speaker,
    )
