"""Long-term memory: records on disk, one namespace a tenant, from add to forget.

    add ─▶ merged into its twin │ supersedes its subject │ new     ─▶ recall.py finds it
    expire, importance ─▶ clean ─▶ forget (no file of the store holds its bytes)

The store is one SQLite file (and its journal while it is open). Rows are the truth;
both indexes live in memory and are read from the rows. Every call names a tenant, and
nothing crosses between two.

Read after: records.py, database.py, index.py.     Read next: recall.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType

from agentkit.clock import Clock, SystemClock
from agentkit.errors import (
    EmbedderError,
    RecordError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
)
from agentkit.memory.database import WAIT_S, Database, open_database
from agentkit.memory.embed import Embedder, HashedEmbedder, default_embedder
from agentkit.memory.forgetting import Forgetter, Forgotten, files_with, unknown_record
from agentkit.memory.indexes import Indexes
from agentkit.memory.keys import record_keys
from agentkit.memory.postings import Floats
from agentkit.memory.records import (
    Draft,
    Record,
    Written,
    check_id,
    check_ids,
    check_limit,
    check_moment,
    check_share,
    check_tenant,
)
from agentkit.memory.rows import SELECT_RECORD, read_records, record, seconds
from agentkit.memory.seal import Seal, seal_of
from agentkit.memory.stored_vectors import StoredVectors, embed_all
from agentkit.memory.tenants import Tenant, Tenants
from agentkit.memory.writing import Writer
from agentkit.text import clean_text


class LongTermMemory:
    """The memory of any number of tenants, in one file. Safe to share between threads.

    Open it with `LongTermMemory.open`; it closes itself at the end of a `with`.

    Attributes:
        database: The file.
        seal: What turns texts into what stands in the file.
        vectors: The tables of vectors, and the embedder of this process.
        indexes: Both indexes of each tenant.
        clock: Tells the time and makes ids.
    """

    def __init__(
        self, database: Database, seal: Seal, vectors: StoredVectors, clock: Clock
    ) -> None:
        self.clock = clock
        self.database = database
        self.seal = seal
        self.vectors = vectors
        self._tenants = Tenants(database, seal)
        self.indexes = Indexes(database, seal, vectors, self._tenants)
        self._writer = Writer(database, seal, vectors, clock)
        self._forgetter = Forgetter(database, seal)
        self._used: dict[tuple[str, str], float] = {}

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        key: str | bytes | None = None,
        read_only: bool = False,
        power_safe: bool = False,
        wait_s: float = WAIT_S,
    ) -> LongTermMemory:
        """Open a store, or make a new one.

        Args:
            path: A file, or ":memory:" for a store that ends with the process.
            embedder: Becomes the store's; another one's vectors are made anew, little by
                little. None: the default, which never displaces a better one.
            clock: Tells the time and makes ids.
            key: Encrypts a new store; opens an encrypted one.
            read_only: Refuse to write.
            power_safe: Let each write wait for the disk, so that it survives a power cut.
                Without, it survives the end of the process, however sudden.
            wait_s: How long a write waits for another process.

        Raises:
            StoreError: One of its children says why.
        """
        database = open_database(path, read_only=read_only, power_safe=power_safe, wait_s=wait_s)
        try:
            seal = seal_of(database, key)
            chosen = embedder or default_embedder()
            vectors = StoredVectors(database, seal, chosen)
            vectors.adopt(replace=not (isinstance(chosen, HashedEmbedder) and chosen.reason))
        except BaseException:
            database.close()
            raise
        return cls(database, seal, vectors, clock or SystemClock())

    def add(self, what: str | Draft, *, tenant: str) -> Written:
        """Remember one thing. When this returns, it is on the disk.

        Raises:
            RecordError: The draft or the tenant is none.
            StoreError: Nothing was written; one of its children says why.
        """
        return self.add_all([what], tenant=tenant)[0]

    def add_all(self, whats: Sequence[str | Draft], *, tenant: str) -> list[Written]:
        """Remember many things in one transaction: all of them, or none."""
        tenant = check_tenant(tenant)
        drafts = [what if isinstance(what, Draft) else Draft(what) for what in whats]
        keys = [record_keys(draft, self.seal.secret) for draft in drafts]
        vectors = self._embed([draft.text for draft in drafts])
        with self._changing(tenant) as at:
            written = [
                self._writer.write(draft, key, vector, at)
                for draft, key, vector in zip(drafts, keys, vectors, strict=True)
            ]
        with self.database.lock:
            self.indexes.added(at, written)
        return [one for one, _ in written]

    def supersede(self, id: str, what: str | Draft, *, tenant: str) -> Written:  # noqa: A002
        """Put a new record in the place of one, which recall never gives again."""
        draft = what if isinstance(what, Draft) else Draft(what)
        keys = record_keys(draft, self.seal.secret)
        vector = self._embed([draft.text])[0]
        with self._changing(tenant) as at:
            number = self._number(id, tenant)
            new = self._writer.replace(number, draft, keys, vector, at)
        return new

    def get(self, id: str, *, tenant: str) -> Record:  # noqa: A002
        """Return one record, superseded and expired ones too.

        Raises:
            RecordError: The tenant has none of this id.
        """
        tenant = check_tenant(tenant)
        with self.database.snapshot():
            number = self._number(id, tenant)
            return read_records(self.database, [number], tenant, self.seal)[number]

    def records(
        self, *, tenant: str, kind: str | None = None, superseded: bool = False,
        limit: int | None = None,
    ) -> list[Record]:  # fmt: skip
        """Return records in the order of writing, at most `limit`; expired ones too.

        Args:
            tenant: Whose.
            kind: Only of this kind.
            superseded: With those that gave way to others.
            limit: The newest so many; None for all.

        Raises:
            RecordError: One of these is of a wrong type.
        """
        tenant, most = check_tenant(tenant), check_limit(limit)
        if kind is not None and not isinstance(kind, str):
            raise RecordError(f"kind is {kind!r}.", hint='Give one kind: "preference".')
        rows = self.database.read(
            f"{SELECT_RECORD} WHERE r.tenant = (SELECT number FROM tenants WHERE name = ?)"
            " AND r.id IS NOT NULL AND (? OR r.superseded_by IS NULL) AND (? IS NULL OR r.kind = ?)"
            " ORDER BY r.number DESC LIMIT ?",
            (
                self._tenants.stored(tenant),
                bool(superseded),
                kind and clean_text(kind),
                kind and clean_text(kind),
                -1 if most is None else most,
            ),
        )
        return [record(row, tenant, self.seal) for row in reversed(rows)]

    def count(self, *, tenant: str, superseded: bool = False) -> int:
        """Return how many records a tenant has; expired ones too."""
        rows = self.database.read(
            "SELECT count(*) FROM records WHERE tenant = (SELECT number FROM tenants WHERE name=?)"
            " AND id IS NOT NULL AND (? OR superseded_by IS NULL)",
            (self._tenants.stored(check_tenant(tenant)), bool(superseded)),
        )
        return int(rows[0][0])

    def tenants(self) -> list[str]:
        """Return all names, sorted. For whoever keeps the store, never for a tenant."""
        return self._tenants.names()

    def update_importance(self, id: str, importance: float, *, tenant: str) -> Record:  # noqa: A002
        """Set how much a record matters, from 0.0 (may go) to 1.0 (must stay)."""
        value = check_share("importance", importance)
        return self._set("importance", value, id, tenant)

    def expire(self, id: str, *, tenant: str, at: datetime | None = None) -> Record:  # noqa: A002
        """Let a record end at a moment; None: now. It is recalled no more from then on."""
        check_moment("at", at)
        return self._set("expires", seconds(at or self.clock.now()), id, tenant)

    def clean(self, *, tenant: str, below: float = 0.0) -> Forgotten:
        """Forget what has expired, and what is of less importance than `below`."""
        now = self.clock.now().timestamp()
        line = check_share("below", below)
        self.flush(tenant=tenant)
        with self._changing(tenant) as at:
            rows = self.database.read(
                "SELECT id FROM records WHERE tenant = ? AND id IS NOT NULL"
                " AND superseded_by IS NULL AND (expires <= ? OR importance < ?) ORDER BY number",
                (at.number, now, line),
            )
            ids = [one for (one,) in rows]
            gone = self._forgetter.forget(ids, at, self.vectors.tables())
        return self._after_forgetting(gone)

    def forget(self, ids: str | Sequence[str], *, tenant: str) -> Forgotten:
        """Remove records and their older forms so that no file holds their bytes.

        Where another process is reading just then, its journal holds them a little longer:
        `in_journal` says so, and later writes, recalls and `close` see to it.

        Raises:
            RecordError: The tenant has no such record; nothing was forgotten.
            StoreLockedError: Another process was writing all the time; nothing was forgotten.
        """
        wanted = check_ids(ids)
        with self._changing(tenant) as at:
            gone = self._forgetter.forget(wanted, at, self.vectors.tables())
        return self._after_forgetting(gone)

    def forget_tenant(self, tenant: str) -> Forgotten:
        """Remove everything of a tenant, its name included."""
        with self._changing(tenant) as at:
            gone = self._forgetter.forget_all(at, self.vectors.tables())
            self._tenants.remove(at)
            self.indexes.renumber()
        return self._after_forgetting(gone, compact=True)

    def flush(self, *, tenant: str | None = None) -> None:
        """Write down which records were used since last time; None: of every tenant."""
        with self.database.lock:
            used = {key: when for key, when in self._used.items() if tenant in (None, key[0])}
            for key in used:
                del self._used[key]
        if not used or self.database.read_only:
            return
        with self.database.write():
            for (name, one), when in used.items():
                self.database.run(
                    "UPDATE records SET last_used = ? WHERE id = ?"
                    " AND tenant = (SELECT number FROM tenants WHERE name = ?)",
                    (when, one, self._tenants.stored(name)),
                )

    def note_used(self, ids: Sequence[str], *, tenant: str) -> None:
        """Note that recall gave these records to somebody; `flush` or `close` writes it."""
        when = self.clock.now().timestamp()
        name = check_tenant(tenant)
        with self.database.lock:
            self._used.update(dict.fromkeys([(name, one) for one in ids], when))

    def compact(self) -> None:
        """Write the file anew without the room of what was forgotten.

        Raises:
            StoreLockedError: Another process is using the store all the time.
        """
        self._rewrite()
        self.scrub()

    def _rewrite(self) -> None:
        """Write the file anew; what it held stands in the journal then."""
        with self.database.write():
            self._forgetter.drop_blank(self.vectors.tables())
            self.indexes.renumber()
        self.database.vacuum()

    def scrub(self) -> None:
        """Cut the journal to nothing, where another process kept `forget` from doing so.

        Raises:
            StoreLockedError: It still does.
        """
        self.database.scrub()

    def files_with(self, text: str | bytes) -> list[Path]:
        """Return the files of the store that hold these bytes anywhere."""
        needle = text.encode() if isinstance(text, str) else text
        return files_with(self.database.files(), needle)

    def close(self) -> None:
        """Write down what was used, if that can be, and close the file; twice is fine."""
        try:
            if not self.database.closed:
                self.flush()
        except (StoreLockedError, StoreReadOnlyError, StoreFullError):
            pass  # when a record was last used is not worth an error at the end
        finally:
            self.database.close()

    def __enter__(self) -> LongTermMemory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _embed(self, texts: Sequence[str]) -> Sequence[Floats | None]:
        """Return a vector a text, or None each: a later recall makes up for it."""
        try:
            return list(embed_all(self.vectors.embedder, texts))
        except EmbedderError:
            return [None] * len(texts)

    @contextmanager
    def _changing(self, tenant: str) -> Iterator[Tenant]:
        """Do one change of a tenant in one transaction."""
        name = check_tenant(tenant)
        with self.database.write():
            yield self._tenants.changed(name)

    def _number(self, id: str, tenant: str) -> int:  # noqa: A002
        """Return the row of a record."""
        at = self._tenants.find(check_tenant(tenant))
        sql = "SELECT number FROM records WHERE tenant = ? AND id = ?"
        rows = self.database.read(sql, (at.number, check_id(id))) if at else []
        if not rows:
            raise unknown_record(id, tenant)
        return int(rows[0][0])

    def _set(self, column: str, value: float | None, id: str, tenant: str) -> Record:  # noqa: A002
        with self._changing(tenant) as at:
            number = self._number(id, tenant)
            self.database.run(
                f"UPDATE records SET {column} = ?, changed = ? WHERE number = ?",
                (value, at.changes, number),
            )
            return read_records(self.database, [number], tenant, self.seal)[number]

    def _after_forgetting(self, gone: Forgotten, *, compact: bool = False) -> Forgotten:
        """Take what was overwritten out of the journal too, or note that this has to wait."""
        if not gone.ids and not compact:
            return gone
        if compact or self._forgetter.worth_compacting():
            try:
                self._rewrite()
            except StoreLockedError:  # it is overwritten; only its room is not given back
                self.database.uncut = True
        return replace(gone, in_journal=not self.database.cut_journal())
