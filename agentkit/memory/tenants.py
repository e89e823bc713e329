"""Whose memory is whose: the tenants of a store, and how often each has changed.

    "ada" ──▶ number 3, change 1042      (both indexes of "ada" know what change they show)

In a sealed store the names are sealed too, and found again by a keyed hash.

Read after: database.py, seal.py.     Read next: writing.py, long.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentkit.memory.database import Database
from agentkit.memory.keys import code
from agentkit.memory.rows import close_text, open_text
from agentkit.memory.seal import Seal

_EMBEDDER = "SELECT value FROM meta WHERE name = 'embedder'"


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant as its row says.

    Attributes:
        name: E.g. "ada".
        number: In the rows of its records.
        changes: The number of its last change.
        embedder: The number of the store's embedder, or None for a store without one.
    """

    name: str
    number: int
    changes: int
    embedder: int | None


class Tenants:
    """The tenants of one store."""

    def __init__(self, database: Database, seal: Seal) -> None:
        self._database = database
        self._seal = seal

    def find(self, name: str) -> Tenant | None:
        """Return a tenant, or None when nothing was ever remembered under this name."""
        sql = f"SELECT number, changes, ({_EMBEDDER}) FROM tenants WHERE name = ?"
        rows = self._database.read(sql, (self.stored(name),))
        return Tenant(name, *rows[0]) if rows else None

    def changed(self, name: str) -> Tenant:
        """Return a tenant with the number of the change that begins; make it if it is new."""
        found = self.find(name)
        if found is None:
            number, _ = self._database.insert(
                "INSERT INTO tenants (name, label, changes) VALUES (?, ?, 1)",
                (self.stored(name), close_text(name, self._seal)),
            )
            return Tenant(name, number, 1, self._database.read(f"SELECT ({_EMBEDDER})")[0][0])
        change = found.changes + 1
        self._database.run(
            "UPDATE tenants SET changes = ? WHERE number = ?", (change, found.number)
        )
        return Tenant(name, found.number, change, found.embedder)

    def names(self) -> list[str]:
        """Return the names of all tenants, sorted. For whoever keeps the store, not for one."""
        rows = self._database.read("SELECT label FROM tenants")
        return sorted(open_text(label, self._seal) for (label,) in rows)

    def remove(self, tenant: Tenant) -> None:
        """Delete a tenant's own row."""
        self._database.run("DELETE FROM tenants WHERE number = ?", (tenant.number,))

    def stored(self, name: str) -> str:
        """Return a name as it stands in the file."""
        return name if self._seal.plain else f"{code(f'tenant:{name}', self._seal.secret):x}"
