"""Scores, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit.errors import RecordError
from agentkit.score import recall_at_k

FOUND = ["m7", "m2", "m9", "m4"]


@pytest.mark.parametrize(
    ("wanted", "k", "score"),
    [
        ({"m2"}, 1, 0.0),
        ({"m2"}, 2, 1.0),
        ({"m2", "m4"}, 3, 0.5),
        ({"m2", "m4"}, 4, 1.0),
        ({"m2", "m4"}, 1_000_000, 1.0),
        ({"m2", "gone"}, 4, 0.5),
        ({"gone"}, 4, 0.0),
        ({"m7"}, 0, 0.0),
        (["m2", "m2"], 2, 1.0),
    ],
)
def test_the_share_of_what_was_wanted_is_by_hand(wanted: Any, k: int, score: float) -> None:
    assert recall_at_k(FOUND, wanted, k=k) == score


def test_what_is_found_twice_takes_one_place() -> None:
    """By design: a list that says one thing three times has not found three things."""
    assert recall_at_k(["a", "a", "a", "b"], {"b"}, k=2) == 1.0
    assert recall_at_k([], {"b"}, k=2) == 0.0


def test_positions_count_like_ids() -> None:
    assert recall_at_k([3, 1], {1}, k=2) == 1.0


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(RecordError) as error:
        recall_at_k(FOUND, [], k=2)

    assert "average" in error.value.hint


@pytest.mark.parametrize("k", [-1, True, 2.0, "2"])
def test_a_k_that_is_none_is_refused(k: Any) -> None:
    with pytest.raises(RecordError) as error:
        recall_at_k(FOUND, {"m2"}, k=k)

    assert "k=10" in error.value.hint
