"""What a turn of a long conversation costs the kit itself, without its model.

    python tests/bench/long_session.py [turns] [budget]

CPU milliseconds of one turn, the median of the twenty before turns 50, 250 and 500: by value
alone, compressed, and with short-term memory. What the model takes is taken out.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

from agentkit.clock import FixedClock
from agentkit.memory.short import ShortTermMemory
from agentkit.messages import ModelSaid
from agentkit.models.reader import ReaderModel
from agentkit.session import Session
from agentkit.tokens import Counter
from agentkit.tools import ToolSpec
from agentkit.window import Packed

AT = (50, 250, 500)
LAST = 20  # turns whose median is taken


class Timed:
    """The reader, and the CPU seconds that it took."""

    name = "reader"

    def __init__(self) -> None:
        self._reader = ReaderModel()
        self.took_s = 0.0

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        began = time.process_time()
        said = await self._reader.complete(packed, tools)
        self.took_s += time.process_time() - began
        return said


def text(n: int) -> str:
    """Return a message of about 110 tokens that says nothing of lasting value."""
    details = f"It has many details, and the price is {n}. " * 4
    return (
        f"Look at picture {n} and say how it differs from {n * 37 % 1000}. {details}第 {n} 张也看。"
    )


async def cost_of_turns(turns: int, budget: int, **settings: Any) -> list[float]:
    """Return the CPU milliseconds of each turn."""
    model = Timed()
    session = Session(model=model, budget=budget, clock=FixedClock(), **settings)
    found = []
    for n in range(turns):
        began, took = time.process_time(), model.took_s
        await session.ask(text(n))
        found.append((time.process_time() - began - (model.took_s - took)) * 1000)
    return found


def main() -> None:
    """Print a line for each way to keep a conversation in its window."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else AT[-1]
    budget = int(sys.argv[2]) if len(sys.argv) > 2 else 8_000
    ways: dict[str, dict[str, Any]] = {
        "by value": {},
        "compress": {"compress": True},
        "short": {"short": ShortTermMemory(count=Counter.for_model("reader"))},
    }
    for name, settings in ways.items():
        found = asyncio.run(cost_of_turns(turns, budget, **settings))
        told = [
            f"turn {n}: {statistics.median(found[n - LAST : n]):.1f} ms" for n in AT if n <= turns
        ]
        print(f"{name:<9} in {budget:,} tokens  {'  '.join(told)}")


if __name__ == "__main__":
    main()
