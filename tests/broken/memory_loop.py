"""Memories that a loop must not have: each breaks one promise of recall in the loop."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.events import Event
from agentkit.memory.brought import Brought
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.messages import Message, ToolCall, ToolResult, user
from agentkit.window import Count


class WritesBack(TenantMemory):
    """Takes the answer for something the user said, so that what was recalled comes back."""

    def write(self, messages: Sequence[Message], *, system: str) -> list[Event]:
        self._recall.pool.clear()
        return super().write([user(m.text) for m in messages[-1:]], system=system)


class FrozenPool(TenantMemory):
    """Chooses what stands beside a result from what the turn was primed with."""

    def narrow(
        self, call: ToolCall, result: ToolResult, *, budget: int, count: Count
    ) -> Brought:  # fmt: skip
        pool = dict(self._recall.pool)
        brought = super().narrow(call, result, budget=budget, count=count)
        known = [hit["text"] for hit in brought.event.hits if hit["id"] in pool]
        return Brought("\n".join(known), brought.event)


class Unfenced(TenantMemory):
    """Gives the window bare text."""

    def wide(self, text: str, *, budget: int, count: Count) -> Brought:
        brought = super().wide(text, budget=budget, count=count)
        return Brought("\n".join(hit["text"] for hit in brought.event.hits), brought.event)
