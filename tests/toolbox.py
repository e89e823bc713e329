"""A handful of tools in this process, for tests of the loop: each is a function or an error.

ToolBox(add=spec(...) and what it returns) ──▶ tools(), call()      and what was called
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentkit.messages import ToolCall, ToolResult
from agentkit.tools import Tier, ToolSpec

Gives = str | Mapping[str, Any] | BaseException | Callable[..., Any]


def spec(
    name: str,
    *,
    about: str = "",
    required: Sequence[str] = (),
    tier: Tier = "read",
    available: bool = True,
    **arguments: Any,
) -> ToolSpec:
    """Return a tool whose arguments are given as JSON Schema types or whole schemas."""
    properties = {
        key: {"type": value} if isinstance(value, str) else value
        for key, value in arguments.items()
    }
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name, about or f"Do {name}.", schema, tier, available)


class ToolBox:
    """Tools and what each gives: a text, a structured result, an error, or a function.

    Attributes:
        called: Each call that reached a tool, as (name, arguments).
    """

    def __init__(self, *tools: tuple[ToolSpec, Gives]) -> None:
        self._tools = [tool for tool, _ in tools]
        self._gives = {tool.name: gives for tool, gives in tools}
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.timeouts: list[float | None] = []

    def tools(self) -> list[ToolSpec]:
        return list(self._tools)

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        self.called.append((call.name, dict(call.arguments)))
        self.timeouts.append(timeout_s)
        gives = self._gives[call.name]
        if callable(gives) and not isinstance(gives, BaseException):
            gives = gives(**call.arguments)
            if hasattr(gives, "__await__"):
                gives = await gives
        if isinstance(gives, BaseException):
            raise gives
        if isinstance(gives, ToolResult):
            return gives
        if isinstance(gives, str):
            return ToolResult(call.id, call.name, gives)
        return ToolResult(call.id, call.name, json.dumps(gives, ensure_ascii=False), data=gives)
