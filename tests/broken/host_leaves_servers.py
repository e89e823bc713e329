"""Broken: opened again, it starts its servers again and forgets those that run."""

from __future__ import annotations

from agentkit.host import McpHost


class LeavesServers(McpHost):
    async def open(self) -> McpHost:
        for link in self._links.values():
            self.forgotten = link._task
            link._task = None
        return await super().open()
