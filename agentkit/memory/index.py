"""Both indexes of one tenant, in memory, and kept equal to the rows.

    rows ──refresh()──▶ words · ids · vectors · neighbours ──scores()──▶ Scores

Each tenant has an index of its own, so no word, count or score of one can show in
another: the rarity of a word is counted among the tenant's records. Every change of a
tenant's rows has a number, and `refresh` reads what is newer than it knows, whoever
wrote it. So two processes agree, and nothing is ever built anew because of a query.

Read after: postings.py, vectors.py, neighbours.py, rows.py.     Read next: long.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agentkit.errors import StoreError
from agentkit.memory.keys import Keys
from agentkit.memory.neighbours import Neighbours
from agentkit.memory.postings import MAX_SLOTS, Floats, Mask, Postings, Slots
from agentkit.memory.rows import Change, Source, batches
from agentkit.memory.vectors import Vectors

LOAD = 250  # records that are read at once; their rows take 1 MB until the next come
NEVER = float("inf")  # the expiry of a record that has none
_FACTS: Mapping[str, type[np.generic]] = {
    "number": np.int64,
    "live": np.bool_,
    "importance": np.float32,
    "confidence": np.float32,
    "created": np.float64,
    "expires": np.float64,
    "kind": np.int32,
    "length": np.float32,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, as the indexes read it.

    Attributes:
        words: How often each word was said, by code.
        ids: The length of each identifier in characters, by code.
        speakers: Codes of the people it may name.
        vector: (d,) float32 of length 1, or None when the vector route is down.
    """

    words: Mapping[int, float]
    ids: Mapping[int, float] = field(default_factory=dict)
    speakers: Sequence[int] = ()
    vector: Floats | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """Which records may be hits; each field that is set must hold.

    Attributes:
        kinds: Their kind is one of these.
        exact: Codes of exact fields that they have.
        since: They were created at this time or later, in seconds.
        until: They were created before this time.
        importance: At least this.
        confidence: At least this.
    """

    kinds: frozenset[str] = frozenset()
    exact: tuple[int, ...] = ()
    since: float = -NEVER
    until: float = NEVER
    importance: float = 0.0
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Scores:
    """What each route says of each record of a tenant; (n,) arrays in order of writing.

    Attributes:
        numbers: The rows.
        allowed: Which records may be hits: current, not expired, and as the filter says.
        words: BM25, 0 where no word matches.
        coverage: The share of the query, by rarity, that the best record has.
        meaning: Cosine; 0 where it is not known.
        ids: Characters of the query's identifiers that the record has; 0 for none.
        speaker: Whether the query names who said it.
        before: The slot of the turn before in its conversation, or -1.
        after: The slot of the turn after, or -1.
    """

    numbers: Slots
    allowed: Mask
    words: Floats
    coverage: float
    meaning: Floats
    ids: Floats
    speaker: Mask
    before: npt.NDArray[np.int32]
    after: npt.NDArray[np.int32]


