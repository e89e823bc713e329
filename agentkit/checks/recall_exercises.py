"""The answer keys of notebook 09: what words find, ranks that are fused, what vectors miss.

    guess ──▶ PREDICT_CHECKS     fuse(rankings, k) ──▶ RANK_CHECKS     pair ──▶ BREAK_CHECKS

Read after: checks/recall.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentkit.checks import expect, expect_equal, expect_list, expect_text, kind_of, shown
from agentkit.memory.embed import HashedEmbedder, default_embedder
from agentkit.memory.fuse import Weights
from agentkit.memory.long import LongTermMemory
from agentkit.memory.recall import recall

RankFuse = Callable[[Sequence[Sequence[int]], int], Sequence[int]]

QUERY = "report export"
REPORTS = (
    "report report report report",
    "the tests of the report",
    "the export is slow",
    "the budget of the report",
)
NEGATIONS = ("not", "never", "no", "n't", "不", "没")
NEAR = 0.8  # two records that lie so close are taken for one by many a store


def the_first_by_words_is_foreseen(guess: int | None) -> None:
    """You name the position of the text that words alone put first for `QUERY`."""
    if guess is None:
        raise NotImplementedError
    words = Weights(meaning=0.0, neighbours=0.0, speaker=0.0)
    with LongTermMemory.open(":memory:", embedder=HashedEmbedder()) as memory:
        ids = [memory.add(text, tenant="you").record.id for text in REPORTS]
        first = recall(memory, QUERY, tenant="you", weights=words)[0].id
    expect(
        isinstance(guess, int) and not isinstance(guess, bool) and 0 <= guess < len(REPORTS),
        f"expected a position from 0 to {len(REPORTS) - 1}, got {kind_of(guess)}.",
    )
    expect(
        guess == ids.index(first),
        f"{REPORTS[guess]!r} does not come first.",
        hint="Which word of the question is in fewer texts? What does repeating one add?",
    )


PREDICT_CHECKS = (the_first_by_words_is_foreseen,)


def _fused(fuse: RankFuse, rankings: list[list[int]], k: int) -> list[int]:
    return expect_list(fuse(rankings, k), "what comes back")


def what_all_agree_on_is_first(fuse: RankFuse) -> None:
    """What leads every ranking leads the fused one."""
    expect_equal(_fused(fuse, [[3, 1, 2], [3, 2, 1]], 1), [3], "the first")


def one_ranking_may_bring_a_hit(fuse: RankFuse) -> None:
    """What one ranking alone found is in the result, and nothing is lost."""
    expect_equal(sorted(_fused(fuse, [[5], [1, 2], []], 9)), [1, 2, 5], "all that was found")


def ranks_add_up(fuse: RankFuse) -> None:
    """Each ranking gives 1 / (60 + place), places from 1: Cormack and others 2009."""
    found = _fused(fuse, [[8, 9, 7, 1], [1, 6, 7]], 5)
    # by hand: 1 → 1/64 + 1/61, 7 → 1/63 + 1/63, 8 → 1/61, 6 and 9 → 1/62
    expect_equal(found, [1, 7, 8, 6, 9], "the order")
    # by hand: 99 → 2/121 and 0 → 1/61 = 2/122; with places from 0 both have 1/60
    found = _fused(fuse, [[0, *range(100, 159), 99], [*range(200, 260), 99]], 161)
    expect(
        found.index(99) < found.index(0),
        "twice in place 61 is worth less than once in place 1.",
        hint="Does your first place count as 0? It is 1: enumerate(ranking, 1).",
    )


def the_lower_number_wins_a_tie(fuse: RankFuse) -> None:
    """Two with one score stand in the order of their numbers, on every machine."""
    expect_equal(_fused(fuse, [[30], [4]], 2), [4, 30], "the order of a tie")


def no_more_than_k(fuse: RankFuse) -> None:
    """The result is cut at k, and k may be 0."""
    for k in (0, 2):
        found = _fused(fuse, [[4, 2, 1], [1, 2, 4]], k)
        expect_equal(len(found), k, f"how many come back for k={k}")


RANK_CHECKS = (
    what_all_agree_on_is_first,
    one_ranking_may_bring_a_hit,
    ranks_add_up,
    the_lower_number_wins_a_tie,
    no_more_than_k,
)


def the_opposite_lies_close(pair: tuple[str, str] | None) -> None:
    """Your second sentence is the first with a "not" (or 不) in it, and a cosine of 0.8 or more."""
    if pair is None:
        raise NotImplementedError
    two = expect_list(pair, "your pair")
    expect_equal(len(two), 2, "how many sentences you give", hint='Write ("…", "…").')
    said, denied = (expect_text(one, "a sentence") for one in two)
    plain, words = _squeezed(said), ", ".join(NEGATIONS)
    without = {_squeezed(denied.replace(word, "", 1)) for word in NEGATIONS if word in denied}
    expect(
        plain in without,
        f"{shown(denied)} is not {shown(said)} with a word of denial in it.",
        hint=f"Write one sentence twice and add one of these to the second: {words}.",
    )
    first, second = default_embedder().embed([said, denied])
    cosine = float(first @ second)
    expect(
        cosine >= NEAR,
        f"their cosine is {cosine:.2f}; {NEAR} is asked for.",
        hint="Take a longer sentence: one small word counts less among many.",
    )


def _squeezed(text: str) -> str:
    return "".join(text.split())


BREAK_CHECKS = (the_opposite_lies_close,)
