"""The vectors in the file: one table an embedder, so that two never mix.

    open with embedder A ─▶ vectors_1     then with B ─▶ vectors_2, filled little by little

Each record has a row in the table of the store's embedder from the moment it is added;
`known` says whether its vector is there yet. A changed embedder gets a new table, the
old one stays until the new one is full, and a process that still holds the old embedder
sees that the store has moved on and says so.

Read after: embed.py, rows.py.     Read next: long.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agentkit.errors import EmbedderError
from agentkit.memory.database import Database
from agentkit.memory.embed import Embedder
from agentkit.memory.postings import Floats
from agentkit.memory.rows import from_file, marks, open_text, to_file
from agentkit.memory.seal import Seal

SEALED_EXTRA = 28  # bytes of nonce and tag around a sealed vector
REEMBED_BATCH = 64  # texts; each batch is on the disk before the next begins

Progress = Callable[[int, int], None]


class StoredVectors:
    """The tables of vectors of one store, as seen by one embedder.

    Attributes:
        embedder: Whose vectors this process makes.
    """

    def __init__(self, database: Database, seal: Seal, embedder: Embedder) -> None:
        self.embedder = embedder
        self._database = database
        self._seal = seal
        self._own = self._number()

    def adopt(self, *, replace: bool) -> None:
        """Make this embedder the store's, where it has none or `replace` is set."""
        current = self.current()
        if self._database.read_only or (current is not None and current == self._number()):
            return
        with self._database.write():
            if self.current() is not None and not replace:
                return
            number = self._number()
            if number is None:
                number, _ = self._database.insert(
                    "INSERT INTO embedders (name, dimension) VALUES (?, ?)",
                    (self.embedder.name, self.embedder.dimension),
                )
                self._database.run(
                    f"CREATE TABLE vectors_{number} (number INTEGER PRIMARY KEY,"
                    " known INTEGER NOT NULL, vector BLOB NOT NULL)"
                )
            self._database.run(
                f"INSERT INTO vectors_{number} SELECT number, 0, zeroblob(?) FROM contents"
                f" WHERE number > (SELECT coalesce(max(number), 0) FROM vectors_{number})"
                " ORDER BY number",
                (self._stored_size(self.embedder.dimension),),
            )
            self._database.run("INSERT OR REPLACE INTO meta VALUES ('embedder', ?)", (number,))
            self._own = number

    def current(self) -> int | None:
        """Return the number of the store's embedder, or None for a store without one."""
        rows = self._database.read("SELECT value FROM meta WHERE name = 'embedder'")
        return int(rows[0][0]) if rows else None

    def table(self, current: int | None) -> str:
        """Return the table to read vectors from; "" where they are another embedder's."""
        return f"vectors_{current}" if current and current == self._own else ""

    def tables(self) -> list[str]:
        """Return every table of vectors, those of former embedders included."""
        rows = self._database.read("SELECT number FROM embedders ORDER BY number")
        return [f"vectors_{number}" for (number,) in rows]

    def whose(self, current: int | None) -> str:
        """Return the name of the store's embedder."""
        rows = self._database.read("SELECT name FROM embedders WHERE number = ?", (current,))
        return str(rows[0][0]) if rows else "no embedder"

    def place(self, number: int, vector: Floats | None, current: int | None) -> Floats | None:
        """Give a new record its row, with its vector if that is of the store's embedder.

        Args:
            number: The row.
            vector: (d,) of this process's embedder, or None.
            current: The number of the store's embedder.

        Returns:
            The vector as every process will read it, or None.
        """
        if current is None:
            return None
        mine = vector if self.table(current) else None
        if mine is None:
            rows = self._database.read("SELECT dimension FROM embedders WHERE number=?", (current,))
            stored = bytes(self._stored_size(rows[0][0]))
        else:
            stored = self._seal.close(to_file(mine))
        self._database.run(
            f"INSERT INTO vectors_{current} VALUES (?, ?, ?)", (number, mine is not None, stored)
        )
        return None if mine is None else from_file(to_file(mine))

    def fill(self, numbers: Sequence[int], bump: Callable[[Sequence[int]], None]) -> None:
        """Embed these rows and store their vectors, each batch in one transaction.

        Args:
            numbers: Rows without a vector.
            bump: Marks rows as changed, so that every process reads them again.

        Raises:
            EmbedderError: The embedder failed; what was stored before stays.
        """
        table = self.table(self.current())
        for start in range(0, len(numbers) if table else 0, REEMBED_BATCH):
            some = numbers[start : start + REEMBED_BATCH]
            sql = "SELECT c.number, c.text FROM contents c JOIN records r USING (number) WHERE"
            rows = self._database.read(
                f"{sql} r.id IS NOT NULL AND c.number IN ({marks(some)})", some
            )
            vectors = embed_all(self.embedder, [open_text(text, self._seal) for _, text in rows])
            with self._database.write():
                for (number, _), vector in zip(rows, vectors, strict=True):
                    stored = self._seal.close(to_file(vector))
                    self._database.run(
                        f"UPDATE {table} SET known = 1, vector = ? WHERE number = ? AND number IN"
                        " (SELECT number FROM records WHERE id IS NOT NULL)",
                        (stored, number),
                    )
                bump([number for number, _ in rows])

    def waiting(self) -> list[int]:
        """Return all rows of the store that have no vector of its embedder, in order."""
        table = self.table(self.current())
        if not table:
            return []
        sql = f"SELECT number FROM {table} JOIN records r USING (number) WHERE NOT known"
        rows = self._database.read(f"{sql} AND r.id IS NOT NULL ORDER BY number")
        return [number for (number,) in rows]

    def drop_former(self) -> None:
        """Remove the tables of former embedders, once the current one has every vector."""
        if self.waiting() or not self.table(self.current()):
            return
        with self._database.write():
            current = self.current()
            for table in self.tables():
                if table != f"vectors_{current}":
                    self._database.run(f"DROP TABLE {table}")
            self._database.run("DELETE FROM embedders WHERE number <> ?", (current,))

    def _number(self) -> int | None:
        rows = self._database.read(
            "SELECT number FROM embedders WHERE name = ? AND dimension = ?",
            (self.embedder.name, self.embedder.dimension),
        )
        return int(rows[0][0]) if rows else None

    def _stored_size(self, dimension: int) -> int:
        return 2 * dimension + (0 if self._seal.plain else SEALED_EXTRA)


def embed_all(embedder: Embedder, texts: Sequence[str]) -> Floats:
    """Return (n, d) float32, rows of length 1 or 0, whatever the embedder gave.

    Raises:
        EmbedderError: The shape is not (n, d), or a number is not finite.
    """
    if not texts:
        return np.zeros((0, embedder.dimension), np.float32)
    rows: Any = np.asarray(embedder.embed(texts), np.float32)
    if rows.shape != (len(texts), embedder.dimension):
        raise EmbedderError(
            f"{embedder.name} gave {rows.shape} for {len(texts)} texts of dimension"
            f" {embedder.dimension}.",
            hint="Set the embedder's dimension to what its model returns.",
        )
    squares = np.einsum("ij,ij->i", rows, rows)
    if not np.isfinite(squares).all():
        raise EmbedderError(
            f"{embedder.name} gave numbers that are not finite.", hint="Try another model."
        )
    squares[squares == 0] = 1
    return np.asarray(rows / np.sqrt(squares)[:, None], np.float32)