class TenantIndex:
    """The indexes of one tenant.

    Attributes:
        changes: The number of the last change that it knows.
        size: Slots in use, those of records that are gone included.
        gone: Slots of records that are gone.
    """

    def __init__(self, source: Source) -> None:
        self.changes = 0
        self.size = 0
        self.gone = 0
        self._source = source
        self._newest = -1
        self._words = Postings()
        self._exact = Postings()
        self._vectors = Vectors(source.dimension)
        self._neighbours = Neighbours()
        self._kinds: dict[str, int] = {}
        self._facts = {name: np.zeros(0, kind) for name, kind in _FACTS.items()}

    def refresh(self, changes: int) -> None:
        """Read the rows that changed since last time.

        Args:
            changes: The number of the tenant's last change, read in the same snapshot.
        """
        if changes == self.changes:
            return
        if self._newest >= 0:
            self._update(self._source.changed(self.changes, self._newest))
        for some in batches(self._source.newer(self._newest), LOAD):
            self._append([row for row in self._source.facts(some) if row.live])
            self._newest = some[-1]
        self.changes = changes

    def append_one(self, row: Change, keys: Keys, vector: Floats | None, changes: int) -> None:
        """Add the record that this process just wrote, without reading it back.

        Args:
            row: As `refresh` would read it.
            keys: What it is found by.
            vector: (d,) or None when it has none yet.
            changes: The number of the change.
        """
        slot = self._make_room(1)
        self._words.add(slot, keys.words)
        self._exact.add(slot, keys.exact)
        self._facts["length"][slot] = keys.words["count"].sum()
        self._set_facts(slot, row)
        self._neighbours.add(slot, row.talk, row.turn)
        if vector is not None:
            self._vectors.put(slot, vector[None, :])
        self._newest, self.changes = row.number, changes

    def scores(self, asked: Asked, now: float, where: Where | None = None) -> Scores:
        """Ask every route about every record that counts at this moment."""
        live = np.logical_and(self._fact("live"), self._fact("expires") > now)
        words, coverage = self._words.bm25(asked.words, self._fact("length"), live)
        meaning = np.zeros(self.size, np.float32)
        if asked.vector is not None:
            meaning = self._vectors.scores(asked.vector, live)
        ids = np.zeros(self.size, np.float32)
        for code, length in asked.ids.items():
            ids[self._exact.holders(code)[0]] += length
        speaker = np.zeros(self.size, np.bool_)
        for code in asked.speakers:
            speaker[self._exact.holders(code)[0]] = True
        allowed = live if where is None else live & self._matching(where)
        numbers = self._fact("number")
        before, after = self._neighbours.sides()
        return Scores(
            numbers, allowed, words, coverage, meaning, ids * live, speaker & live, before, after
        )

    def missing(self) -> Slots:
        """Return the rows of records without a vector, in order."""
        return self._fact("number")[self._vectors.missing(self._fact("live"))]

    def snapshot(self) -> dict[str, Any]:
        """Return all that the index knows, by row, in a form that can be compared."""
        live = self._fact("live")
        numbers = self._fact("number").tolist()
        kinds = {code: name for name, code in self._kinds.items()}
        sides = [side.tolist() for side in self._neighbours.sides()]

        def lists(postings: Postings) -> dict[int, list[tuple[int, int]]]:
            found = postings.snapshot(live)
            return {code: [(numbers[s], n) for s, n in held] for code, held in found.items()}

        rows = {
            numbers[slot]: {
                **{name: self._facts[name][slot].item() for name in _FACTS if name != "kind"},
                "kind": kinds[int(self._facts["kind"][slot])],
                "vector": self._vectors.row(slot).tobytes(),
                "neighbours": [numbers[side[slot]] if side[slot] >= 0 else None for side in sides],
            }
            for slot in np.flatnonzero(live).tolist()
        }
        return {"words": lists(self._words), "exact": lists(self._exact), "rows": rows}

    def _fact(self, name: str) -> npt.NDArray[Any]:
        return self._facts[name][: self.size]

    def _matching(self, where: Where) -> Mask:
        """Return which records a filter lets through, (n,)."""
        created = self._fact("created")
        found = (created >= where.since) & (created < where.until)
        found &= self._fact("importance") >= np.float32(where.importance)
        found &= self._fact("confidence") >= np.float32(where.confidence)
        if where.kinds:
            kinds = [self._kinds[kind] for kind in where.kinds if kind in self._kinds]
            found &= np.isin(self._fact("kind"), kinds)
        for code in where.exact:
            has = np.zeros(self.size, np.bool_)
            has[self._exact.holders(code)[0]] = True
            found &= has
        return found

    def _make_room(self, more: int) -> int:
        """Make room for more records; return the slot of the first."""
        first, self.size = self.size, self.size + more
        if self.size > MAX_SLOTS:
            raise StoreError(
                f"A tenant has more than {MAX_SLOTS} records.", hint="Split it into several."
            )
        room = len(self._facts["number"])
        if self.size > room:
            for name, old in self._facts.items():
                new = np.zeros(max(self.size, 64, room + room // 4), old.dtype)
                new[:first] = old[:first]
                self._facts[name] = new
        return first

    def _set_facts(self, slot: int, row: Change) -> None:
        facts = self._facts
        facts["number"][slot] = row.number
        facts["live"][slot] = row.live
        facts["importance"][slot] = row.importance
        facts["confidence"][slot] = row.confidence
        facts["created"][slot] = row.created
        facts["expires"][slot] = NEVER if row.expires is None else row.expires
        facts["kind"][slot] = self._kinds.setdefault(row.kind, len(self._kinds))

    def _set_columns(self, first: int, rows: Sequence[Change]) -> None:
        """Do what `_set_facts` does for many new records, a column at a time."""
        kinds = self._kinds
        columns = dict(zip(Change._fields, zip(*rows, strict=True), strict=True))
        columns["expires"] = tuple(NEVER if at is None else at for at in columns["expires"])
        columns["kind"] = tuple(kinds.setdefault(kind, len(kinds)) for kind in columns["kind"])
        for name, values in columns.items():
            if name in self._facts:
                self._facts[name][first : self.size] = values
        self._neighbours.load(
            first, np.array(columns["talk"], np.int64), np.array(columns["turn"], np.int64)
        )

    def _append(self, rows: Sequence[Change]) -> None:
        """Add live records that were not known, ordered by number."""
        if not rows:
            return
        numbers = [row.number for row in rows]
        first = self._make_room(len(rows))
        self._set_columns(first, rows)
        words, exact = self._source.keys(numbers)
        self._words.load(first, *words)
        self._exact.load(first, *exact)
        ends = np.concatenate([[0], np.cumsum(words[1]["count"], dtype=np.int64)])
        borders = ends[np.concatenate([[0], np.cumsum(words[0])])]
        self._facts["length"][first : self.size] = np.diff(borders)
        self._put_vectors(dict(zip(numbers, range(first, self.size), strict=True)))

    def _update(self, rows: Sequence[Change]) -> None:
        """Write down what changed in known records; one that is gone keeps its slot."""
        places = np.searchsorted(self._fact("number"), [row.number for row in rows])
        without = set(self._vectors.missing(self._fact("live")).tolist()) if rows else set()
        fresh: dict[int, int] = {}
        for slot, row in zip(places.tolist(), rows, strict=True):
            if slot >= self.size or self._facts["number"][slot] != row.number:
                continue  # it was gone before this index first looked
            if row.live and slot in without:
                fresh[row.number] = slot
            if not row.live and self._facts["live"][slot]:
                self._neighbours.remove(slot)
                self._vectors.drop(slot)
                self.gone += 1
            self._set_facts(slot, row)
        if fresh:
            self._put_vectors(dict(sorted(fresh.items())))

    def _put_vectors(self, slots: Mapping[int, int]) -> None:
        """Read the vectors of these rows into their slots; some may have none yet."""
        self._vectors.grow(self.size)
        for numbers, rows in self._source.vectors_of(list(slots)):
            places = np.array([slots[number] for number in numbers], np.int64)
            breaks = np.flatnonzero(np.diff(places) != 1) + 1
            parts = zip(np.split(places, breaks), np.split(rows, breaks), strict=True)
            for neighbouring, part in parts:
                self._vectors.put(int(neighbouring[0]), part)
