"""A server as it was written for mcp 1.x; with mcp 2.x its import fails."""

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("old")

if __name__ == "__main__":
    mcp.run()
