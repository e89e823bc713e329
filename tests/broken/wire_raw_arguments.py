"""Broken: sends arguments as the model wrote them, JSON or not, and an empty text as it is."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.messages import Message
from agentkit.wire import to_openai
from agentkit.wire.parts import Wire


def raw_arguments(history: Sequence[Message]) -> list[Wire]:
    sent = to_openai(history)
    for message, wire in zip(history, sent, strict=True):
        for call, written in zip(message.tool_calls, wire.get("tool_calls", []), strict=True):
            written["function"]["arguments"] = call.arguments_json()
    return sent


def empty_content(history: Sequence[Message]) -> list[Wire]:
    return [{**message, "content": message["content"] or ""} for message in to_openai(history)]
