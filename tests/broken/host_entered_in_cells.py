"""Broken: enters its connection in the cell that opens it, and leaves it in another."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

from agentkit.host import McpHost
from agentkit.host.answers import to_result
from agentkit.messages import ToolCall, ToolResult


class EnteredInCells(McpHost):
    async def open(self) -> McpHost:
        self.stack = contextlib.AsyncExitStack()
        config = next(iter(self._links.values())).config
        log = self.stack.enter_context(tempfile.TemporaryFile("w"))  # noqa: SIM115
        parameters = StdioServerParameters(command=config.command, args=list(config.args))
        client = Client(stdio_client(parameters, errlog=log))
        self.client: Any = await self.stack.enter_async_context(client)
        return self

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        name = call.name.partition(".")[2]
        return to_result(call, call.name, await self.client.call_tool(name, dict(call.arguments)))

    async def close(self) -> None:
        await self.stack.aclose()
