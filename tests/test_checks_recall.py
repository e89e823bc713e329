"""The checks of recall: the package keeps them, and each fails on its broken twin alone."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit import checks
from agentkit.checks import check_results
from agentkit.checks import recall as recall_checks
from agentkit.checks import recall_exercises as exercises
from notebooks.solutions import s09_long_term_memory_and_recall as s09
from tests.broken import recall_search as broken

SETS: dict[str, tuple[Any, tuple[checks.Check, ...], dict[str, Any]]] = {
    "search": (broken.sound, recall_checks.CHECKS, broken.TWINS),
    "store": (broken.Store.make, recall_checks.STORE_CHECKS, broken.STORE_TWINS),
    "ranks": (s09.solved_rank_fuse, exercises.RANK_CHECKS, broken.RANK_TWINS),
    "predict": (s09.GUESS, exercises.PREDICT_CHECKS, {"the_first_by_words_is_foreseen": 0}),
    "break": (
        s09.OPPOSITES,
        exercises.BREAK_CHECKS,
        {"the_opposite_lies_close": ("Ana eats nuts.", "The customer pays in May.")},
    ),
}
TWINS = [(name, check) for name, (_, _, twins) in SETS.items() for check in twins]


@pytest.mark.parametrize("name", SETS)
def test_the_package_and_the_solutions_keep_every_promise(name: str) -> None:
    thing, wanted, _ = SETS[name]

    assert [str(r) for r in check_results(thing, wanted) if r.outcome != "ok"] == []


@pytest.mark.parametrize("name", SETS)
def test_every_check_has_a_broken_twin(name: str) -> None:
    _, wanted, twins = SETS[name]

    assert [check.__name__ for check in wanted] == list(twins)


@pytest.mark.parametrize(("name", "twin"), TWINS, ids=[f"{n}-{c}" for n, c in TWINS])
def test_a_broken_twin_fails_its_own_check_and_no_other(name: str, twin: str) -> None:
    _, wanted, twins = SETS[name]

    outcomes = {r.name: r.outcome for r in check_results(twins[twin], wanted)}

    assert [check for check, outcome in outcomes.items() if outcome != "ok"] == [twin]
    assert outcomes[twin] == "FAIL"


def test_a_pair_of_two_distant_opposites_is_refused() -> None:
    """By design: the cosine is looked at too, not the words alone."""
    (result,) = check_results(("走", "不走"), exercises.BREAK_CHECKS)

    assert result.outcome == "FAIL"
    assert "cosine" in result.got


@pytest.mark.parametrize("wanted", [exercises.PREDICT_CHECKS, exercises.BREAK_CHECKS])
def test_an_exercise_that_nobody_tried_is_to_do(wanted: Any) -> None:
    assert {result.outcome for result in check_results(None, wanted)} == {"todo"}
