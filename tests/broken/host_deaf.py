"""Broken: does not hear that a server's stream ended."""

from __future__ import annotations

import pytest

from agentkit.host import McpHost, link
from agentkit.host.life import Life


class DeafLife(Life):
    def ended(self) -> None: ...


def deaf(monkeypatch: pytest.MonkeyPatch) -> type[McpHost]:
    """Return the kit's host, with its ears stopped."""
    monkeypatch.setattr(link, "Life", DeafLife)
    return McpHost
