"""One run of a server, from its start to its end.

    live():  start ──▶ list tools ──▶ ready, until ended ──▶ the process is gone
                                          ▲
             the tap: a message, a printed line, the end of the stream

A life never raises: it keeps what ended it, and says when it is over. It is lived by
one task, its owner, because a connection must be left by the task that entered it.

Read after: connect.py.     Read next: link.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Literal

from mcp import Client, MCPError, types
from mcp.shared.message import SessionMessage

from agentkit.host.advice import first_reason, never_sent
from agentkit.host.answers import to_json, to_spec
from agentkit.host.config import ServerConfig
from agentkit.host.connect import Era, connection, pages
from agentkit.host.wire import Direction, Wire
from agentkit.text import clean_text
from agentkit.tools import ToolSpec

TOOLS_CHANGED = "notifications/tools/list_changed"


class Life:
    """One run of a server, and the listener of its wire.

    Attributes:
        phase: "starting", "ready", then "ending".
        client: What requests are made of while it is ready.
        tools: What the server offers.
        why: What ended it, in one line; empty until then.
        error: What the SDK raised at the end, if it raised.
        was_ready: It came up.
        was_useful: It answered a request of a caller.
    """

    def __init__(
        self,
        config: ServerConfig,
        *,
        wires: Iterable[Wire],
        changed: Callable[[Life], None],
        warn: Callable[[str], None],
    ) -> None:
        self.config = config
        self.phase: Literal["starting", "ready", "ending"] = "starting"
        self.client: Client | None = None
        self.tools: tuple[ToolSpec, ...] = ()
        self.why = ""
        self.error: BaseException | None = None
        self.was_ready = False
        self.was_useful = False
        self.printed = ""
        self._wires = wires
        self._changed = changed
        self._warn = warn
        self._now = asyncio.get_running_loop().time
        self._heard_at = self._now()
        self._silent_at: float | None = None
        self._list_changed = False
        self._wake = asyncio.Event()
        self._over = asyncio.Event()

    async def live(self, *, era: Era, log: Path, start_timeout_s: float) -> None:
        """Start the server and return when it has ended; only a cancellation is raised."""
        clock = asyncio.timeout(start_timeout_s)
        try:
            async with AsyncExitStack() as stack:
                async with clock:
                    way = connection(self.config, self, era=era, log=log)
                    client = await stack.enter_async_context(way)
                    self.tools = await self._list_tools(client)
                self._be_ready(client)
                await self._until_ended(client)
        except (Exception, BaseExceptionGroup) as error:  # the SDK raises any
            if not isinstance(error, Exception) and not clock.expired():
                raise  # a cancellation or an interrupt is among them
            self.error = TimeoutError() if clock.expired() else error
            self.end(first_reason(self.error))
        finally:
            self.phase, self.client = "ending", None
            self._over.set()

    def end(self, why: str) -> None:
        """End this life; the first reason counts."""
        if self.why:
            return
        self.why, self.client = why, None
        if self.phase == "ready":
            self.phase = "ending"
            self._wake.set()
            self._changed(self)

    async def over(self, timeout_s: float) -> None:
        """Wait until nothing is left of it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._over.wait()

    @property
    def never_reached(self) -> bool:
        """The last request was refused at the door, so the server never saw it."""
        return self.error is not None and never_sent(self.error)

    def did_not_answer(self, asked_at: float) -> None:
        """Note a request that ran out of time; a server silent twice in a row is hung."""
        if self._heard_at >= asked_at:
            self._silent_at = None
        elif self._silent_at is not None and asked_at >= self._silent_at:
            self.end("it was silent for two requests in a row")
        else:
            self._silent_at = self._now()

    # What the tap tells

    def passed(self, direction: Direction, message: SessionMessage) -> None:
        if direction == "<-":
            self._heard_at = self._now()
            said = message.message
            if isinstance(said, types.JSONRPCNotification) and said.method == TOOLS_CHANGED:
                self._list_changed = True
                self._wake.set()
        for wire in self._wires:
            wire.messages.append((direction, self.config.name, to_json(message.message)))

    def not_a_message(self, line: str) -> None:
        if self.printed:
            return  # said once is enough
        shown = clean_text(line, max_chars=80)
        self.printed = f"it printed to its standard output, which is the wire: {shown!r}"
        self._warn(f"{self.printed}; nothing was lost, but let it log to standard error")

    def ended(self) -> None:
        self.end("it closed the connection, as a server does that dies")

    # What the owner does

    def _be_ready(self, client: Client) -> None:
        self.phase, self.client, self.was_ready = "ready", client, True
        self._changed(self)

    async def _until_ended(self, client: Client) -> None:
        """Wait for the end; list the tools anew when the server says that they changed."""
        while not self.why:
            await self._wake.wait()
            self._wake.clear()
            if self._list_changed and not self.why:
                self._list_changed = False
                with suppress(MCPError, TimeoutError):  # then the old list stands
                    self.tools = await self._list_tools(client)
                    self._changed(self)

    async def _list_tools(self, client: Client) -> tuple[ToolSpec, ...]:
        """Return the server's tools; of two with one name, the first."""
        specs: dict[str, ToolSpec] = {}
        for page in await pages(client.list_tools):
            for tool in page.tools:
                spec = to_spec(self.config.name, tool)
                specs.setdefault(spec.name, spec)
        return tuple(specs.values())
