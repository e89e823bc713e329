"""The checks of a loop: they pass on the package, and each fails on its broken twin alone."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit.checks import check_results_async
from agentkit.checks.loop import CHECKS, FULL_CHECKS, Loop, package_loop
from agentkit.checks.loop_exercises import BREAK_CHECKS, DESCRIBE_CHECKS, PREDICT_CHECKS
from agentkit.messages import ToolCall
from tests.broken.loop_loops import FULL_LOOPS, LOOPS, right

pytestmark = pytest.mark.anyio
ONLY_FULL = FULL_CHECKS[len(CHECKS) :]


async def failed(thing: Any, checks: Any) -> list[str]:
    results = await check_results_async(thing, checks)
    return [result.name for result in results if result.outcome != "ok"]


async def test_the_loop_of_the_kit_passes_all() -> None:
    assert await failed(package_loop, FULL_CHECKS) == []


async def test_a_small_loop_can_pass_the_first_checks_alone() -> None:
    """By design: a loop of 20 lines keeps the promises of CHECKS, and none of the others."""
    assert await failed(right, CHECKS) == []
    assert len(await failed(right, ONLY_FULL)) >= 5


def test_every_check_has_a_broken_twin() -> None:
    assert list(LOOPS) == [check.__name__ for check in CHECKS]
    assert list(FULL_LOOPS) == [check.__name__ for check in ONLY_FULL]


@pytest.mark.parametrize(("name", "loop"), LOOPS.items())
async def test_a_broken_twin_fails_its_check_alone(name: str, loop: Loop) -> None:
    assert await failed(loop, CHECKS) == [name]


@pytest.mark.parametrize(("name", "loop"), FULL_LOOPS.items())
async def test_a_twin_that_is_broken_under_stress_fails_its_check_alone(
    name: str, loop: Loop
) -> None:
    assert await failed(loop, ONLY_FULL) == [name]


async def test_what_is_not_built_yet_is_todo() -> None:
    async def loop(text: str, model: Any, tools: Any) -> str:
        raise NotImplementedError

    results = await check_results_async(loop, FULL_CHECKS)

    assert {result.outcome for result in results} == {"todo"}


@pytest.mark.parametrize(
    ("guess", "outcome"), [(None, "todo"), ([2, 3], "FAIL"), ([3], "FAIL"), ([3, 4], "ok")]
)
async def test_a_prediction_is_judged_by_what_the_package_does(guess: Any, outcome: str) -> None:
    [result] = await check_results_async(guess, PREDICT_CHECKS)

    assert result.outcome == outcome


@pytest.mark.parametrize(
    ("description", "wrong"),
    [
        ("Query weather.", ["it_catches_what_people_say"]),
        (
            "Weather. Use for anything about today or tomorrow (rain, umbrella, coat, "
            "带伞, 穿什么, 今天, 明天, 周末).",
            ["it_leaves_the_rest_alone"],
        ),
        (
            "Weather. Use when the user asks about rain, or what to wear or take along (umbrella, "
            f"coat, 带伞, 穿什么). {'Returns one sentence about the day. ' * 12}",
            ["it_is_short"],
        ),
    ],
)
async def test_a_description_is_judged_by_who_picks_it(description: str, wrong: list[str]) -> None:
    assert await failed(lambda: description, DESCRIBE_CHECKS) == wrong


def calls(*days: str) -> list[ToolCall]:
    return [ToolCall(f"c{n}", "sky.weather", {"day": day}) for n, day in enumerate(days)]


@pytest.mark.parametrize(
    ("attempt", "outcome"),
    [
        (None, "todo"),
        (calls("today", "tomorrow"), "FAIL"),
        (calls(*["today"] * 6), "FAIL"),
        (calls(*"abcdef"), "ok"),
    ],
)
async def test_calls_break_a_loop_that_only_looks_for_repetition(
    attempt: list[ToolCall] | None, outcome: str
) -> None:
    [result] = await check_results_async((right, attempt), BREAK_CHECKS)

    assert result.outcome == outcome
