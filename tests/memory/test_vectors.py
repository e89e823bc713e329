"""Rows of vectors: exact up to a size, nearly so beyond, and kept in place."""

from __future__ import annotations

import numpy as np
import pytest

from agentkit.memory.vectors import FIRST_BLOCK, SHORTLIST, Vectors


def rows(count: int, dimension: int = 96, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    centres = random.standard_normal((40, dimension))
    found = centres[random.integers(0, 40, count)] + 0.7 * random.standard_normal(
        (count, dimension)
    )
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def test_scores_are_cosines_across_blocks() -> None:
    """By reference: one matrix product."""
    all_rows = rows(3 * FIRST_BLOCK + 7)
    vectors = Vectors(96)
    vectors.put(0, all_rows[:100])
    for slot in range(100, 120):
        vectors.put(slot, all_rows[slot : slot + 1])
    vectors.put(120, all_rows[120:])

    scores = vectors.scores(all_rows[5], np.ones(len(all_rows), np.bool_))

    assert scores == pytest.approx(all_rows @ all_rows[5], abs=1e-5)


def test_a_record_without_a_vector_and_one_that_is_gone_score_nothing() -> None:
    all_rows = rows(10)
    vectors = Vectors(96)
    vectors.put(0, all_rows[:8])
    vectors.drop(3)
    live = np.array([True] * 5 + [False] + [True] * 4)

    scores = vectors.scores(all_rows[3], live)

    assert scores[[3, 5, 8, 9]].tolist() == [0, 0, 0, 0]
    assert vectors.missing(live).tolist() == [3, 8, 9]


def test_beyond_the_exact_size_the_nearest_are_still_found() -> None:
    """By reference: the exact product. Adding and dropping go on as before."""
    all_rows = rows(4 * SHORTLIST, 512)
    vectors = Vectors(512, exact_rows=100)
    vectors.put(0, all_rows[:-500])
    live = np.ones(len(all_rows), np.bool_)
    vectors.scores(all_rows[0], live)  # the bits are made here, and must follow from now on
    vectors.put(len(all_rows) - 500, all_rows[-500:])
    vectors.drop(7)
    all_rows[7] = 0
    found = 0

    for query in all_rows[100:4000:195] + 0.5 * rows(20, 512, seed=2):
        exact = np.argsort(-(all_rows @ query), kind="stable")[:20]
        shown = np.argsort(-vectors.scores(query, live), kind="stable")[:20]
        found += len(set(exact.tolist()) & set(shown.tolist()))

    assert found >= 0.97 * 20 * 20
    assert vectors.scores(all_rows[-1], live)[-1] == pytest.approx(1.0, abs=1e-5)
    assert vectors.scores(rows(8, 512)[7], live)[7] == 0
