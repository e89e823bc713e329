"""The checks of short-term and working memory: each fails on its broken twin alone."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit import checks
from agentkit.checks import check_results
from agentkit.checks import memory as memory_checks
from agentkit.checks import memory_exercises as exercises
from agentkit.memory.short import ShortTermMemory
from agentkit.memory.working import WorkingMemory
from notebooks.solutions import s08_short_term_and_working_memory as s08
from tests.broken import memory_parts as broken

SETS: dict[str, tuple[Any, tuple[checks.Check, ...], dict[str, Any]]] = {
    "short": (broken.making(ShortTermMemory), memory_checks.SHORT_CHECKS, broken.SHORT_TWINS),
    "working": (WorkingMemory, memory_checks.WORKING_CHECKS, broken.WORKING_TWINS),
    "lasting": (s08.solved_lasting, exercises.LASTING_CHECKS, broken.LASTING_TWINS),
    "predict": (s08.GUESS, exercises.PREDICT_CHECKS, {"the_summaries_are_foreseen": 5}),
    "break": (
        s08.POLITE,
        exercises.BREAK_CHECKS,
        {"the_rules_overlook_it": "Never book anything above 5,000 dollars."},
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


@pytest.mark.parametrize("wanted", [exercises.PREDICT_CHECKS, exercises.BREAK_CHECKS])
def test_an_exercise_that_nobody_tried_is_to_do(wanted: Any) -> None:
    assert {result.outcome for result in check_results(None, wanted)} == {"todo"}
