"""Which record means what: one row a record, and the rows nearest to a query.

    query (d,) ──scores()──▶ cosine to every record     (exact, up to EXACT_ROWS)
               ──signs──▶ the likeliest 1,000 ──▶ cosine to those    (beyond)

Up to 50,000 rows one matrix product is fast and exact. Beyond, each row has a shadow
of one bit a dimension (its sign): counting equal bits costs a thirtieth, and only the
best by bits are compared in full. Nothing is trained, so an add costs the same always.

Read after: postings.py.     Read next: embed.py, index.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb (`tiny_vectors`)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agentkit.memory.postings import Floats, Mask, Slots

EXACT_ROWS = 50_000  # about 10 ms of one core at 512 dimensions
SHORTLIST = 1_000  # rows compared in full behind the bits
FIRST_BLOCK, LARGEST_BLOCK = 256, 8_192  # rows; a full block is never copied again


class Vectors:
    """Rows of length 1 by slot; a slot may have none.

    Args:
        dimension: Numbers in a row.
        exact_rows: Up to so many, every row is compared.
    """

    def __init__(self, dimension: int, *, exact_rows: int = EXACT_ROWS) -> None:
        self.dimension = dimension
        self._exact_rows = exact_rows
        self._blocks: list[npt.NDArray[np.float32]] = []
        self._starts: list[int] = []
        self._has = np.zeros(0, np.bool_)
        self._bits: npt.NDArray[np.uint64] | None = None
        self._room = 0

    def grow(self, slots: int) -> None:
        """Make room for slots 0 to `slots` - 1; new ones have no row."""
        while self._room < slots:
            size = min(LARGEST_BLOCK, max(FIRST_BLOCK, self._room))
            self._starts.append(self._room)
            self._blocks.append(np.zeros((size, self.dimension), np.float32))
            self._room += size
        if self._room > len(self._has):
            self._has = np.concatenate([self._has, np.zeros(self._room - len(self._has), np.bool_)])

    def put(self, first: int, rows: Floats) -> None:
        """Set the rows of neighbouring slots.

        Args:
            first: The slot of the first row.
            rows: (n, d) float32, rows of length 1; a row of zeros means nothing is known.
        """
        self.grow(first + len(rows))
        done = 0
        while done < len(rows):
            block, at = self._place(first + done)
            part = rows[done : done + len(block) - at]
            block[at : at + len(part)] = part
            done += len(part)
        self._has[first : first + len(rows)] = True
        if self._bits is not None:
            self._write_bits(first, rows)

    def drop(self, slot: int) -> None:
        """Forget the row of a slot."""
        if slot < self._room:
            block, at = self._place(slot)
            block[at] = 0
            self._has[slot] = False

    def row(self, slot: int) -> Floats:
        """Return the row of a slot; zeros where there is none."""
        if slot >= self._room:
            return np.zeros(self.dimension, np.float32)
        block, at = self._place(slot)
        return np.array(block[at], np.float32)

    def missing(self, live: Mask) -> Slots:
        """Return the live slots that have no row, ascending."""
        self.grow(len(live))
        return np.flatnonzero(live & ~self._has[: len(live)])

    def scores(self, query: Floats, live: Mask) -> Floats:
        """Return the cosine of every live record to a query; 0 where it is not known.

        Args:
            query: (d,) float32 of length 1.
            live: (n,) which records count.
        """
        self.grow(len(live))
        if len(live) <= self._exact_rows:
            found = self._all(query)[: len(live)]
            return np.asarray(np.where(live, found, 0), np.float32)
        found = np.zeros(len(live), np.float32)
        likeliest = self._likeliest(query, live)
        cuts = np.searchsorted(likeliest, self._starts[1:])
        for start, block, slots in zip(
            self._starts, self._blocks, np.split(likeliest, cuts), strict=True
        ):
            found[slots] = block[slots - start] @ query
        return found

    def _all(self, query: Floats) -> Floats:
        if not self._blocks:
            return np.zeros(0, np.float32)
        return np.concatenate([block @ query for block in self._blocks])

    def _likeliest(self, query: Floats, live: Mask) -> Slots:
        """Return the live slots whose signs agree best with the query's; ties by slot."""
        bits = self._all_bits()
        distance = np.zeros(len(live), np.uint16)
        for word, sign in zip(bits, _signs(query[None, :]), strict=True):
            distance += np.bitwise_count(word[: len(live)] ^ sign)
        known = live & self._has[: len(live)]
        distance[~known] = self.dimension + 1
        if len(distance) <= SHORTLIST:
            return np.flatnonzero(known)
        limit = np.partition(distance, SHORTLIST)[SHORTLIST]
        return np.flatnonzero(distance <= min(limit, self.dimension))[: 2 * SHORTLIST]

    def _all_bits(self) -> npt.NDArray[np.uint64]:
        """Return the signs of every row, (⌈d/64⌉, room); made when first asked for."""
        if self._bits is None:
            self._bits = np.zeros((-(-self.dimension // 64), self._room), np.uint64)
            for start, block in zip(self._starts, self._blocks, strict=True):
                self._bits[:, start : start + len(block)] = _signs(block)
        return self._bits

    def _write_bits(self, first: int, rows: Floats) -> None:
        bits = self._all_bits()
        if self._room > bits.shape[1]:
            self._bits = np.zeros((bits.shape[0], self._room), np.uint64)
            self._bits[:, : bits.shape[1]] = bits
            bits = self._bits
        bits[:, first : first + len(rows)] = _signs(rows)

    def _place(self, slot: int) -> tuple[npt.NDArray[np.float32], int]:
        """Return the block of a slot and the row inside it."""
        at = int(np.searchsorted(self._starts, slot, side="right")) - 1
        return self._blocks[at], slot - self._starts[at]


def _signs(rows: Floats) -> npt.NDArray[np.uint64]:
    """Return one bit a dimension, packed: (⌈d/64⌉, n) uint64."""
    packed = np.packbits(rows > 0, axis=1)
    padded = np.zeros((len(rows), -(-rows.shape[1] // 64) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(padded.view(np.uint64).T)
