"""Broken: takes every tool for one that may be called twice."""

from __future__ import annotations

from dataclasses import replace

from agentkit.host import McpHost
from agentkit.host.link import ServerLink
from agentkit.tools import ToolSpec


class AsksTwice(McpHost):
    async def _find(self, name: str, limit_s: float) -> tuple[ServerLink, ToolSpec]:
        link, tool = await super()._find(name, limit_s)
        return link, replace(tool, idempotent=True)
