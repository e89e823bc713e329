"""What a call through the host costs beside one through the bare SDK client.

    python tests/bench/host_call.py [ROUNDS] [CALLS]        goal: at most 1.15 x

Both talk over stdio to the same server program, each to a process of its own, and take
turns call by call, so that whatever else the machine does falls on both alike.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mcp import Client, StdioServerParameters, stdio_client

from agentkit.host import McpHost
from agentkit.messages import ToolCall

GOAL = 1.15
ROOT = Path(__file__).parents[2]
SERVER = """
from mcp.server import MCPServer
mcp = MCPServer("bench", log_level="ERROR")
@mcp.tool(structured_output=False)
async def echo(text: str) -> str:
    return text
mcp.run()
"""
TEXT = "focus on the performance tests. 重点是性能测试部分 " * 2


async def main(rounds: int, calls: int) -> float:
    """Print the medians of each round and of all; return the ratio of all."""
    ratios, hosts, sdks = [], [], []
    parameters = StdioServerParameters(command=sys.executable, args=["-c", SERVER])
    config = {"bench": {"command": sys.executable, "args": ["-c", SERVER]}}
    with tempfile.TemporaryFile("w") as log:
        async with (
            Client(stdio_client(parameters, errlog=log)) as client,
            McpHost(config) as host,
        ):
            await client.list_tools()
            for round_number in range(rounds + 1):
                mine, theirs = await _round(host, client, calls if round_number else 50)
                if not round_number:
                    continue  # to warm up
                hosts += mine
                sdks += theirs
                ratios.append(statistics.median(mine) / statistics.median(theirs))
                print(
                    f"round {round_number}: host {statistics.median(mine) * 1e3:.2f} ms, ", end=""
                )
                print(f"SDK {statistics.median(theirs) * 1e3:.2f} ms, ratio {ratios[-1]:.3f}")
    ratio = statistics.median(hosts) / statistics.median(sdks)
    print(f"all {len(hosts)} calls: ratio of medians {ratio:.3f} (goal {GOAL})")
    return ratio


async def _round(host: McpHost, client: Client, calls: int) -> tuple[list[float], list[float]]:
    """Return the seconds of each call, of the host and of the SDK."""
    mine, theirs = [], []
    for number in range(calls):
        for through_host in (number % 2 == 0, number % 2 == 1):  # neither is always the first
            began = time.perf_counter()
            if through_host:
                result = await host.call(ToolCall(f"c{number}", "bench.echo", {"text": TEXT}))
                mine.append(time.perf_counter() - began)
                assert result.text == TEXT
            else:
                await client.call_tool("echo", {"text": TEXT})
                theirs.append(time.perf_counter() - began)
    return mine, theirs


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    reached = asyncio.run(main(*(arguments + [3, 500][len(arguments) :]))) <= GOAL
    sys.exit(not reached)
