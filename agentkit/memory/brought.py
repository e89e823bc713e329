"""What the loop asks of a memory, and what it gets back.

    loop ── wide(text) ─────────▶ Brought: what was forgotten at the user's word, then
         ── narrow(call, result) ─▶ Brought: text for the window, event
         ── write(messages) ──▶ events of what was written, skipped and forgotten

Apart from tenant_memory.py, so that the loop loads no index while nobody remembers.

Read after: ../trace.py.     Read next: tenant_memory.py, ../loop.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agentkit.events import Event, Recalled
from agentkit.messages import Message, ToolCall, ToolResult
from agentkit.window import Count

DONE = "done by memory"  # heads, in the window, what memory did before the model answers


@dataclass(frozen=True, slots=True)
class Brought:
    """What one recall brought.

    Attributes:
        text: For the window, fenced as data; empty when there is nothing to say.
        event: What was asked and found, and which routes were down.
        told: What memory did before the model answers, for the model to tell the user.
        did: The events of that.
    """

    text: str
    event: Recalled
    told: str = ""
    did: tuple[Event, ...] = ()


class Remembering(Protocol):
    """A memory as the loop uses it. No call raises one of the kit's errors: events say them."""

    def wide(self, text: str, *, budget: int, count: Count) -> Brought:
        """Forget what the user asks to; return what primes the turn, in `budget` tokens."""

    def narrow(
        self, call: ToolCall, result: ToolResult, *, budget: int, count: Count
    ) -> Brought:  # fmt: skip
        """Return what belongs beside a tool result and is not in the window yet."""

    def write(self, messages: Sequence[Message], *, system: str) -> list[Event]:
        """Keep of a finished turn what deserves it; return one event a decision."""


@runtime_checkable
class Hearing(Protocol):
    """A memory that is told what the conversation holds, before each turn.

    Attributes:
        said: The messages so far.
    """

    said: Sequence[Message]


@runtime_checkable
class Forgetting(Protocol):
    """A memory that says what it forgot, so that a conversation can erase its own copies.

    Attributes:
        forgotten: What the records said that the turn forgot, and their sources.
        kept: What records say that resemble those and stay.
        orders: The sentences that asked to forget it, as the user said them.
    """

    forgotten: tuple[str, ...]
    kept: tuple[str, ...]
    orders: tuple[str, ...]
