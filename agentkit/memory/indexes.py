"""The indexes of the tenants in use, each as new as the rows.

    "ada" ──at()──▶ TenantIndex that shows the last change of "ada", whoever made it

An index is read from the rows when its tenant is first asked about, and after that only
what changed is read. The least recently used go when there are too many records.

Read after: index.py, stored_vectors.py, tenants.py.     Read next: long.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from agentkit.memory.database import Database
from agentkit.memory.index import TenantIndex
from agentkit.memory.records import Written
from agentkit.memory.rows import Change, Source, seconds
from agentkit.memory.seal import Seal
from agentkit.memory.stored_vectors import StoredVectors
from agentkit.memory.tenants import Tenant, Tenants
from agentkit.memory.writing import Added

MAX_LOADED = 500_000  # records whose indexes stay in memory: about 1.3 GB at 512 dimensions
GONE_FROM = 1_000  # slots of records that are gone; below, they are not worth a new index


class Indexes:
    """One index a tenant, for one open store.

    Attributes:
        tenants: The tenants of the store.
    """

    def __init__(
        self, database: Database, seal: Seal, vectors: StoredVectors, tenants: Tenants
    ) -> None:
        self._database = database
        self._seal = seal
        self._vectors = vectors
        self.tenants = tenants
        self._loaded: OrderedDict[str, TenantIndex] = OrderedDict()
        self._generation: tuple[int, int | None] = (0, None)

    def at(self, name: str) -> TenantIndex | None:
        """Return the index of a tenant, or None when nothing was ever remembered for it.

        Call it inside `database.snapshot()`, so that it shows one state of the rows.
        """
        generation = (self._compactions(), self._vectors.current())
        if generation != self._generation:  # rows were renumbered, or vectors are others
            self._loaded.clear()
            self._generation = generation
        tenant = self.tenants.find(name)
        if tenant is None:
            self._loaded.pop(name, None)
            return None
        index = self._loaded.get(name)
        if index is None or (index.gone >= GONE_FROM and 2 * index.gone >= index.size):
            index = self.fresh(tenant)
            self._loaded[name] = index
        self._loaded.move_to_end(name)
        index.refresh(tenant.changes)
        self._unload()
        return index

    def fresh(self, tenant: Tenant) -> TenantIndex:
        """Return a new index of a tenant, read from the rows."""
        table = self._vectors.table(self._vectors.current())
        dimension = self._vectors.embedder.dimension
        source = Source(self._database, self._seal, tenant.number, table, dimension)
        index = TenantIndex(source)
        index.refresh(tenant.changes)
        return index

    def added(self, tenant: Tenant, written: Sequence[tuple[Written, Added | None]]) -> None:
        """Show what this process just wrote, where the index showed all before it.

        Anything but plain additions is left to the next `at`.
        """
        index = self._loaded.get(tenant.name)
        if index is None or index.changes != tenant.changes - 1:
            return
        if any(one.outcome != "added" or new is None for one, new in written):
            return
        for one, new in written:
            assert new is not None
            draft, turn = one.record.draft, one.record.draft.turn
            row = Change(
                new.number,
                True,
                draft.importance,
                draft.confidence,
                one.record.created.timestamp(),
                seconds(draft.expires),
                draft.kind,
                new.keys.talk,
                turn[1] if turn else 0,
            )
            index.append_one(row, new.keys, new.vector, tenant.changes)

    def renumber(self) -> None:
        """Tell every process to read its indexes anew; inside `database.write()`."""
        self._database.run("UPDATE meta SET value = value + 1 WHERE name = 'compactions'")

    def _compactions(self) -> int:
        rows = self._database.read("SELECT value FROM meta WHERE name = 'compactions'")
        return int(rows[0][0])

    def _unload(self) -> None:
        total = sum(index.size for index in self._loaded.values())
        while total > MAX_LOADED and len(self._loaded) > 1:
            _, oldest = self._loaded.popitem(last=False)
            total -= oldest.size
