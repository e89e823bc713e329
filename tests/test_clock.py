"""A made-up clock moves when it is read, and takes nothing but moments and steps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agentkit.clock import FIXED_START, FixedClock
from agentkit.errors import SetupError


def test_each_reading_moves_the_clock_by_its_step() -> None:
    clock = FixedClock(step=timedelta(minutes=1))

    assert [clock.now(), clock.now()] == [FIXED_START, FIXED_START + timedelta(minutes=1)]


@pytest.mark.parametrize(
    "how",
    [
        {"start": None},
        {"start": "2026-01-05"},
        {"step": 1},
        {"step": datetime(2026, 1, 5, tzinfo=UTC)},
    ],
    ids=["no start", "a text", "a number as step", "a moment as step"],
)
def test_what_is_no_moment_and_no_step_is_refused_at_once(how: dict[str, Any]) -> None:
    with pytest.raises(SetupError) as caught:
        FixedClock(**how)

    assert repr(next(iter(how.values()))) in caught.value.what
    assert "datetime(2026" in caught.value.hint
