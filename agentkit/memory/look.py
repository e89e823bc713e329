"""Asks both indexes of a tenant, and says which routes could not answer in full.

    query ──▶ words · identifiers · names · vector ──▶ Looked(scores, degraded)

A route never fails in silence. What is missing, and why, comes back with the scores: an
embedder that does not load or answer, vectors that are not made yet, a store that
belongs to another embedder.

Read after: keys.py, index.py, long.py.     Read next: fuse.py, recall.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from agentkit.errors import EmbedderError, RecordError
from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.index import NEVER, Asked, Scores, TenantIndex, Where
from agentkit.memory.keys import code, filter_codes, identifiers, speakers
from agentkit.memory.long import LongTermMemory
from agentkit.memory.maintenance import fill
from agentkit.memory.postings import Floats
from agentkit.memory.records import check_moment, check_share, check_tenant
from agentkit.memory.stored_vectors import embed_all
from agentkit.text import clean_text, terms

MAX_QUERY_CHARS = 20_000  # identifiers may stand deep in a tool result
MEND_PER_CALL = 32  # missing vectors that one recall makes: a tenth of a second


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records may be hits. What is not set lets everything through.

    Attributes:
        kinds: Only of these kinds, e.g. ("preference", "decision").
        entities: Only with these exact fields, e.g. {"order": "A-1001"}.
        since: Only created at this moment or later.
        until: Only created before this moment.
        importance: Only at least so important.
        confidence: Only at least so certain.
    """

    kinds: tuple[str, ...] = ()
    entities: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    importance: float = 0.0
    confidence: float = 0.0

    def where(self, secret: bytes) -> Where:
        """Return the filter as an index reads it.

        Raises:
            RecordError: A number is not from 0 to 1, or a time has no zone.
        """
        check_moment("since", self.since)
        check_moment("until", self.until)
        return Where(
            frozenset(self.kinds),
            tuple(filter_codes(self.entities, secret)),
            self.since.timestamp() if self.since else -NEVER,
            self.until.timestamp() if self.until else NEVER,
            check_share("importance", self.importance),
            check_share("confidence", self.confidence),
        )


@dataclass(frozen=True, slots=True)
class Looked:
    """What the indexes say of a query.

    Attributes:
        scores: Of every record, or None when the tenant has none.
        degraded: Each route that could not answer in full, and why.
        ids: The identifiers of the query.
    """

    scores: Scores | None
    degraded: tuple[str, ...]
    ids: tuple[str, ...] = ()


def look(memory: LongTermMemory, query: str, *, tenant: str, where: Filter | None = None) -> Looked:
    """Ask every route about a query; nothing in it is a search operator.

    Raises:
        RecordError: The query is no text, or the tenant or the filter is none.
        StoreError: The store cannot be read.
    """
    tenant = check_tenant(tenant)
    if not isinstance(query, str):
        raise RecordError(
            f"The query is {type(query).__name__}, not text.", hint="Decode it first."
        )
    secret = memory.seal.secret
    narrowed = where.where(secret) if where else None
    text = clean_text(query[:MAX_QUERY_CHARS])
    asked, vector, down = _asked(memory, text)
    with memory.database.snapshot():
        index = memory.indexes.at(tenant)
        missing = index.missing()[:MEND_PER_CALL].tolist() if index else []
    if missing and vector is not None:
        down += _mend(memory, missing)
    with memory.database.snapshot():
        index = memory.indexes.at(tenant)
        if index is None:
            return Looked(None, (*down, *_standing(memory, None)))
        scores = index.scores(asked, memory.clock.now().timestamp(), narrowed)
        down += _standing(memory, index)
    return Looked(scores, tuple(down), tuple(identifiers(text, asked=True)))


def _asked(memory: LongTermMemory, text: str) -> tuple[Asked, Floats | None, list[str]]:
    """Return the query as the indexes read it, its vector, and what went wrong."""
    secret = memory.seal.secret
    words = {code(t, secret): float(n) for t, n in Counter(terms(text, unigrams=True)).items()}
    ids = {code(f"id:{one}", secret): float(len(one)) for one in identifiers(text, asked=True)}
    names = [code(name, secret) for name in sorted(speakers(text))]
    vector, down = None, []
    if text.strip():
        try:
            vector = embed_all(memory.vectors.embedder, [text])[0]
        except EmbedderError as error:
            down.append(f"vectors: {error.what}")
    return Asked(words, ids, names, vector), vector, down


def _mend(memory: LongTermMemory, missing: list[int]) -> list[str]:
    """Make some of the vectors that are missing; return what went wrong."""
    if memory.database.read_only or not memory.vectors.table(memory.vectors.current()):
        return []
    try:
        fill(memory, missing)
    except EmbedderError as error:
        return [f"vectors: {error.what}"]
    return []


def _standing(memory: LongTermMemory, index: TenantIndex | None) -> list[str]:
    """Return what keeps the vector route from answering in full."""
    embedder, current = memory.vectors.embedder, memory.vectors.current()
    if current is not None and not memory.vectors.table(current):
        return [
            f"vectors: the store has those of {memory.vectors.whose(current)}, and this"
            f" process {embedder.name}; words and identifiers only"
        ]
    found: list[str] = []
    if not embedder.semantic:
        reason = embedder.reason if isinstance(embedder, HashedEmbedder) else ""
        found.append(f"vectors: {embedder.name} matches words, not meanings. {reason}".strip())
    missing = len(index.missing()) if index else 0
    if missing:
        found.append(f"vectors: {missing} record(s) have none yet; reembed() makes them")
    return found
