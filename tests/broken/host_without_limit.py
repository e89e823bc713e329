"""Broken: waits for an answer as long as it takes."""

from __future__ import annotations

from agentkit.host import McpHost
from agentkit.messages import ToolCall, ToolResult


class WithoutLimit(McpHost):
    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        return await super().call(call, timeout_s=1e6)
