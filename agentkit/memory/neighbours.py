"""Which records stood next to each other in their conversation.

    s1/t6 ◀─before─ s1/t7 ─after─▶ s1/t8      (a turn more than one away is no neighbour)

A turn often answers the one before it and repeats none of its words. So a hit lends
some of its score to its neighbours, and this module knows who they are.

Read after: postings.py.     Read next: index.py, fuse.py.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agentkit.memory.postings import Slots

NOBODY = -1


class Neighbours:
    """The records before and after each one, by slot.

    Order in a conversation is by turn, then by slot. Only records that count stand in
    it; one that is gone closes the gap.
    """

    def __init__(self) -> None:
        self._before = np.zeros(0, np.int32)
        self._after = np.zeros(0, np.int32)
        self._talk = np.zeros(0, np.int64)
        self._turn = np.zeros(0, np.int64)
        self._last: dict[int, int] = {}
        self._size = 0
        self._in_order = True

    def add(self, slot: int, talk: int, turn: int) -> None:
        """Add a record behind the others.

        Args:
            slot: Greater than every slot added before.
            talk: Its conversation; 0 for none.
            turn: Its turn there.
        """
        self._grow(slot + 1)
        self._talk[slot], self._turn[slot] = talk, turn
        if not talk or not self._in_order:
            return
        last = self._last.get(talk)
        if last is not None and self._turn[last] > turn:
            self._in_order = False
            return
        self._last[talk] = slot
        if last is not None and turn - self._turn[last] <= 1:
            self._after[last], self._before[slot] = slot, last

    def load(self, first: int, talks: Slots, turns: Slots) -> None:
        """Add many records behind the others."""
        self._grow(first + len(talks))
        self._talk[first : self._size], self._turn[first : self._size] = talks, turns
        self._in_order = False

    def remove(self, slot: int) -> None:
        """Take a record out; those at its sides become neighbours where they are near."""
        talk = int(self._talk[slot])
        self._talk[slot] = 0
        if not talk or not self._in_order:
            return
        left, right = int(self._before[slot]), int(self._after[slot])
        self._before[slot] = self._after[slot] = NOBODY
        if self._last.get(talk) == slot:
            if left == NOBODY:  # who stood before it is not known here
                self._in_order = False
                return
            self._last[talk] = left
        near = left != NOBODY and right != NOBODY and self._turn[right] - self._turn[left] <= 1
        if left != NOBODY:
            self._after[left] = right if near else NOBODY
        if right != NOBODY:
            self._before[right] = left if near else NOBODY

    def sides(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return the slot before and the slot after each record, (n,); -1 for nobody."""
        if not self._in_order:
            self._put_in_order()
        return self._before[: self._size], self._after[: self._size]

    def _put_in_order(self) -> None:
        talk, turn = self._talk[: self._size], self._turn[: self._size]
        self._before[:], self._after[:] = NOBODY, NOBODY
        order = np.lexsort((turn, talk))  # stable, so ties stay by slot
        order = order[talk[order] != 0]
        left, right = order[:-1], order[1:]
        near = (talk[left] == talk[right]) & (turn[right] - turn[left] <= 1)
        self._after[left[near]], self._before[right[near]] = right[near], left[near]
        self._last = dict(zip(talk[order].tolist(), order.tolist(), strict=True))
        self._in_order = True

    def _grow(self, size: int) -> None:
        self._size = max(self._size, size)
        room = len(self._talk)
        if self._size <= room:
            return
        more = max(self._size, 64, room + room // 4) - room
        self._before = np.concatenate([self._before, np.full(more, NOBODY, np.int32)])
        self._after = np.concatenate([self._after, np.full(more, NOBODY, np.int32)])
        self._talk = np.concatenate([self._talk, np.zeros(more, np.int64)])
        self._turn = np.concatenate([self._turn, np.zeros(more, np.int64)])
