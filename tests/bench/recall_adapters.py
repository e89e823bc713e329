"""Adapters between a recall evaluation and the package's public calls.

    evaluation ──factory(texts)──▶ search(query, k) ──▶ positions of the texts, best first

`default` is what a fresh install does. `lexical` and `dense` leave one route out. A line
that names its speaker ("Ada: …") is taken for a turn of one conversation, in the order
given; any other text stands alone. No evaluation data is in this repository.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentkit.memory.embed import Embedder, default_embedder
from agentkit.memory.fuse import Weights
from agentkit.memory.long import LongTermMemory
from agentkit.memory.recall import recall
from agentkit.memory.records import Draft, said

Search = Callable[[str, int], list[int]]
_EMBEDDER: list[Embedder] = []


def default(texts: Sequence[str]) -> Search:
    """All routes, weighted by the query."""
    return _search(texts, Weights())


def lexical(texts: Sequence[str]) -> Search:
    """Words, neighbours and speakers; no vectors."""
    return _search(texts, Weights(meaning=0.0))


def dense(texts: Sequence[str]) -> Search:
    """Vectors, neighbours and speakers; no words."""
    return _search(texts, Weights(meaning=1.0))


def _search(texts: Sequence[str], weights: Weights) -> Search:
    if not _EMBEDDER:
        _EMBEDDER.append(default_embedder())
    memory = LongTermMemory.open(":memory:", embedder=_EMBEDDER[0])
    written = memory.add_all([_draft(text, at) for at, text in enumerate(texts)], tenant="eval")
    position: dict[str, int] = {}
    for at, one in enumerate(written):
        position.setdefault(one.record.id, at)

    def search(query: str, k: int) -> list[int]:
        hits = recall(memory, query, tenant="eval", k=k, weights=weights)
        return [position[hit.id] for hit in hits]

    return search


def _draft(text: str, at: int) -> Draft:
    draft = said(text)
    return said(text, source=f"talk/t{at}") if draft.speaker else draft
