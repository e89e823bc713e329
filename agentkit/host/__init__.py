"""The host of the kit: MCP servers that stay up, and calls that always come back.

    config.py    reads an `mcpServers` block
    connect.py   builds the way to one server: a pipe or HTTP
    wire.py      watches what goes over it
    life.py      one run of a server, from its start to its end
    link.py      the task that owns the runs: start, notice death, restart
    advice.py    why a server did not come up, and what to do
    asking.py    one request, and its four ways to fail
    arguments.py what may cross the wire
    answers.py   a server's words in the kit's own
    offers.py    resources, prompts, completions
    mcp_host.py  McpHost: all servers of a block

Read after: tools.py.     Read next: config.py, then in the order above.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from agentkit.host.answers import Prompt, Resource, tier_of
from agentkit.host.config import ServerConfig, load_config
from agentkit.host.link import ServerChanged, State
from agentkit.host.mcp_host import McpHost
from agentkit.host.wire import Wire

__all__ = [
    "McpHost",
    "Prompt",
    "Resource",
    "ServerChanged",
    "ServerConfig",
    "State",
    "Wire",
    "load_config",
    "tier_of",
]
