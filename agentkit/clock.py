"""Time and ids, both replaceable, so that two runs agree.

    SystemClock ──▶ the wall clock and random ids      (conversations)
    FixedClock  ──▶ a made-up time and counted ids     (notebooks, tests)

Whatever needs the time or a new id takes a `Clock`. Nothing else in the kit asks
the machine for either, so one argument makes a whole session repeatable.

Read after: errors.py.     Read next: messages.py.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Protocol

from agentkit.errors import SetupError

FIXED_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)  # a Monday morning, as good as any


class Clock(Protocol):
    """Tells the time and makes ids."""

    def now(self) -> datetime:
        """Return the present moment, in UTC."""

    def elapsed_s(self) -> float:
        """Return seconds since some fixed moment; only differences mean anything."""

    def new_id(self, prefix: str) -> str:
        """Return an id that this clock never gave before, e.g. "t3"."""


class SystemClock:
    """The machine's own time, and ids that are random and sort in no order."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def elapsed_s(self) -> float:
        return time.perf_counter()

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{uuid.uuid4().hex[:12]}"


class FixedClock:
    """A clock that moves only when it is read, and ids that count from one.

    Args:
        start: What `now()` returns first.
        step: How far each reading moves the clock.

    Raises:
        SetupError: The start is no moment, or the step no length of time.
    """

    def __init__(
        self, start: datetime = FIXED_START, *, step: timedelta = timedelta(seconds=1)
    ) -> None:
        if not isinstance(start, datetime) or not isinstance(step, timedelta):
            raise SetupError(
                f"FixedClock(start={start!r}, step={step!r}): no moment and a length of time.",
                hint="Give e.g. FixedClock(datetime(2026, 1, 5, 9, tzinfo=UTC), "
                "step=timedelta(seconds=1)), or nothing.",
            )
        self._next = start
        self._step = step
        self._counts: dict[str, int] = {}

    def now(self) -> datetime:
        moment, self._next = self._next, self._next + self._step
        return moment

    def elapsed_s(self) -> float:
        """Return 0.0: under a fixed clock nothing takes time, so durations repeat."""
        return 0.0

    def new_id(self, prefix: str) -> str:
        self._counts[prefix] = self._counts.get(prefix, 0) + 1
        return f"{prefix}{self._counts[prefix]}"
