"""The keyword lists: BM25 by its formula, and growth that never differs from a fresh start."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.memory import postings as postings_module
from agentkit.memory.keys import CODES
from agentkit.memory.postings import K1, B, Postings

RECORDS = st.lists(
    st.dictionaries(st.integers(1, 12), st.integers(1, 5), max_size=6), min_size=1, max_size=20
)


def keys(record: dict[int, int]) -> np.ndarray:
    return np.array(sorted(record.items()), dtype=CODES)


def reference(records: list[dict[int, int]], query: dict[int, float]) -> list[float]:
    """Robertson and Zaragoza 2009, equations 3.3 (kept positive) and 3.15, word by word."""
    average = max(sum(sum(r.values()) for r in records) / len(records), 1.0)
    scores = []
    for record in records:
        total = 0.0
        for code, weight in query.items():
            holders = sum(code in other for other in records)
            idf = math.log(1 + (len(records) - holders + 0.5) / (holders + 0.5))
            tf = record.get(code, 0)
            norm = K1 * (1 - B + B * sum(record.values()) / average)
            total += weight * idf * tf * (K1 + 1) / (tf + norm)
        scores.append(total)
    return scores


@given(RECORDS, st.dictionaries(st.integers(1, 12), st.just(1.0), min_size=1, max_size=4))
def test_scores_are_those_of_the_formula(
    records: list[dict[int, int]], query: dict[int, float]
) -> None:
    """By reference: the formula, written out."""
    postings = Postings()
    for slot, record in enumerate(records):
        postings.add(slot, keys(record))
    lengths = np.array([sum(r.values()) for r in records], np.float32)

    scores, coverage = postings.bm25(query, lengths, np.ones(len(records), np.bool_))

    assert scores.tolist() == pytest.approx(reference(records, query), rel=1e-5, abs=1e-6)
    assert 0 <= coverage <= 1


@given(RECORDS, st.data())
def test_a_record_that_is_gone_leaves_no_trace_in_the_scores(
    records: list[dict[int, int]], data: st.DataObject
) -> None:
    live = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records)))
    )
    query = {1: 1.0, 2: 2.0}
    postings, rest = Postings(), Postings()
    for slot, record in enumerate(records):
        postings.add(slot, keys(record))
    kept = [record for record, alive in zip(records, live, strict=True) if alive]
    for slot, record in enumerate(kept):
        rest.add(slot, keys(record))
    lengths = np.array([sum(r.values()) for r in records], np.float32)

    scores, _ = postings.bm25(query, lengths, live)
    alone, _ = rest.bm25(query, lengths[live], np.ones(len(kept), np.bool_))

    assert scores[live].tolist() == alone.tolist()
    assert not scores[~live].any()


@given(RECORDS, st.data())
def test_loading_many_is_adding_each(records: list[dict[int, int]], data: st.DataObject) -> None:
    """In whatever portions they come, and whoever asks in between."""
    added, mixed = Postings(), Postings()
    live = np.ones(len(records), np.bool_)
    for slot, record in enumerate(records):
        added.add(slot, keys(record))
    done = 0
    while done < len(records):
        some = records[done : done + data.draw(st.integers(1, 9))]
        if len(some) == 1 and data.draw(st.booleans()):
            mixed.add(done, keys(some[0]))
        else:
            lists = [keys(record) for record in some]
            sizes = np.array([len(one) for one in lists], np.int64)
            mixed.load(done, sizes, np.concatenate(lists))
        done += len(some)
        if data.draw(st.booleans()):
            mixed.holders(1)

    assert mixed.snapshot(live) == added.snapshot(live)
    for code in range(14):
        assert [a.tolist() for a in mixed.holders(code)] == [
            a.tolist() for a in added.holders(code)
        ]


def test_what_is_loaded_later_is_sorted_in_or_added_by_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By hand: 30 records of 2 words, then 1 (under an eighth), then 30 behind the one."""
    monkeypatch.setattr(postings_module, "SORTED_FROM", 8)
    held = Postings()
    done = 0
    for many in (5, 5, 20, 1, 30):
        lists = [keys({1: 1, 2 + slot: 3}) for slot in range(done, done + many)]
        held.load(done, np.full(many, 2, np.int64), np.concatenate(lists))
        done += many

    slots, counts = held.holders(1)

    assert slots.tolist() == list(range(61))
    assert set(counts.tolist()) == {1.0}
    assert [held.holders(2 + slot)[0].tolist() for slot in range(61)] == [[n] for n in range(61)]
    assert held.holders(0)[0].tolist() == held.holders(99)[0].tolist() == []
