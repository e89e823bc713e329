"""The answer keys of notebook 09: what words find, ranks that are fused, what vectors miss.

    guess ──▶ PREDICT_CHECKS     fuse(rankings, k) ──▶ RANK_CHECKS     pair ──▶ BREAK_CHECKS

Read after: checks/recall.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentkit.checks import expect, expect_equal
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
NEGATIONS = ("not", "never", "no", "不", "没")
NEAR = 0.8  # two records that lie so close are taken for one by many a store


def the_first_by_words_is_foreseen(guess: int | None) -> None:
    """You name the position of the text that words alone put first for `QUERY`."""
    if guess is None:
        raise NotImplementedError
    words = Weights(meaning=0.0, neighbours=0.0, speaker=0.0)
    with LongTermMemory.open(":memory:", embedder=HashedEmbedder()) as memory:
        ids = [memory.add(text, tenant="you").record.id for text in REPORTS]
        first = recall(memory, QUERY, tenant="you", weights=words)[0].id
    expect_equal(guess, ids.index(first), "the text that comes first")


PREDICT_CHECKS = (the_first_by_words_is_foreseen,)


def what_all_agree_on_is_first(fuse: RankFuse) -> None:
    """What leads every ranking leads the fused one."""
    expect_equal(list(fuse([[3, 1, 2], [3, 2, 1]], 1)), [3], "the first")


def one_ranking_may_bring_a_hit(fuse: RankFuse) -> None:
    """What one ranking alone found is in the result, and nothing is lost."""
    expect_equal(set(fuse([[5], [1, 2], []], 9)), {5, 1, 2}, "all that was found")


def ranks_add_up(fuse: RankFuse) -> None:
    """Each ranking gives 1 / (60 + place), places from 1: Cormack and others 2009."""
    found = list(fuse([[8, 9, 7, 1], [1, 6, 7]], 5))
    # by hand: 1 → 1/64 + 1/61, 7 → 1/63 + 1/63, 8 → 1/61, 6 and 9 → 1/62
    expect_equal(found, [1, 7, 8, 6, 9], "the order")


def the_lower_number_wins_a_tie(fuse: RankFuse) -> None:
    """Two with one score stand in the order of their numbers, on every machine."""
    expect_equal(list(fuse([[30], [4]], 2)), [4, 30], "the order of a tie")


def no_more_than_k(fuse: RankFuse) -> None:
    """The result is cut at k, and k may be 0."""
    for k in (0, 2):
        expect_equal(len(fuse([[4, 2, 1], [1, 2, 4]], k)), k, f"hits for k={k}")


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
    said, denied = pair
    plain = _squeezed(said)
    without = {_squeezed(denied.replace(word, "", 1)) for word in NEGATIONS if word in denied}
    expect(plain in without, "the second is not the first and one of: " + ", ".join(NEGATIONS))
    first, second = default_embedder().embed([said, denied])
    cosine = float(first @ second)
    expect(
        cosine >= NEAR,
        f"their cosine is {cosine:.2f}.",
        hint="Take a longer sentence: one small word counts less among many.",
    )


def _squeezed(text: str) -> str:
    return "".join(text.split())


BREAK_CHECKS = (the_opposite_lies_close,)
