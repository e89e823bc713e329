"""Builds the way to one server: a pipe to a program, or HTTP to an address.

    ServerConfig ──connection()──▶ mcp Client   (entered and exited by one task only)

Both look the same from here on. A program's standard error goes into a real file,
because a notebook's own has no file descriptor on some systems, and because the
reason of a crash is written there and nowhere else.

Read after: config.py, wire.py.     Read next: link.py.
"""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamable_http_client

from agentkit.host.config import ServerConfig
from agentkit.host.wire import Listener, Tap

Era = Literal["auto", "legacy", "2026-07-28"]
# The version of what the host says, not of the kit: a wire view stays the same over releases.
CLIENT = types.Implementation(name="agentkit", version="1")
HTTP_TIMEOUT = httpx2.Timeout(30.0, read=300.0)  # a server may hold a response stream open
MAX_LOG_BYTES = 1_000_000  # what a server may have written before a restart begins a new file
MAX_ANSWER_BYTES = 16_000_000  # over HTTP; what is over is refused, not the connection lost
MAX_PAGES = 100  # a list that never ends must not hang the host

_ours: ContextVar[bool] = ContextVar("agentkit_host_task", default=False)


def quieten() -> None:
    """Keep the SDK's log out of the present task and those it starts.

    The SDK logs a traceback for each line a server prints and for each connection that
    breaks; the host reports both itself, once. Other users of the SDK keep their logs.
    """
    _ours.set(True)
    for name in ("mcp.client.stdio", "mcp.client.streamable_http", "client"):
        logging.getLogger(name).addFilter(_not_ours)  # adding it again changes nothing


def _not_ours(record: logging.LogRecord) -> bool:
    return not _ours.get()


@asynccontextmanager
async def connection(
    config: ServerConfig, listener: Listener, *, era: Era, log: Path
) -> AsyncIterator[Client]:
    """Start or reach a server, agree on a protocol revision, and end it on leaving.

    Args:
        config: What to start or reach.
        listener: Hears every message, and the end.
        era: Which generation of the protocol to speak; "auto" asks the server.
        log: Where the program's standard error goes.

    Nothing here is bounded in time; whoever enters it sets the limits.
    """
    if config.url:
        headers = dict(config.headers)
        async with httpx2.AsyncClient(headers=headers, timeout=HTTP_TIMEOUT) as http:
            way = streamable_http_client(
                config.url, http_client=http, max_sse_event_size=MAX_ANSWER_BYTES
            )
            async with Client(
                Tap(way, listener), mode=era, client_info=CLIENT, cache=None
            ) as client:
                yield client
        return
    fresh = not log.exists() or log.stat().st_size > MAX_LOG_BYTES
    with log.open("w" if fresh else "a", encoding="utf-8") as errlog:
        pipe = stdio_client(_program(config), errlog=errlog)
        async with Client(Tap(pipe, listener), mode=era, client_info=CLIENT, cache=None) as client:
            yield client


def _program(config: ServerConfig) -> StdioServerParameters:
    """Return what to start. Where no Python is on the PATH, "python" is this one."""
    command = config.command
    if command in ("python", "python3"):
        command = shutil.which(command, path=config.env.get("PATH")) or sys.executable
    return StdioServerParameters(
        command=command,
        args=list(config.args),
        env=dict(config.env),
        cwd=config.cwd,
        encoding_error_handler="replace",  # a stray byte must cost a letter, not the connection
    )


def tail(log: Path, lines: int, *, max_bytes: int = 64_000) -> str:
    """Return the last lines of a log that somebody may be writing; "" if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - max_bytes))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


async def pages(ask: Callable[..., Awaitable[Any]]) -> list[Any]:
    """Return every page of one of a server's lists; none when it has no such list."""
    found: list[Any] = []
    cursor: str | None = None
    while len(found) < MAX_PAGES:
        try:
            found.append(await ask(cursor=cursor))
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:
                break
            raise
        cursor = found[-1].next_cursor
        if cursor is None:
            break
    return found
