"""The checks of short-term and working memory: each fails on its broken twin alone."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit import checks
from agentkit.checks import check_results
from agentkit.checks import memory as memory_checks
from tests.broken import memory_parts as broken

SETS: dict[str, tuple[Any, tuple[checks.Check, ...], dict[str, Any]]] = {
    "short": (broken.SoundShort, memory_checks.SHORT_CHECKS, broken.SHORT_TWINS),
    "working": (broken.SoundWorking, memory_checks.WORKING_CHECKS, broken.WORKING_TWINS),
}
TWINS = [(name, check) for name, (_, _, twins) in SETS.items() for check in twins]


@pytest.mark.parametrize("name", SETS)
def test_what_is_sound_keeps_every_promise(name: str) -> None:
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
