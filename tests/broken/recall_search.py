"""Broken searches and stores, one a check: each breaks the promise of that check and no other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from agentkit.clock import FixedClock
from agentkit.memory.embed import default_embedder
from agentkit.memory.forgetting import Forgotten
from agentkit.memory.fuse import Weights
from agentkit.memory.long import LongTermMemory
from agentkit.memory.recall import recall
from agentkit.memory.records import Draft, Record, Written


class Remembering:
    """The default embedder, which embeds no text twice: the checks ask the same often."""

    semantic = True

    def __init__(self) -> None:
        self._embedder = default_embedder()
        self.name, self.dimension = self._embedder.name, self._embedder.dimension
        self._rows: dict[str, Any] = {}

    def embed(self, texts: Sequence[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        self._rows.update(zip(new, self._embedder.embed(new), strict=True))
        rows = np.array([self._rows[text] for text in texts], np.float32)
        return rows.reshape(len(texts), self.dimension)


EMBEDDER = Remembering()


def sound(texts: Sequence[str], query: str, k: int, *, weights: Weights | None = None) -> list[int]:
    """Search with the package, and answer in positions."""
    with LongTermMemory.open(":memory:", embedder=EMBEDDER, clock=FixedClock()) as memory:
        written = memory.add_all(texts, tenant="t")
        at = {one.record.id: place for place, one in enumerate(written)}
        found = recall(memory, query, tenant="t", k=k, weights=weights)
        return [at[hit.id] for hit in found]


def lets_names_go(texts: Sequence[str], query: str, k: int) -> list[int]:
    """Take every word with a capital inside a sentence for noise."""
    return sound(texts, re.sub(r"(?<=\w )[A-Z][a-z]+", "", query), k)


def reads_no_short_chinese(texts: Sequence[str], query: str, k: int) -> list[int]:
    """Drop a query of two Chinese characters, as tokenisers for long words do."""
    return [] if re.fullmatch("[\u4e00-\u9fff]{2}", query) else sound(texts, query, k)


def ranks_what_words_found(texts: Sequence[str], query: str, k: int) -> list[int]:
    """Let vectors reorder what words found, and bring nothing of their own."""
    by_words = sound(texts, query, len(texts), weights=Weights(meaning=0.0, neighbours=0.0))
    words = {text for place in by_words for text in [place]} if "vehicle" not in query else set()
    return [place for place in sound(texts, query, k) if place in words]


def has_no_exact_route(texts: Sequence[str], query: str, k: int) -> list[int]:
    """Leave identifiers of a sentence to words and vectors."""
    exact = 10.0 if len(query.split()) < 3 else 0.0
    return sound(texts, query, k, weights=Weights(meaning=0.8, exact=exact))


def wants_the_spelling(texts: Sequence[str], query: str, k: int) -> list[int]:
    """Look identifiers up as they are written."""
    alone = len(query.split()) < 3 and re.search("[0-9０-９]{4}", query)
    return [] if alone and not any(query in text for text in texts) else sound(texts, query, k)


def gives_one_at_least(texts: Sequence[str], query: str, k: int) -> list[int]:
    """Take k = 0 for "not set"."""
    return sound(texts, query, k or 5)


def divides_by_nothing(texts: Sequence[str], query: str, k: int) -> list[int]:
    """Compute the average length of no texts, as rank-bm25 does."""
    assert sum(map(len, texts)) / len(texts) >= 0
    return sound(texts, query, k)


def reads_operators(texts: Sequence[str], query: str, k: int) -> list[int]:
    """Hand the query to a search engine that has a language of its own."""
    if query.count('"') % 2:
        raise ValueError('fts5: syntax error near """')
    return sound(texts, query, k)


class ForgetsAQuestion:
    """Show each hit once: what was shown for a question is left out the next time."""

    def __init__(self) -> None:
        self.shown: set[tuple[str, int]] = set()

    def __call__(self, texts: Sequence[str], query: str, k: int) -> list[int]:
        found = [at for at in sound(texts, query, k) if (query, at) not in self.shown]
        if k == 4:
            self.shown.update((query, at) for at in found)
        return found


TWINS: dict[str, Callable[[Sequence[str], str, int], list[int]]] = {
    "a_rare_word_finds_its_text": lets_names_go,
    "a_word_of_chinese_finds_its_text": reads_no_short_chinese,
    "a_paraphrase_finds_its_text": ranks_what_words_found,
    "an_identifier_comes_first": has_no_exact_route,
    "an_identifier_has_many_spellings": wants_the_spelling,
    "at_most_k_come_back": gives_one_at_least,
    "an_empty_memory_has_no_hits": divides_by_nothing,
    "no_character_is_an_operator": reads_operators,
    "asking_changes_nothing": ForgetsAQuestion(),
}


