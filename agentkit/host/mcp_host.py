"""The host: starts or reaches MCP servers, and makes their tools callable.

    mcpServers ──▶ McpHost ─┬─▶ notes     (a program, over stdio)
                            └─▶ wiki      (an address, over HTTP)
    host.tools()     what a model may call, qualified: notes.write_note
    host.call(...)   one call, one result, whatever the server does meanwhile

Open it in one cell, use it in the next, close it in the last. A server that dies is
marked as such and started again; the others, and the conversation, go on.

Read after: tools.py, link.py, asking.py.     Read next: loop.py.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentkit.errors import (
    HostError,
    ServerGoneError,
    ServerStartError,
    ToolError,
)
from agentkit.host import offers
from agentkit.host.answers import Prompt, Resource, to_result
from agentkit.host.arguments import wire_arguments
from agentkit.host.asking import ask
from agentkit.host.config import load_config, server_name
from agentkit.host.connect import Era
from agentkit.host.link import ServerChanged, ServerLink, State
from agentkit.host.wire import Wire
from agentkit.messages import Message, ToolCall, ToolResult
from agentkit.tools import ToolSpec, find_tool

TICK_S = 0.15  # a notebook's interrupt is heard when the loop next wakes, so let it wake


class McpHost:
    """MCP servers, and the calls to them.

    Args:
        config: An `mcpServers` block: a dict, JSON text, or the path of a file.
        timeout_s: How long a server may take for one call, unless the call says.
        start_timeout_s: How long a server may take to start. With "auto" it takes at least
            10 s to find out that an old server ignores the newer handshake.
        era: The protocol generation to speak; "auto" takes the newest both know.
        on_event: Called with each `ServerChanged`.
        lazy: Servers to start only when they are first called, or mounted.
        strict: `open` raises when a server does not start; else it only says so in
            its state and its event, and the others go on without it.

    Raises:
        ConfigError: The block cannot be read, or `lazy` names no server of it.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | str | Path,
        *,
        timeout_s: float = 20.0,
        start_timeout_s: float = 60.0,
        era: Era = "auto",
        on_event: Callable[[ServerChanged], None] | None = None,
        lazy: Collection[str] = (),
        strict: bool = True,
    ) -> None:
        self._timeout_s = timeout_s
        self._start_timeout_s = start_timeout_s
        self._on_event = on_event
        self._strict = strict
        self._wires: list[Wire] = []
        self._logs = Path(tempfile.gettempdir()) / f"agentkit-host-{uuid.uuid4().hex}"
        weakref.finalize(self, shutil.rmtree, self._logs, ignore_errors=True)
        self._ticker: asyncio.Task[None] | None = None
        self._links = {
            name: ServerLink(
                server,
                era=era,
                start_timeout_s=start_timeout_s,
                log=self._logs / f"{name}.log",
                wires=self._wires,
                announce=self._announce,
            )
            for name, server in load_config(config).items()
        }
        self._lazy = {self._link(name).name for name in lazy}

    async def open(self) -> McpHost:
        """Start all servers that are not lazy, at once; those that are up stay as they are.

        Raises:
            ServerStartError: Some did not start, after all were tried: it names each.
        """
        self._prepare()
        links = [link for name, link in self._links.items() if name not in self._lazy]
        outcomes = await asyncio.gather(*(link.start() for link in links), return_exceptions=True)
        errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        for error in errors:
            if not isinstance(error, ServerStartError | ServerGoneError):
                raise error
        if errors and self._strict:
            raise _start_error([error for error in errors if isinstance(error, HostError)], links)
        return self

    async def close(self) -> None:
        """End all servers and leave nothing behind; it can be opened again."""
        try:
            await asyncio.gather(*(link.stop() for link in self._links.values()))
        finally:
            if self._ticker is not None and not self._ticker.get_loop().is_closed():
                self._ticker.cancel()
            self._ticker = None
            shutil.rmtree(self._logs, ignore_errors=True)

    async def __aenter__(self) -> McpHost:
        try:
            return await self.open()
        except BaseException:
            await self.close()
            raise

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def mount(self, server: str) -> None:
        """Start one server, where a task needs it.

        Raises:
            ServerStartError: It did not start.
        """
        link = self._link(server)
        self._prepare()
        await link.start()

    async def unmount(self, server: str) -> None:
        """End one server; its tools are gone until it is mounted again."""
        link = self._link(server)
        self._lazy.discard(link.name)  # what a person put away, a call does not bring back
        await link.stop("not mounted")

    def servers(self) -> list[str]:
        """Return the names of all servers, in the order of the configuration."""
        return list(self._links)

    def state(self, server: str) -> State:
        """Return "not mounted", "starting", "ready", "down" or "closed"."""
        return self._link(server).state

    def reason(self, server: str) -> str:
        """Return why a server is in its state, in one line; "" when there is nothing to say."""
        return self._link(server).reason

    def stderr_tail(self, server: str, lines: int = 20) -> str:
        """Return the last lines that a server's program wrote to its standard error."""
        return self._link(server).stderr_tail(lines)

    @contextmanager
    def wire(self) -> Iterator[Wire]:
        """Record the JSON-RPC messages that go both ways while the block runs."""
        wire = Wire()
        self._wires.append(wire)
        try:
            yield wire
        finally:
            self._wires[:] = [other for other in self._wires if other is not wire]

    def tools(self) -> list[ToolSpec]:
        """Return the tools of all mounted servers; those of a server that is down, as such.

        A call of one of these waits until its server is up again.
        """
        return [
            tool if link.state == "ready" else replace(tool, available=False, returning=True)
            for link in self._links.values()
            for tool in link.tools
        ]

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        """Return what a tool answers; a tool that says no answers too, with `is_error`.

        A server that is down is waited for, or started once more. One that dies in the
        middle is asked again, but only for a tool that says it is idempotent or only
        reads.

        Raises:
            UnknownToolError: No such tool.
            ArgumentError: The arguments do not fit; nothing was sent.
            ServerGoneError: The server cannot be started, or died before it answered.
            ServerTimeoutError: It did not answer in time.
        """
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        link, tool = await self._find(call.name, limit_s)
        arguments = wire_arguments(call, tool)
        try:
            answer = await ask(
                link,
                tool.name,
                lambda client: client.call_tool(tool.name.partition(".")[2], arguments),
                limit_s=limit_s,
                again=tool.idempotent,
            )
        except ToolError as refusal:
            return ToolResult(call.id, tool.name, str(refusal), is_error=True)
        return to_result(call, tool.name, answer)

    async def resources(self) -> list[Resource]:
        """Return the resources, and templates of resources, of all servers that are ready."""
        return await offers.resources(self._ready(), self._timeout_s)

    async def read(self, uri: str, server: str | None = None) -> str:
        """Return what a resource holds, as text.

        Raises:
            ToolError: No server has it, or the server refuses.
        """
        links = self._ready() if server is None else [self._link(server)]
        return await offers.read(links, uri, self._timeout_s)

    async def prompts(self) -> list[Prompt]:
        """Return the prompts of all servers that are ready."""
        return await offers.prompts(self._ready(), self._timeout_s)

    async def prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> list[Message]:
        """Return the messages of a prompt, e.g. "notes.review_week", filled in.

        Raises:
            ToolError: The server knows no such prompt, or an argument is missing.
        """
        link = self._link(name.partition(".")[0])
        return await offers.prompt(link, name, arguments or {}, self._timeout_s)

    async def complete(
        self, what: str, argument: str, value: str, *, server: str | None = None
    ) -> list[str]:
        """Return what a server suggests for an argument that is half typed.

        Args:
            what: A prompt, "notes.review_week", or a template, "note://{id}".
            argument: Which part is typed, e.g. "id".
            value: What there is of it, e.g. "rep".
            server: Whose template it is, where several servers are ready.
        """
        if "://" not in what:
            server = what.partition(".")[0]
        links = self._ready() if server is None else [self._link(server)]
        return await offers.complete(links, what, argument, value, self._timeout_s)

    def _prepare(self) -> None:
        """Make what open servers need: the folder of their logs, and the ticker."""
        self._logs.mkdir(mode=0o700, exist_ok=True)
        loop = asyncio.get_running_loop()
        ticker = self._ticker
        if ticker is None or ticker.done() or ticker.get_loop() is not loop:
            self._ticker = loop.create_task(_tick(), name="agentkit ticker")

    def _link(self, server: str) -> ServerLink:
        link = self._links.get(server) or self._links.get(server_name(server))
        if link is None:
            raise HostError(
                f"There is no server {server!r}.",
                hint=f"Use one of: {', '.join(self._links) or 'none is configured'}.",
            )
        return link

    def _ready(self) -> list[ServerLink]:
        return [link for link in self._links.values() if link.state == "ready"]

    async def _find(self, name: str, limit_s: float) -> tuple[ServerLink, ToolSpec]:
        """Return a tool and its server, which is started where it is lazy or gave up."""
        named = self._links.get(name.partition(".")[0])
        if named is not None:
            if not named.tools:
                await self._bring(named, name, limit_s)
            for tool in named.tools:
                if tool.name == name:
                    return named, tool
        known = [
            replace(tool, available=True)  # down is no reason not to ask: it is started anew
            for link in self._links.values()
            for tool in link.tools
        ]
        tool = find_tool(name, known)
        return self._links[tool.server], tool

    async def _bring(self, link: ServerLink, name: str, limit_s: float) -> None:
        """Bring up a server that has shown no tools yet, and start it where it is lazy."""
        lazy = link.name in self._lazy and link.state == "not mounted" and self._ticker is not None
        try:
            await (link.start() if lazy else link.up(timeout_s=limit_s))
        except (ServerStartError, ServerGoneError) as error:
            raise ServerGoneError(
                f"{name} was not called: {error.what}", hint=error.hint, down=True
            ) from None

    def _announce(self, change: ServerChanged) -> None:
        if self._on_event is None:
            return
        try:
            self._on_event(change)
        except Exception as error:  # noqa: BLE001 - a listener's fault must not cost the server
            asyncio.get_running_loop().call_exception_handler(
                {"message": "on_event of McpHost failed", "exception": error}
            )


async def _tick() -> None:
    """Wake the loop now and then, so that a notebook's interrupt is heard promptly."""
    while True:
        await asyncio.sleep(TICK_S)


def _start_error(errors: list[HostError], links: list[ServerLink]) -> HostError:
    """Return one error for all servers that did not start."""
    if len(errors) == 1:
        return errors[0]
    return ServerStartError(
        f"{len(errors)} of {len(links)} servers did not start.\n"
        + "\n".join(error.what for error in errors),
        hint=" ".join(dict.fromkeys(error.hint for error in errors)),
    )
