"""Finds what matters now: wide at the start of a task, narrow beside each tool result.

    query ─▶ exact ids ─┐
          ─▶ BM25      ─┼─▶ fuse ─▶ best k ─▶ cut to a budget ─▶ Hits ─▶ fence()
          ─▶ vectors   ─┘

Each route may bring a record that the others miss. *Wide* primes the task with about
20. *Narrow* asks the store afresh with the call and its result, and merges with what
wide brought: choosing from a frozen pool loses almost everything once the subtopic moves.

Read after: look.py, fuse.py, fence.py.     Read next: policy.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from agentkit.errors import RecordError
from agentkit.events import Recalled
from agentkit.memory.fence import fence_lines, line
from agentkit.memory.fuse import Fused, Weights, best, fuse
from agentkit.memory.index import Scores
from agentkit.memory.keys import identifiers
from agentkit.memory.long import LongTermMemory
from agentkit.memory.look import Filter, Looked, look
from agentkit.memory.records import Record, check_tenant
from agentkit.memory.rows import read_records
from agentkit.messages import ToolCall, ToolResult
from agentkit.window import Count

WIDE, NARROW = 20, 6  # hits; R@20 0.80 primes a task, R@6 0.67 stands beside a result
RESULT_CHARS = 1_000  # of a tool result that make a query; a longer one blurs
POOL_BONUS = 0.1  # for a fresh hit that the task was primed with
DIGITS = 6  # scores that agree so far tie, and ties break by id on every machine


@dataclass(frozen=True, slots=True)
class Hit:
    """One recalled record, and why it is here.

    Attributes:
        record: What was remembered.
        score: What hits are ordered by; it means nothing across queries.
        words: BM25 of the keyword route; 0.0 where no word matches.
        meaning: Cosine of the vector route; 0.0 where it is not known.
        ids: Identifiers that it shares with the query.
        lent: The part of the score that its neighbours in the conversation lend.
        speaker: Whether the query names who said it.
        age_days: Since it was written.
        pool: Whether the task was primed with it.
        degraded: Routes that could not answer in full when it was found.
    """

    record: Record
    score: float
    words: float = 0.0
    meaning: float = 0.0
    ids: tuple[str, ...] = ()
    lent: float = 0.0
    speaker: bool = False
    age_days: float = 0.0
    pool: bool = False
    degraded: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of the record."""
        return self.record.id

    @property
    def text(self) -> str:
        """The sentence."""
        return self.record.text

    @property
    def relation(self) -> str:
        """What ties it to the query, in a few words, the strongest first."""
        found = [f"exact id {', '.join(self.ids)}"] if self.ids else []
        found += [f"words {self.words:.1f}"] if self.words > 0 else []
        found += [f"meaning {self.meaning:.2f}"] if self.meaning > 0 else []
        found += ["beside a hit"] if self.lent > self.score / 2 else []
        found += [f"said by {self.record.draft.speaker}"] if self.speaker else []
        return " · ".join([*found, *(["in the pool"] if self.pool else [])])

    def facts(self) -> dict[str, Any]:
        """Return what an event or a table shows of it."""
        return {
            "id": self.id,
            "text": self.text,
            "score": round(self.score, 4),
            "words": round(self.words, 4),
            "meaning": round(self.meaning, 4),
            "ids": list(self.ids),
            "lent": round(self.lent, 4),
            "speaker": self.speaker,
            "age_days": round(self.age_days, 2),
            "source": self.record.source,
            "relation": self.relation,
        }


@dataclass(frozen=True, slots=True)
class Hits(Sequence[Hit]):
    """What one recall brought, best first.

    Attributes:
        query: What was asked.
        found: The hits.
        scope: "wide", "narrow", or "query" for a plain one.
        degraded: Routes that could not answer in full, and why.
        weight: The share of meaning in the scores.
    """

    query: str
    found: tuple[Hit, ...] = ()
    scope: Literal["wide", "narrow", "query"] = "query"
    degraded: tuple[str, ...] = ()
    weight: float = 0.0

    def __getitem__(self, at: Any) -> Any:
        return self.found[at]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.found)

    def cut(self, budget: int, count: Count) -> Hits:
        """Return the hits that fit, fence and all; one that is too long is passed over."""
        kept: list[Hit] = []
        for hit in self.found:
            if count(fence([*kept, hit])) <= budget:
                kept.append(hit)
        return replace(self, found=tuple(kept))

    def event(self) -> Recalled:
        """Return the event of this recall."""
        return Recalled(
            self.scope, self.query, tuple(hit.facts() for hit in self.found), self.degraded
        )


def fence(hits: Sequence[Hit]) -> str:
    """Return the hits as the window shows them: marked as data, one line each."""
    return fence_lines(
        line(
            hit.text,
            id=hit.id,
            created=hit.record.created,
            source=hit.record.source,
            relation=hit.relation,
        )
        for hit in hits
    )


