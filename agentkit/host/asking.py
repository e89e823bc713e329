"""Asks a server one thing, and turns every way to fail into one of four errors.

    it refuses, or answers what cannot be read   ──▶  ToolError          the model reads it
    it dies before it answers                    ──▶  ask again, or ServerGoneError
    it does not answer in time                   ──▶  ServerTimeoutError
    it cannot be started                         ──▶  ServerGoneError

Whoever asks may be cancelled at any time; the connection outlives that. A request
that may change something is never sent twice: nobody knows what became of the first.

Read after: link.py.     Read next: mcp_host.py.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST

from agentkit.errors import ServerGoneError, ServerStartError, ServerTimeoutError, ToolError
from agentkit.host.life import Life
from agentkit.host.link import STOP_S, ServerLink
from agentkit.text import clean_text

Answer = TypeVar("Answer")
MAX_REFUSAL_CHARS = 2_000  # about 500 tokens: a refusal is a sentence, or a page of nonsense
UNKNOWN = "It is not known whether the call was carried out: look before you call again."


class _LostError(Exception):
    """The connection broke; `unsent` when the request cannot have been carried out."""

    def __init__(self, *, unsent: bool) -> None:
        self.unsent = unsent


async def ask(
    link: ServerLink,
    what: str,
    request: Callable[[Client], Awaitable[Answer]],
    *,
    limit_s: float,
    again: bool,
) -> Answer:
    """Return the server's answer to one request.

    Args:
        link: The server.
        what: What is asked, for errors, e.g. "notes.write_note".
        request: Asks it of a client.
        limit_s: How long the server may take to come up, and then to answer.
        again: Asking twice does no harm, so a server that dies is asked once more.

    Raises:
        ToolError: The server refused, or its answer cannot be read.
        ServerGoneError: It died before it answered, or cannot be started.
        ServerTimeoutError: It did not answer in time.
    """
    lives: list[Life] = []
    while True:
        try:
            lives.append(await link.up(timeout_s=limit_s))
        except ServerStartError as error:
            raise ServerGoneError(
                f"{what} was not called: {error.what}", hint=error.hint, down=True
            ) from None
        try:
            return await _ask_once(lives[-1], what, request, limit_s=limit_s, again=again)
        except _LostError as lost:
            if len(lives) == 2 or not (again or lost.unsent):
                raise _gone(link, what, lives[-1], again or lost.unsent) from None
        except TimeoutError:
            raise _late(link, what, limit_s, again) from None


async def _ask_once(
    life: Life,
    what: str,
    request: Callable[[Client], Awaitable[Answer]],
    *,
    limit_s: float,
    again: bool,
) -> Answer:
    """Ask once; raise `_LostError` when the connection breaks, TimeoutError when it is late."""
    asked_at = asyncio.get_running_loop().time()
    client = life.client
    if client is None:
        raise await _lost(life, unsent=True)
    try:
        async with asyncio.timeout(limit_s):
            answer = await request(client)
    except TimeoutError:
        life.did_not_answer(asked_at)
        raise
    except MCPError as error:
        if _is_closed(error):
            raise await _lost(life, unsent=error.code == INVALID_REQUEST) from None
        refusal = clean_text(error.message, max_chars=MAX_REFUSAL_CHARS)
        raise ToolError(
            f"{what} was refused: {refusal} (code {error.code}).",
            hint="Correct the request, or answer without it.",
        ) from None
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        raise await _lost(life, unsent=False) from None
    except (RuntimeError, ValueError) as error:  # the SDK checks answers, and raises these two
        if life.why:
            raise await _lost(life, unsent=False) from None
        raise _unreadable(what, error) from None
    life.was_useful = True
    return answer


def _is_closed(error: MCPError) -> bool:
    """Tell the SDK's own word for a broken connection from a server's error of that number."""
    if error.code == INVALID_REQUEST:  # an HTTP server that was started anew
        return error.message == "Session terminated"
    by_sdk = error.message == "Connection closed" or error.message.startswith("SSE stream ended")
    return error.code == CONNECTION_CLOSED and error.data is None and by_sdk


async def _lost(life: Life, *, unsent: bool) -> _LostError:
    """End a life whose connection broke, and wait until its last words are written."""
    life.end("the connection closed")
    await life.over(STOP_S)
    return _LostError(unsent=unsent or life.never_reached)


def _gone(link: ServerLink, what: str, life: Life, harmless: bool) -> ServerGoneError:
    return ServerGoneError(
        f"{link.name} went away before it answered {what}: {life.why}.{_last_words(link)}",
        hint="It was asked twice. Answer without it; a later call starts the server again."
        if harmless
        else f"{UNKNOWN} The server is started again.",
    )


def _late(link: ServerLink, what: str, limit_s: float, again: bool) -> ServerTimeoutError:
    longer = f"If it needs longer, give it more: timeout_s={limit_s * 3:g}."
    return ServerTimeoutError(
        f"{what} did not answer within {limit_s:g} s.{_last_words(link)}",
        hint=longer if again else f"{UNKNOWN} {longer}",
    )


def _unreadable(what: str, error: Exception) -> ToolError:
    said = clean_text(" ".join(str(error).split()), max_chars=300)
    return ToolError(
        f"{what} answered in a form that it does not promise: {said}",
        hint="It did its work; do not repeat the call. The server's author must mend it.",
    )


def _last_words(link: ServerLink) -> str:
    words = link.stderr_tail()
    return f"\nThe last words of {link.name}:\n{words}" if words else ""
