"""Solutions of notebook 05. Each is one way among several.

Read after: ../05_a_host_that_speaks_stdio.ipynb.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Any

from agentkit import McpHost, ToolCall, ToolResult, ToolSpec
from agentkit.errors import UnknownToolError

# 1 · Predict. Reading twice changes nothing, and writing the same twice neither, where the
# tool says so. A call that writes may have been carried out before the server died: sending
# it again could write twice, so the host tells you instead.
GUESS = [2, 1, 2]

# 3 · Break it. The program runs, so nothing fails; it never speaks, so nothing comes back.
# `TinyHost` has a time limit for calls and none for starting.
BROKEN = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"]}


class Hosts:
    """2 · Build. In the notebook, `one` is your `TinyHost`."""

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        timeout_s: float = 20.0,
        one: Callable[..., Any] = McpHost,
    ) -> None:
        self.hosts = {
            name: one({"mcpServers": {name: entry}}, timeout_s=timeout_s)
            for name, entry in config["mcpServers"].items()
        }

    async def open(self) -> None:
        await asyncio.gather(*(host.open() for host in self.hosts.values()))

    def tools(self) -> list[ToolSpec]:
        return [tool for host in self.hosts.values() for tool in host.tools()]

    async def call(self, call: ToolCall) -> ToolResult:
        server = call.name.partition(".")[0]
        if server not in self.hosts:
            raise UnknownToolError(
                f"There is no server {server!r}.", hint=f"Use one of {list(self.hosts)}."
            )
        result: ToolResult = await self.hosts[server].call(call)
        return result

    async def close(self) -> None:
        await asyncio.gather(*(host.close() for host in self.hosts.values()))
