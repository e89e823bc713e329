"""Which record holds which word: an index that grows in place, and BM25 over it.

    "charity race" ──codes──▶ [3, 17, 40] [17] ──bm25()──▶ one score a record

rank-bm25 reads all texts again at every add. Here a new record appends one number to
the list of each of its words, and a query looks at the lists of its own words only.
A record that is gone is masked, not searched for, so its words stop counting at once.

What is loaded at once lies in three arrays, sorted by word: 12 bytes a word and 4 a
mention. What is added behind it has lists of its own, 200 bytes a word, that grow.

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
SORTED_FROM = 1_000_000  # postings that may wait, or as many as are sorted: 30 MB meanwhile
SMALL_SHARE = 8  # a load of less than an eighth of what is there is added instead

Floats = npt.NDArray[np.float32]
Slots = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Postings:
    """Lists of records by key. A record is known by its slot: 0, 1, 2, … as added."""

    def __init__(self) -> None:
        self._codes = np.empty(0, np.int64)  # sorted, each once
        self._ends = np.zeros(1, np.int64)  # of each one's postings, behind a 0
        self._loaded = np.empty(0, np.uint32)
        self._waiting: list[tuple[Slots, npt.NDArray[np.uint32]]] = []  # keys, postings
        self._added: dict[int, int | array[int]] = {}  # of slots behind those; one is bare

    def add(self, slot: int, keys: npt.NDArray[np.void]) -> None:
        """Add one record.

        Args:
            slot: Greater than every slot added before.
            keys: (n,) of `keys.CODES`, no code twice.
        """
        self._sort_waiting()
        shifted = slot << 8
        lists = self._added
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
        few = not self._waiting and SMALL_SHARE * len(keys) < len(self._loaded)
        if self._added or few:
            ends = np.cumsum(sizes)[:-1]
            for slot, own in enumerate(np.split(keys, ends) if len(sizes) else (), first):
                self.add(slot, own)
            return
        slots = np.repeat(np.arange(first, first + len(sizes), dtype=np.uint32), sizes)
        entries = (slots << np.uint32(8)) | keys["count"].astype(np.uint32)
        self._waiting.append((keys["code"].astype(np.int64), entries))
        waiting = sum(len(codes) for codes, _ in self._waiting)
        if waiting >= max(SORTED_FROM, len(self._loaded)):
            self._sort_waiting()

    def holders(self, code: int) -> tuple[Slots, Floats]:
        """Return the slots that have a key, ascending, and how often; gone ones too."""
        self._sort_waiting()
        at = int(np.searchsorted(self._codes, code))
        entries = np.empty(0, np.uint32)
        if at < len(self._codes) and self._codes[at] == code:
            entries = self._loaded[self._ends[at] : self._ends[at + 1]]
        added = self._added.get(code)
        if added is not None:
            entries = np.concatenate([entries, _entries(added)])
        return (entries >> 8).astype(np.int64), (entries & 255).astype(np.float32)

    def _sort_waiting(self) -> None:
        """Put what was loaded where it can be found."""
        if not self._waiting:
            return
        before = (np.repeat(self._codes, np.diff(self._ends)), self._loaded)
        codes, entries = map(np.concatenate, zip(before, *self._waiting, strict=True))
        self._waiting = []
        order = np.argsort(codes, kind="stable")  # slots stay ascending
        codes, self._loaded = codes[order], entries[order]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        self._codes = codes[starts]
        self._ends = np.append(starts, len(codes))

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
        self._sort_waiting()
        found = {}
        for key in {*self._codes.tolist(), *self._added}:
            slots, counts = self.holders(key)
            keep = live[slots]
            held = zip(slots[keep].tolist(), counts[keep].astype(int).tolist(), strict=True)
            found[key] = list(held)
        return {key: held for key, held in found.items() if held}


def _entries(added: int | array[int]) -> npt.NDArray[np.uint32]:
    """Return a list as an array, the bare number of a single entry too."""
    return np.array([added] if isinstance(added, int) else added, np.uint32)
