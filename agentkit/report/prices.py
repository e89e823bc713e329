"""Prices many calls of one model without looking each up: a price is linear up to a point.

    cost(1,000 of each kind) ──▶ price a token ──▶ × a hundred thousand calls
    cost(200,000)/200,000 differs? ──▶ the model has a dearer tier: above it, look up each

Read after: tokens.py.     Read next: report/build.py.
"""

from __future__ import annotations

from decimal import Decimal

from agentkit.messages import Usage
from agentkit.tokens import cost

PROBES = (16_000, 32_000, 64_000, 128_000, 200_000, 256_000, 500_000, 1_000_000)
SAMPLE = 1_000


class PriceList:
    """The prices of one model.

    Args:
        model: As its provider writes it.

    Raises:
        UnknownModelError: No price is known.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._fresh = cost(model, Usage(SAMPLE, 0)) / SAMPLE
        self._read = cost(model, Usage(SAMPLE, 0, cache_read=SAMPLE)) / SAMPLE
        self._write = cost(model, Usage(SAMPLE, 0, cache_write=SAMPLE)) / SAMPLE
        self._output = cost(model, Usage(0, SAMPLE)) / SAMPLE
        self._linear_to = 0
        for input_ in PROBES:
            if cost(model, Usage(input_, 0)) != self._fresh * input_:
                break
            self._linear_to = input_

    def cost(self, usage: Usage) -> Decimal:
        """Return the price of one call in US dollars, the same as `tokens.cost`."""
        if usage.input > self._linear_to:
            return cost(self._model, usage)
        fresh = usage.input - usage.cache_read - usage.cache_write
        if fresh < 0:
            return cost(self._model, usage)
        return (
            fresh * self._fresh
            + usage.cache_read * self._read
            + usage.cache_write * self._write
            + usage.output * self._output
        )
