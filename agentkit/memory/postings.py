"""Which record holds which word: an index that grows in place, and BM25 over it.

    "charity race" ──codes──▶ [3, 17, 40] [17] ──bm25()──▶ one score a record

rank-bm25 reads all texts again at every add. Here a new record appends one number to
the list of each of its words, and a query looks at the lists of its own words only.
A record that is gone is masked, not searched for, so its words stop counting at once.
Most words of a small store stand in one record only; such a list is a bare number, for
an array costs 100 bytes more.

Read after: keys.py.     Read next: vectors.py, index.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb (`tiny_bm25`)
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

K1, B = 0.9, 0.4  # short texts: repetition and length say less than in documents
MAX_SLOTS = 1 << 24  # a posting is 32 bits: 24 for the record, 8 for the count

Floats = npt.NDArray[np.float32]
Slots = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Postings:
    """Lists of records by key. A record is known by its slot: 0, 1, 2, … as added."""

    def __init__(self) -> None:
        self._lists: dict[int, int | array[int]] = {}

    def add(self, slot: int, keys: npt.NDArray[np.void]) -> None:
        """Add one record.

        Args:
            slot: Greater than every slot added before.
            keys: (n,) of `keys.CODES`, no code twice.
        """
        shifted = slot << 8
        lists = self._lists
        for code, count in keys.tolist():
            found = lists.get(code)
            if found is None:
                lists[code] = shifted | count
            elif isinstance(found, int):
                lists[code] = array("I", (found, shifted | count))
            else:
                found.append(shifted | count)

    def load(self, first: int, sizes: npt.NDArray[np.int64], keys: npt.NDArray[np.void]) -> None:
        """Add many records at once.

        Args:
            first: The slot of the first; the others follow.
            sizes: (n,) how many keys each has.
            keys: (sum of sizes,) of `keys.CODES`, record by record.
        """
        slots = np.repeat(np.arange(first, first + len(sizes), dtype=np.uint32), sizes)
        entries = (slots << np.uint32(8)) | keys["count"].astype(np.uint32)
        order = np.argsort(keys["code"], kind="stable")
        codes, entries = keys["code"][order], entries[order]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = [*starts[1:].tolist(), len(codes)]
        raw = array("I", entries.tobytes())
        lists = self._lists
        for code, start, end in zip(codes[starts].tolist(), starts.tolist(), ends, strict=False):
            found = lists.get(code)
            if found is None:
                lists[code] = raw[start] if end - start == 1 else raw[start:end]
            elif isinstance(found, int):
                lists[code] = array("I", (found, *raw[start:end]))
            else:
                found.extend(raw[start:end])

    def holders(self, code: int) -> tuple[Slots, Floats]:
        """Return the slots that have a key, ascending, and how often; gone ones too."""
        found = self._lists.get(code)
        if found is None:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        entries = np.frombuffer(_entries(found), np.uint32)
        return (entries >> 8).astype(np.int64), (entries & 255).astype(np.float32)

    def bm25(self, query: Mapping[int, float], lengths: Floats, live: Mask) -> tuple[Floats, float]:
        """Score every record against a query.

        Robertson and Zaragoza 2009, equations 3.3 and 3.15, with the idf kept positive.

        Args:
            query: The weight of each key, e.g. how often it was said. Sums are in this order.
            lengths: (n,) words of each record.
            live: (n,) which records count. Others get 0 and are in no statistic.

        Returns:
            (n,) scores, 0 where no word matches; and the coverage: the share of the
            query, by rarity of its words, that the best record has (0 to 1).
        """
        scores = np.zeros(len(lengths), np.float32)
        alive = int(np.count_nonzero(live))
        if not alive or not query:
            return scores, 0.0
        counted = lengths[live] if alive < len(live) else lengths
        average = max(float(counted.sum(dtype=np.float64)) / alive, 1.0)
        asked = 0.0
        for code in query:
            slots, counts = self.holders(code)
            if alive < len(live):
                keep = live[slots]
                slots, counts = slots[keep], counts[keep]
            idf = math.log(1 + (alive - len(slots) + 0.5) / (len(slots) + 0.5))
            asked += query[code] * idf
            if len(slots):
                norm = K1 * (1 - B) + (K1 * B / average) * lengths[slots]
                scores[slots] += (query[code] * idf * (K1 + 1)) * counts / (counts + norm)
        return scores, min(1.0, float(np.max(scores)) / (asked * (K1 + 1)))

    def snapshot(self, live: Mask) -> dict[int, list[tuple[int, int]]]:
        """Return every list without what is gone: (slot, count) by key, for comparison."""
        found = {
            key: [(e >> 8, e & 255) for e in _entries(held) if live[e >> 8]]
            for key, held in self._lists.items()
        }
        return {key: entries for key, entries in found.items() if entries}


def _entries(held: int | array[int]) -> array[int]:
    """Return a list as an array, the bare number of a single entry too."""
    return array("I", (held,)) if isinstance(held, int) else held
