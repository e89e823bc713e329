"""Watches what goes over the wire between host and server.

    Client ──▶ Tap ──▶ stdio or HTTP ──▶ server      each message passes unchanged,
    Client ◀── Tap ◀── stdio or HTTP ◀── server      and the link hears of it

The tap tells three things that the SDK does not: each message, for the wire view;
a line that is no message, because a server printed to its standard output; and the
end of the stream, which is how a server's death is noticed at once.

Read after: config.py.     Read next: link.py.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol

from mcp import types
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agentkit.text import clean_json

Direction = Literal["->", "<-"]
Streams = tuple[Any, Any]  # the SDK's read and write stream, whose types it keeps private


@dataclass
class Wire:
    """The JSON-RPC messages of one or more servers, in the order they went.

    Attributes:
        messages: Direction ("->" to the server, "<-" from it), server, message.
    """

    messages: list[tuple[Direction, str, dict[str, Any]]] = field(default_factory=list)

    def as_text(self, *, max_chars: int = 60, max_line_chars: int = 1_000) -> str:
        """Return one line a message; the server is named where there are several.

        Args:
            max_chars: A longer string in a message is cut, and says how much is missing.
            max_line_chars: A longer line is cut, and says so too.
        """
        several = len({server for _, server, _ in self.messages}) > 1
        return "\n".join(
            (f"{server} " if several else "")
            + f"{direction} "
            + _cut_text(json.dumps(_cut(message, max_chars), ensure_ascii=False), max_line_chars)
            for direction, server, message in self.messages
        )

    def __str__(self) -> str:
        return self.as_text()


def _cut(value: Any, max_chars: int) -> Any:
    """Return a JSON value with its long strings cut."""
    if isinstance(value, str):
        return _cut_text(value, max_chars)
    if isinstance(value, Mapping):
        return {key: _cut(item, max_chars) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item, max_chars) for item in value]
    return value


def _cut_text(text: str, max_chars: int) -> str:
    more = len(text) - max_chars
    return f"{text[:max_chars]}… [{more} more characters]" if more > 0 else text


class Listener(Protocol):
    """Who wants to know what passes a tap."""

    def passed(self, direction: Direction, message: SessionMessage) -> None:
        """A message went by."""

    def not_a_message(self, line: str) -> None:
        """The server wrote a line that is no JSON-RPC message."""

    def ended(self) -> None:
        """The server closed the connection, which it does by dying."""


class Tap(AbstractAsyncContextManager[Streams]):
    """A transport around another one, which tells a listener what passes."""

    def __init__(self, transport: Transport, listener: Listener) -> None:
        self._transport = transport
        self._listener = listener

    async def __aenter__(self) -> Streams:
        reading, writing = await self._transport.__aenter__()
        return _Reading(reading, self._listener), _Writing(writing, self._listener)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._transport.__aexit__(kind, error, trace)


class _End:
    """What both ends of a tapped stream have in common."""

    def __init__(self, stream: Any, listener: Listener) -> None:
        self._stream = stream
        self._listener = listener

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        found: bool | None = await self._stream.__aexit__(kind, error, trace)
        return found


class _Reading(_End):
    """The stream from the server."""

    @property
    def last_context(self) -> Any:
        """The sender's context variables, where the transport keeps them (HTTP)."""
        return getattr(self._stream, "last_context", None)

    def __aiter__(self) -> _Reading:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            item: SessionMessage | Exception = await self._stream.__anext__()
        except StopAsyncIteration:
            self._listener.ended()
            raise
        if isinstance(item, Exception):
            line = _line_of(item)
            mended = _mended(line)
            if mended is None:
                self._listener.not_a_message(line)
                return item
            item = mended
        self._listener.passed("<-", item)
        return item

    async def receive(self) -> SessionMessage | Exception:
        item: SessionMessage | Exception = await self._stream.receive()
        return item


def _line_of(error: Exception) -> str:
    """Return the line that the SDK could not read."""
    if isinstance(error, ValidationError):
        return str(error.errors(include_url=False)[0].get("input", error))
    return str(error)


def _mended(line: str) -> SessionMessage | None:
    """Return a message that holds half an emoji, or None for a line that is no message.

    The SDK drops such a message, and whoever waits for it would wait in vain.
    """
    try:
        found = clean_json(json.loads(line))
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(found, by_name=False))
    except (ValueError, RecursionError):
        return None


class _Writing(_End):
    """The stream to the server."""

    async def send(self, item: SessionMessage) -> None:
        self._listener.passed("->", item)
        await self._stream.send(item)
