"""Who stood beside whom in a conversation, whatever the order of adding and removing."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agentkit.memory.neighbours import Neighbours

PLACE = st.tuples(st.integers(0, 2), st.integers(0, 5))


def by_hand(places: list[tuple[int, int]], gone: set[int]) -> list[tuple[int, int]]:
    """Sort each conversation and look one to each side."""
    sides = [(-1, -1)] * len(places)
    for talk in (1, 2):
        order = sorted(
            (turn, slot)
            for slot, (of, turn) in enumerate(places)
            if of == talk and slot not in gone
        )
        for at, (turn, slot) in enumerate(order):
            left = order[at - 1] if at else (-9, -1)
            right = order[at + 1] if at + 1 < len(order) else (99, -1)
            sides[slot] = (
                left[1] if turn - left[0] <= 1 else -1,
                right[1] if right[0] - turn <= 1 else -1,
            )
    return sides


@given(st.lists(PLACE, max_size=20), st.lists(st.integers(0, 19), max_size=8), st.booleans())
def test_sides_are_those_of_the_sorted_conversation(
    places: list[tuple[int, int]], removed: list[int], look_between: bool
) -> None:
    neighbours = Neighbours()
    gone: set[int] = set()
    for slot, (talk, turn) in enumerate(places):
        neighbours.add(slot, talk, turn)
    for slot in removed:
        if slot < len(places):
            if look_between:
                neighbours.sides()
            neighbours.remove(slot)
            gone.add(slot)

    before, after = neighbours.sides()

    shown = list(zip(before.tolist(), after.tolist(), strict=True))
    assert [s for slot, s in enumerate(shown) if slot not in gone] == [
        s for slot, s in enumerate(by_hand(places, gone)) if slot not in gone
    ]


@given(st.lists(PLACE, min_size=1, max_size=20), st.integers(0, 19))
def test_loading_many_is_adding_each(places: list[tuple[int, int]], first: int) -> None:
    added, loaded = Neighbours(), Neighbours()
    first = min(first, len(places))
    for slot, (talk, turn) in enumerate(places):
        added.add(slot, talk, turn)
        if slot < first:
            loaded.add(slot, talk, turn)
    rest = np.array(places[first:], np.int64).reshape(-1, 2)
    loaded.load(first, rest[:, 0], rest[:, 1])

    assert [side.tolist() for side in loaded.sides()] == [side.tolist() for side in added.sides()]
