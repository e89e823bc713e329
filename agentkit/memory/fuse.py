"""Joins what the routes found into one score a record. Pure arithmetic on arrays.

    words ──÷ best──┐
                    ├─ weight by the query ─▶ + neighbours ─▶ + speaker ─▶ + exact id
    meaning ─÷ best─┘

Scores are joined, not ranks: plain rank fusion over full lists came out below keywords
alone on long dialogues. How much meaning counts depends on the query. When one record
has most of what was asked, word for word, words decide; when none has, meaning does.

Read after: index.py.     Read next: recall.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb (`tiny_fuse`)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agentkit.memory.index import Scores
from agentkit.memory.postings import Floats, Slots

MEANING_MOST, MEANING_LEAST = 0.8, 0.3  # its weight where the words of a query help not, and most
MEANING_SLOPE = 0.8  # how fast it falls as one record has more of the query
NEIGHBOUR = 0.5  # of its score that a hit lends to the turns beside it
SPEAKER = 0.2  # for a record whose speaker the query names
EXACT = 10.0  # more than all else together, so that an exact id comes first


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each route counts.

    Attributes:
        meaning: Share of the vectors, 0.0 to 1.0; words have the rest. None: by the query.
        neighbours: Share of its score that a hit lends to the turns beside it.
        speaker: Added where the query names who said it.
        exact: Added where the record has an identifier of the query.
    """

    meaning: float | None = None
    neighbours: float = NEIGHBOUR
    speaker: float = SPEAKER
    exact: float = EXACT


@dataclass(frozen=True, slots=True)
class Fused:
    """The joined scores and their parts, (n,) each.

    Attributes:
        total: What records are ordered by; 0 where nothing speaks for a record.
        words: BM25 over the best one's.
        meaning: Cosine over the best one's.
        lent: What the neighbours lend.
        weight: The share of meaning that was used.
    """

    total: Floats
    words: Floats
    meaning: Floats
    lent: Floats
    weight: float


def fuse(scores: Scores, weights: Weights) -> Fused:
    """Join the scores of all routes.

    A route that found nothing leaves its share to the other.
    """
    words, meaning = _over_best(scores.words), _over_best(scores.meaning)
    weight = meaning_weight(scores.coverage) if weights.meaning is None else weights.meaning
    if not words.any():
        weight = 1.0
    elif not meaning.any():
        weight = 0.0
    own = np.asarray(weight * meaning + (1 - weight) * words, np.float32)
    lent = np.float32(weights.neighbours) * _beside(own, scores)
    total = own + lent
    total += np.float32(weights.speaker) * (scores.speaker & (total > 0))
    longest = float(np.max(scores.ids)) if len(scores.ids) else 0.0
    if longest:
        total += np.float32(weights.exact / longest) * scores.ids
    return Fused(np.where(scores.allowed, total, 0), words, meaning, lent, weight)


def meaning_weight(coverage: float) -> float:
    """Return how much meaning counts for a query that a record covers to this share."""
    return max(MEANING_LEAST, MEANING_MOST - MEANING_SLOPE * coverage)


def best(total: Floats, k: int) -> Slots:
    """Return the slots of the k greatest scores above 0, and of all that tie with the last."""
    found = np.flatnonzero(total > 0)
    if len(found) > k > 0:
        last = np.partition(total[found], len(found) - k)[len(found) - k]
        found = found[total[found] >= last]
    return found if k > 0 else found[:0]


def _over_best(scores: Floats) -> Floats:
    """Return the scores as shares of the best one; what is below 0 becomes 0."""
    greatest = float(np.max(scores)) if len(scores) else 0.0
    if greatest <= 0:
        return np.zeros_like(scores)
    return np.asarray(np.maximum(scores, 0) / greatest, np.float32)


def _beside(own: Floats, scores: Scores) -> Floats:
    """Return the sum of the scores of each record's neighbours."""
    found = np.zeros_like(own)
    for side in (scores.before, scores.after):
        here = np.flatnonzero(side >= 0)
        found[here] += own[side[here]]
    return found