class Store(LongTermMemory):
    """The package's own, opened as the checks want it."""

    @classmethod
    def make(cls) -> LongTermMemory:
        return cls.open(":memory:", embedder=EMBEDDER, clock=FixedClock())


class KnowsNoSubject(Store):
    """Add a new value beside the old one."""

    def add_all(self, whats: Sequence[str | Draft], *, tenant: str) -> list[Written]:
        return super().add_all([_changed(what, subject="") for what in whats], tenant=tenant)


class AppendsOnly(Store):
    """Keep whatever is said, however often."""

    def add_all(self, whats: Sequence[str | Draft], *, tenant: str) -> list[Written]:
        said = self.count(tenant=tenant)
        numbered = [_changed(what, text=f"{_text(what)} [no. {said}]") for what in whats]
        return super().add_all(numbered, tenant=tenant)


class HasOneDrawer(Store):
    """Keep the records of all tenants under each name."""

    def add_all(self, whats: Sequence[str | Draft], *, tenant: str) -> list[Written]:
        for other in {"ada", "bob"} - {tenant}:
            super().add_all(whats, tenant=other)
        return super().add_all(whats, tenant=tenant)


class NeverEnds(Store):
    """Note when a record ends, and recall it all the same."""

    def expire(self, id: str, *, tenant: str, at: datetime | None = None) -> Record:  # noqa: A002
        return self.get(id, tenant=tenant)


class HidesOnly(Store):
    """Forget by hiding: no hit any more, and the row is still there."""

    def forget(self, ids: str | Sequence[str], *, tenant: str) -> Forgotten:
        for one in [ids] if isinstance(ids, str) else ids:
            self.expire(one, tenant=tenant)
        return Forgotten((), 0)


class LosesTheSource(Store):
    """Keep the sentence, and not where it came from."""

    def add_all(self, whats: Sequence[str | Draft], *, tenant: str) -> list[Written]:
        return super().add_all([_changed(what, source="") for what in whats], tenant=tenant)


def _text(what: str | Draft) -> str:
    return what if isinstance(what, str) else what.text


def _changed(what: str | Draft, **fields: Any) -> Draft:
    draft = Draft(what) if isinstance(what, str) else what
    known = {name: getattr(draft, name) for name in ("text", "subject", "source")}
    return Draft(**{**known, **fields})


STORE_TWINS: dict[str, Callable[[], LongTermMemory]] = {
    "the_old_value_gives_way": KnowsNoSubject.make,
    "what_is_said_twice_is_kept_once": AppendsOnly.make,
    "nobody_sees_what_others_told": HasOneDrawer.make,
    "what_expired_is_not_found": NeverEnds.make,
    "what_is_forgotten_is_nowhere": HidesOnly.make,
    "a_hit_says_where_it_is_from": LosesTheSource.make,
}


def _fused(rankings: Sequence[Sequence[int]], k: int, *, depth: int = 60) -> list[int]:
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + 1 / (depth + place)
    return sorted(scores, key=lambda one: (-round(scores[one], 12), one))[:k]


def takes_the_second(rankings: Sequence[Sequence[int]], k: int) -> list[int]:
    """Give the runner-up when one hit is asked for."""
    return _fused(rankings, 2)[1:] if k == 1 else _fused(rankings, k)


def wants_two_votes(rankings: Sequence[Sequence[int]], k: int) -> list[int]:
    """Leave a ranking out of which nothing is in another, when there are three."""
    return _fused(rankings[1:] if len(rankings) == 3 else rankings, k)


def counts_from_zero(rankings: Sequence[Sequence[int]], k: int) -> list[int]:
    """Use 1 / place without the 60, so that one first place beats all else."""
    return _fused(rankings, k, depth=0)


def breaks_ties_by_chance(rankings: Sequence[Sequence[int]], k: int) -> list[int]:
    """Keep those with one score in the order of the rankings."""
    found = _fused(rankings, k)
    return [one for ranking in rankings for one in ranking] if found == [4, 30] else found


def gives_all(rankings: Sequence[Sequence[int]], k: int) -> list[int]:
    """Give whatever was found when few are wanted."""
    return _fused(rankings, k) if k else _fused(rankings, 9)


RANK_TWINS: dict[str, Callable[[Sequence[Sequence[int]], int], list[int]]] = {
    "what_all_agree_on_is_first": takes_the_second,
    "one_ranking_may_bring_a_hit": wants_two_votes,
    "ranks_add_up": counts_from_zero,
    "the_lower_number_wins_a_tie": breaks_ties_by_chance,
    "no_more_than_k": gives_all,
}
