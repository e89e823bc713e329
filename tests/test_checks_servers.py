"""The checks of a database server hold for the kit's, and each fails on its broken twin."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit.checks import check_results, check_results_async
from agentkit.checks.servers import (
    BREAK_CHECKS,
    CHECKS,
    FULL_CHECKS,
    MOUNT_CHECKS,
    PREDICT_CHECKS,
)
from notebooks.solutions import s12_many_servers as s12
from servers.database import build_server
from tests.broken.checks_servers import MOUNTS, TWINS, CountsNothing, Sound
from tests.notebooks.built import built_in

pytestmark = pytest.mark.anyio


async def failed(thing: Any, checks: Any) -> list[str]:
    results = await check_results_async(thing, checks)
    return [result.name for result in results if result.outcome != "ok"]


async def test_the_server_of_the_kit_keeps_every_promise() -> None:
    assert await failed(build_server, FULL_CHECKS) == []


async def test_a_small_sound_server_keeps_them_too() -> None:
    assert await failed(Sound, FULL_CHECKS) == []


def test_every_check_has_a_broken_twin() -> None:
    assert list(TWINS) == [check.__name__ for check in FULL_CHECKS]
    assert list(MOUNTS) == [check.__name__ for check in MOUNT_CHECKS]


@pytest.mark.parametrize("name", TWINS)
async def test_a_broken_twin_fails_its_check(name: str) -> None:
    [check] = [check for check in FULL_CHECKS if check.__name__ == name]

    assert await failed(TWINS[name], [check]) == [name]


async def test_rows_that_are_left_out_in_silence_fail() -> None:
    assert await failed(CountsNothing, CHECKS) == ["rows_are_capped_and_the_rest_is_counted"]


@pytest.mark.parametrize(("name", "pick"), MOUNTS.items())
def test_a_wrong_pick_fails_its_check(name: str, pick: Any) -> None:
    assert name in [r.name for r in check_results(pick, MOUNT_CHECKS) if r.outcome == "FAIL"]


async def test_the_server_of_the_notebook_and_the_solutions_solve_it() -> None:
    tiny_database = built_in("12_many_servers")["tiny_database"]

    assert await failed(tiny_database, CHECKS) == []
    assert await failed((build_server, s12.GUESS), PREDICT_CHECKS) == []
    assert await failed(s12.pick, MOUNT_CHECKS) == []
    assert await failed((tiny_database, s12.FLOOD), BREAK_CHECKS) == []


async def test_wrong_guesses_and_a_flood_that_the_kit_stops_fail() -> None:
    assert await failed((build_server, [False] * 5), PREDICT_CHECKS) != []
    assert await failed((build_server, s12.FLOOD), BREAK_CHECKS) != []
    assert await failed((build_server, "SELECT 1"), BREAK_CHECKS) != []
