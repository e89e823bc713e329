"""The checks of a slimmer hold for the package, and each fails on its broken twin."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit.checks import check_results
from agentkit.checks.slim import (
    BREAK_CHECKS,
    CHECKS,
    FULL_CHECKS,
    PREDICT_CHECKS,
    TABLE_CHECKS,
)
from agentkit.slim import slim
from notebooks.solutions import s07_tool_results_eat_the_window as s07
from tests.broken.checks_slim import TABLE_TWINS, TWINS, careless
from tests.notebooks.built import built_in


def failed(thing: Any, checks: Any) -> list[str]:
    return [r.name for r in check_results(thing, checks) if r.outcome == "FAIL"]


def test_the_package_keeps_every_promise() -> None:
    assert failed(slim, FULL_CHECKS) == []


def test_every_check_has_a_broken_twin() -> None:
    assert list(TWINS) == [check.__name__ for check in FULL_CHECKS]
    assert list(TABLE_TWINS) == [check.__name__ for check in TABLE_CHECKS]


@pytest.mark.parametrize(("name", "twin"), TWINS.items())
def test_a_broken_slimmer_fails_its_check(name: str, twin: Any) -> None:
    assert name in failed(twin, FULL_CHECKS)


def test_a_failure_without_words_is_no_empty_answer() -> None:
    assert failed(careless, CHECKS) == ["empty_is_an_answer"]


@pytest.mark.parametrize(("name", "twin"), TABLE_TWINS.items())
def test_a_broken_table_fails_its_check_alone(name: str, twin: Any) -> None:
    assert failed(twin, TABLE_CHECKS) == [name]


def test_the_slimmer_of_the_notebook_and_the_solutions_solve_it() -> None:
    tiny_slim = built_in("07_tool_results_eat_the_window")["tiny_slim"]

    assert failed(tiny_slim, CHECKS) == []
    assert failed(s07.GUESS, PREDICT_CHECKS) == []
    assert failed(s07.table, TABLE_CHECKS) == []
    assert failed((slim, s07.TEXT, s07.FACT), BREAK_CHECKS) == []


def test_wrong_guesses_and_a_fact_that_stays_fail() -> None:
    assert failed(["whole", "empty", "compact", "json"], PREDICT_CHECKS) != []
    assert failed((slim, f"{s07.FACT} {s07.TEXT}", s07.FACT), BREAK_CHECKS) != []
    assert failed((slim, s07.TEXT, "another fact"), BREAK_CHECKS) != []
