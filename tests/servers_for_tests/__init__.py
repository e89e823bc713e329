"""Servers that tests of the host start, and how they start them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import psutil

from agentkit.host import McpHost, ServerChanged
from agentkit.messages import ToolCall, ToolResult

HERE = Path(__file__).parent
LIMIT_S = 60.0  # for anything that must happen; it takes a fraction of a second on an idle machine


def bare(*options: str, era: str = "legacy") -> dict[str, Any]:
    """Return the configuration of a `bare.py`."""
    return {"command": sys.executable, "args": [str(HERE / "bare.py"), "--era", era, *options]}


class Watched:
    """A host whose events can be waited for."""

    def __init__(self, servers: dict[str, Any], **options: Any) -> None:
        self.events: list[ServerChanged] = []
        self._news = asyncio.Event()
        self.host = McpHost({"mcpServers": servers}, on_event=self._hear, **options)

    def _hear(self, event: ServerChanged) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, server: str, state: str, *, since: int = 0) -> ServerChanged:
        """Wait for an event; `since` is how many events to leave out."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                for event in self.events[since:]:
                    if (event.server, event.state) == (server, state):
                        return event
                self._news.clear()
                await self._news.wait()


async def say(host: McpHost, name: str, **arguments: Any) -> ToolResult:
    """Call a tool."""
    return await host.call(ToolCall("c1", name, arguments))


async def pid_of(host: McpHost, server: str) -> int:
    """Return the process id of a `bare.py`."""
    return int((await say(host, f"{server}.pid")).text)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended; one that waits to be reaped has not."""
    return not psutil.pid_exists(pid)


def lines(log: Path) -> list[str]:
    """Return what a `bare.py` noted: its starts and its calls."""
    return log.read_text(encoding="utf-8").split() if log.exists() else []
