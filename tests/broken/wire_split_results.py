"""Broken: gives each tool result a user message of its own."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.messages import Message
from agentkit.wire import to_anthropic
from agentkit.wire.parts import Wire


def split_results(history: Sequence[Message]) -> tuple[str, list[Wire]]:
    system, messages = to_anthropic(history)
    return system, [
        {"role": message["role"], "content": [block]}
        for message in messages
        for block in message["content"]
    ]
