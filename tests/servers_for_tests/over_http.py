"""A server of the SDK over streamable HTTP: python over_http.py PORT."""

from __future__ import annotations

import os
import sys

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

mcp = MCPServer("over_http", log_level="ERROR")
READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False)


@mcp.tool(annotations=READS)
def echo(text: str) -> str:
    """Return the text."""
    return text


@mcp.tool(annotations=WRITES)
def write(text: str) -> str:
    """Pretend to write the text."""
    return f"written: {text}"


@mcp.tool(annotations=WRITES)
def die() -> str:
    """End the server in the middle of a call."""
    os._exit(7)


@mcp.resource("web://page")
def page() -> str:
    """The only page."""
    return "a page 一页"


if __name__ == "__main__":
    mcp.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
