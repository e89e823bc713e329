"""Broken memories, one a promise: each is a fault that a real one had, and breaks no other."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from agentkit.memory.forgetting import Forgotten
from agentkit.memory.index import TenantIndex
from agentkit.memory.long import LongTermMemory
from agentkit.memory.postings import Postings
from agentkit.memory.recall import Hit, Hits, recall
from agentkit.memory.tenants import Tenants
from agentkit.memory.writing import Writer
from tests.memory.promises import Kit


class DeletesRows(LongTermMemory):
    """Forgets as SQL does: the row is gone, and its bytes stay in the file."""

    def forget(self, ids: str | Sequence[str], *, tenant: str) -> Forgotten:
        wanted = [ids] if isinstance(ids, str) else list(ids)
        self.database.read("PRAGMA secure_delete = OFF")
        with self._changing(tenant) as at:
            for one in wanted:
                number = self._number(one, tenant)
                self.database.run("DELETE FROM contents WHERE number = ?", (number,))
                self.database.run(
                    "UPDATE records SET id = NULL, changed = ? WHERE number = ?",
                    (at.changes, number),
                )
        return Forgotten(tuple(wanted))


class KeepsTheOldForm(LongTermMemory):
    """Lets the old record stand beside the new one."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._writer = _NothingGivesWay(self.database, self.seal, self.vectors, self.clock)


class _NothingGivesWay(Writer):
    def supersede(self, numbers: Sequence[int], by: str, tenant: Any) -> tuple[str, ...]:
        return ()


class NamesWithoutCase(LongTermMemory):
    """Takes "Ada" and "ada" for one tenant."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._tenants = self.indexes.tenants = _Folded(self.database, self.seal)


class _Folded(Tenants):
    def stored(self, name: str) -> str:
        return super().stored(name.casefold())


class IndexWithoutIds(LongTermMemory):
    """Forgets to put the identifiers of a new record into the index."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.indexes.added = self._added  # type: ignore[method-assign]

    def _added(self, tenant: Any, written: Any) -> None:
        index = self.indexes._loaded.get(tenant.name)
        if index is None or index.changes != tenant.changes - 1:
            return
        without = [
            (one, replace(new, keys=replace(new.keys, exact=new.keys.exact[:0])))
            for one, new in written
        ]
        type(self.indexes).added(self.indexes, tenant, without)


class CountsTheGone(LongTermMemory):
    """Counts words of forgotten records among those that hold a word."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        fresh = self.indexes.fresh

        def with_ghosts(tenant: Any) -> TenantIndex:
            index = fresh(tenant)
            ghosts = _Ghosts()
            ghosts.__dict__ = index._words.__dict__
            index._words = ghosts
            return index

        self.indexes.fresh = with_ghosts  # type: ignore[method-assign]


class _Ghosts(Postings):
    def bm25(self, query: Any, lengths: Any, live: Any) -> Any:
        scores, coverage = super().bm25(query, lengths, np.ones_like(live))
        return np.where(live, scores, np.float32(0)), coverage


def recall_with_operators(memory: LongTermMemory, query: str, **how: Any) -> Hits:
    """Hand the query to a search engine as it is."""
    with sqlite3.connect(":memory:") as engine:
        engine.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
        engine.execute("SELECT * FROM t WHERE t MATCH ?", (query,)).fetchall()
    engine.close()
    return recall(memory, query, **how)


def recall_in_silence(memory: LongTermMemory, query: str, **how: Any) -> Hits:
    """Fall back to words and tell nobody."""
    hits = recall(memory, query, **how)
    quiet = tuple(replace(hit, degraded=()) for hit in hits)
    return replace(hits, found=quiet, degraded=())


def open_fence(hits: Sequence[Hit]) -> str:
    """Put texts between two tags as they are."""
    inside = "\n".join(hit.text for hit in hits)
    return f"<recalled-memory>\n{inside}\n</recalled-memory>"


TWINS = {
    "a_forgotten_sentence_is_in_no_file": Kit(store=DeletesRows),
    "an_updated_memory_never_comes_back": Kit(store=KeepsTheOldForm),
    "two_tenants_see_nothing_of_each_other": Kit(store=NamesWithoutCase),
    "the_index_is_the_rows": Kit(store=IndexWithoutIds),
    "words_of_the_gone_count_no_more": Kit(store=CountsTheGone),
    "a_query_is_plain_text": Kit(recall=recall_with_operators),
    "a_route_that_is_down_says_so": Kit(recall=recall_in_silence),
    "recalled_text_cannot_close_its_fence": Kit(fence=open_fence),
}
