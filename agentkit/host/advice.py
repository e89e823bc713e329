"""Turns a server's last words into advice: why it did not come up, and what to do.

    stderr + the error  ──why_not()──▶  ServerStartError(what happened, hint)

A server that fails says why on its standard error, in its own language's words, and
the protocol carries none of it. The few reasons behind most failures are known by
their words; for all others the last lines are shown as they are.

Read after: config.py.     Read next: link.py.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

from agentkit.errors import ServerStartError
from agentkit.host.config import ServerConfig

INSTALLS = {
    "npx": "Install Node.js, which brings npx",
    "node": "Install Node.js",
    "uvx": "Install uv, which brings uvx",
    "uv": "Install uv",
    "docker": "Install Docker and start it",
}


def why_not(
    config: ServerConfig, error: BaseException, stderr: str, *, printed: str = ""
) -> ServerStartError:
    """Return the error to raise for a server that did not come up.

    Args:
        config: What was to be started or reached.
        error: What the SDK or the system said.
        stderr: The last lines the server wrote to its standard error.
        printed: What it wrote to its standard output that was no message.
    """
    reasons = list(_reasons(error))
    what, hint = _known(config, reasons, stderr)
    what = f"{what}; {printed}" if printed else what
    said = f"\nIts last words:\n{stderr}" if stderr else ""
    return ServerStartError(f"{config.name} did not start: {what}.{said}", hint=hint)


def _reasons(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors inside a group, the first one first."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _reasons(inner)
    else:
        yield error


def first_reason(error: BaseException) -> str:
    """Return what the first error inside a group says, in one line."""
    reason = next(_reasons(error))
    return " ".join(str(reason).split()) or type(reason).__name__


def never_sent(error: BaseException) -> bool:
    """Tell whether the connection was refused, so that no request reached the server."""
    return any(
        type(reason).__name__ in ("ConnectError", "ConnectTimeout") for reason in _reasons(error)
    )


def _known(config: ServerConfig, reasons: list[BaseException], stderr: str) -> tuple[str, str]:
    """Return what happened and what to do."""
    if config.url:
        return _http(config, reasons)
    failed = [r for r in reasons if isinstance(r, OSError) and not isinstance(r, TimeoutError)]
    if failed:
        return _no_program(config, failed[0])
    if found := re.search(r"No module named '([\w.]+)'|cannot import name 'FastMCP'", stderr):
        return _no_module(config, found[1] or "mcp.server.fastmcp")
    if re.search(r"can't open file|Cannot find module", stderr):
        return "the program it runs is not there", f"Correct the path in {config.where}."
    if isinstance(reasons[0], TimeoutError):
        return (
            f"`{config.where}` started, but did not answer within the time limit",
            "Check that it is an MCP server over stdio and prints nothing else to its standard "
            "output, or give it longer: McpHost(..., start_timeout_s=120).",
        )
    return (
        f"`{config.where}` ended before it answered ({first_reason(reasons[0])})",
        "Run that command in a terminal: it must wait for input and print nothing.",
    )


def _http(config: ServerConfig, reasons: list[BaseException]) -> tuple[str, str]:
    """Say why a server that is reached by its address does not answer."""
    if any(never_sent(reason) for reason in reasons):
        return f"nothing listens at {config.url}", "Start the server first, or correct the url."
    if isinstance(reasons[0], TimeoutError):
        return f"{config.url} did not answer within the time limit", "Look at the server's log."
    return (
        f"{config.url} answers, but not as an MCP server does ({first_reason(reasons[0])})",
        "Check the path, often /mcp, and the headers: a server may want an Authorization.",
    )


def _no_program(config: ServerConfig, error: OSError) -> tuple[str, str]:
    """Say which program or folder is missing."""
    if config.cwd and not os.path.isdir(config.cwd):
        return f"there is no folder {config.cwd}", "Correct cwd in the configuration."
    if isinstance(error, FileNotFoundError):
        todo = INSTALLS.get(config.command, f"Install {config.command}")
        return (
            f"there is no program {config.command!r} on this machine",
            f"{todo}, or give the full path as command. For Python: {sys.executable}",
        )
    return f"{config.command} cannot be run: {error.strerror or error}", "Is it a program?"


def _no_module(config: ServerConfig, module: str) -> tuple[str, str]:
    """Say what a Python server needs that cannot import a module."""
    if module == "fastmcp" or module.startswith("mcp.server.fastmcp"):
        package = "fastmcp" if module == "fastmcp" else "mcp<2"
        return (
            f"it is written for FastMCP (mcp 1.x), and the Python that {config.command!r} starts "
            "does not have that",
            f"Run it in an environment of its own (pip install '{package}') with that "
            f'environment\'s Python as command, or by uvx: "command": "uvx", "args": ["--with", '
            f'"{package}", ...]. Or port it: from mcp.server import MCPServer.',
        )
    if module == "mcp":
        return (
            f"the Python that {config.command!r} starts has no mcp",
            f"Use this one as command: {sys.executable}",
        )
    return (
        f"it cannot import {module}",
        f"Install what it needs for the Python that {config.command!r} starts, or correct cwd.",
    )