def recall(
    memory: LongTermMemory,
    query: str,
    *,
    tenant: str,
    k: int = WIDE,
    where: Filter | None = None,
    weights: Weights | None = None,
    used: bool = True,
) -> Hits:
    """Return the records of a tenant that a query is about, best first, at most `k`.

    Superseded, expired and forgotten records are never among them. Ties break by id.

    Args:
        memory: The store.
        query: Plain text in any language; no character of it is an operator.
        tenant: Whose memory.
        k: How many at most.
        where: Which records may be hits.
        weights: Of the routes; None: as the query needs.
        used: Whether somebody is given the hits, so that the store notes their use. False
            for a look at memory that nobody answers with.

    Raises:
        RecordError: An argument is none of what it should be.
        StoreError: The store cannot be read.
    """
    _check_k(k)
    looked = look(memory, query, tenant=tenant, where=where)
    if looked.scores is None or not len(looked.scores.numbers):
        return Hits(query, degraded=looked.degraded)
    fused = fuse(looked.scores, weights or Weights())
    slots = best(fused.total, k).tolist()
    numbers = [int(number) for number in looked.scores.numbers[slots]]
    records = read_records(memory.database, numbers, tenant, memory.seal)
    now = memory.clock.now()
    hits = [
        _hit(records[number], slot, looked, looked.scores, fused, now)
        for number, slot in zip(numbers, slots, strict=True)
        if number in records and records[number].current
    ]
    hits.sort(key=lambda hit: (-round(hit.score, DIGITS), hit.id))
    found = tuple(hits[:k])
    if used:
        memory.note_used([hit.id for hit in found], tenant=tenant)
    return Hits(query, found, degraded=looked.degraded, weight=fused.weight)


def _hit(
    record: Record, slot: int, looked: Looked, scores: Scores, fused: Fused, now: datetime
) -> Hit:
    """Return the hit of a record, with what each route said."""
    held: set[str] = set()
    if scores.ids[slot]:
        values = " \n ".join(record.draft.entities.values())
        held = set(identifiers(f"{record.text} \n {values}"))
    return Hit(
        record,
        float(fused.total[slot]),
        float(scores.words[slot]),
        max(float(scores.meaning[slot]), 0.0),
        tuple(one for one in looked.ids if one in held),
        float(fused.lent[slot]),
        bool(scores.speaker[slot]),
        max((now - record.created).total_seconds() / 86_400, 0.0),
        degraded=looked.degraded,
    )


def _check_k(k: int) -> None:
    if not isinstance(k, int) or isinstance(k, bool) or k < 0:
        raise RecordError(f"k is {k!r}.", hint=f"Ask for 0 or more hits, e.g. k={WIDE}.")


class Recall:
    """Recall for one task of one tenant: wide once, then narrow beside each result.

    Args:
        memory: The store.
        tenant: Whose memory.
        count: Returns the tokens of a text; needed for a budget.
        where: Which records may be hits.
        weights: Of the routes; None: as each query needs.

    Attributes:
        pool: What the task was primed with, and what narrow brought since, by id.
    """

    def __init__(
        self,
        memory: LongTermMemory,
        *,
        tenant: str,
        count: Count | None = None,
        where: Filter | None = None,
        weights: Weights | None = None,
    ) -> None:
        self.pool: dict[str, Hit] = {}
        self._memory = memory
        self._tenant = check_tenant(tenant)
        self._count = count
        self._where = where
        self._weights = weights

    def wide(self, text: str, *, k: int = WIDE, budget: int | None = None) -> Hits:
        """Prime a task: ask with what the user said, and begin a new pool."""
        hits = replace(self._ask(text, k), scope="wide")
        self.pool = {hit.id: hit for hit in hits}
        return self._cut(hits, budget)

    def narrow(
        self,
        call: ToolCall,
        result: ToolResult | str,
        *,
        k: int = NARROW,
        budget: int | None = None,
    ) -> Hits:
        """Ask afresh with a call and its result, and merge with the pool."""
        query = narrow_query(call, result)
        fresh = self._ask(query, max(k, WIDE) if k else 0)
        merged = [
            replace(hit, score=hit.score + POOL_BONUS, pool=True) if hit.id in self.pool else hit
            for hit in fresh
        ]
        merged.sort(key=lambda hit: (-round(hit.score, DIGITS), hit.id))
        self.pool.update((hit.id, hit) for hit in merged[:k] if hit.id not in self.pool)
        return self._cut(replace(fresh, found=tuple(merged[:k]), scope="narrow"), budget)

    def _ask(self, query: str, k: int) -> Hits:
        return recall(
            self._memory,
            query,
            tenant=self._tenant,
            k=k,
            where=self._where,
            weights=self._weights,
            used=False,
        )

    def _cut(self, hits: Hits, budget: int | None) -> Hits:
        """Return the hits that fit the budget; only they were used."""
        if budget is not None:
            if self._count is None:
                raise RecordError(
                    f"A budget of {budget} tokens was set, and nothing counts tokens.",
                    hint='Give the counter too: Recall(…, count=Counter.for_model("gpt-4o")).',
                )
            hits = hits.cut(budget, self._count)
        self._memory.note_used([hit.id for hit in hits], tenant=self._tenant)
        return hits


def narrow_query(call: ToolCall, result: ToolResult | str) -> str:
    """Return what a call and its result ask of memory.

    The arguments, the head of the result, and identifiers from further down.
    """
    text = result if isinstance(result, str) else result.text
    head, rest = text[:RESULT_CHARS], text[RESULT_CHARS : 20 * RESULT_CHARS]
    known = set(identifiers(head))
    further = [one for one in identifiers(rest) if one not in known][:20]
    return " ".join([*_values(call.arguments), head, *further])


def _values(arguments: Any) -> list[str]:
    """Return the texts and numbers in arguments, at any depth."""
    if isinstance(arguments, Mapping):
        return [text for value in arguments.values() for text in _values(value)]
    if isinstance(arguments, list | tuple):
        return [text for value in arguments for text in _values(value)]
    return [] if arguments is None or isinstance(arguments, bool) else [str(arguments)]
