"""The checks of a host: they pass on `McpHost`, and each fails on its broken twin alone."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from agentkit.checks import check_results_async
from agentkit.checks.host import (
    BREAK_CHECKS,
    CHECKS,
    FULL_CHECKS,
    PREDICT_CHECKS,
    MakeHost,
    small_server,
)
from agentkit.host import McpHost
from tests.broken.checks_host_hosts import FULL_HOSTS, HOSTS

pytestmark = pytest.mark.anyio
ONLY_FULL = FULL_CHECKS[len(CHECKS) :]


async def failed(thing: Any, checks: Any) -> list[str]:
    results = await check_results_async(thing, checks)
    return [result.name for result in results if result.outcome != "ok"]


async def test_the_host_of_the_kit_passes_all() -> None:
    assert await failed(McpHost, FULL_CHECKS) == []


def test_every_check_has_a_broken_twin() -> None:
    assert list(HOSTS) == [check.__name__ for check in CHECKS]
    assert list(FULL_HOSTS) == [check.__name__ for check in ONLY_FULL]


@pytest.mark.parametrize(("name", "make"), HOSTS.items())
async def test_a_broken_twin_fails_its_check_alone(name: str, make: MakeHost) -> None:
    assert await failed(make, CHECKS) == [name]


@pytest.mark.parametrize(("name", "make"), FULL_HOSTS.items())
async def test_a_twin_that_is_broken_under_stress_fails_its_check_alone(
    name: str, make: MakeHost
) -> None:
    assert await failed(make, ONLY_FULL) == [name]


async def test_what_is_not_built_yet_is_todo() -> None:
    def make(config: Any, *, timeout_s: float) -> Any:
        raise NotImplementedError

    results = await check_results_async(make, FULL_CHECKS)

    assert {result.outcome for result in results} == {"todo"}


@pytest.mark.parametrize(
    ("guess", "outcome"), [(None, "todo"), ([2, 2, 2], "FAIL"), ([2, 1, 2], "ok")]
)
async def test_a_prediction_is_judged_by_what_the_host_does(guess: Any, outcome: str) -> None:
    [result] = await check_results_async(guess, PREDICT_CHECKS)

    assert result.outcome == outcome


async def test_a_server_that_starts_does_not_break_opening() -> None:
    [unsolved] = await check_results_async((McpHost, None), BREAK_CHECKS)
    [starts] = await check_results_async((McpHost, small_server()), BREAK_CHECKS)
    nothing = {"command": sys.executable, "args": ["-c", "pass"]}
    [ends] = await check_results_async((McpHost, nothing), BREAK_CHECKS)

    assert [unsolved.outcome, starts.outcome, ends.outcome] == ["todo", "FAIL", "FAIL"]
