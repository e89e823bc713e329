"""Broken hosts: `McpHost` with one fault each; the key is the check that must notice it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import Any

from mcp import Client, MCPError, StdioServerParameters, stdio_client

from agentkit.checks.host import MakeHost
from agentkit.errors import (
    AgentkitError,
    ArgumentError,
    HostError,
    ServerGoneError,
    ServerTimeoutError,
    UnknownToolError,
)
from agentkit.host import McpHost
from agentkit.messages import ToolCall, ToolResult
from agentkit.tools import ToolSpec, check_call, find_tool


class Unqualified(McpHost):
    """Lists tools by the name that the server gives them."""

    def tools(self) -> list[ToolSpec]:
        return [replace(tool, name=tool.name.partition(".")[2]) for tool in super().tools()]


class NamesOnly(McpHost):
    """Lists tools without what they do and take."""

    def tools(self) -> list[ToolSpec]:
        return [ToolSpec(tool.name, "") for tool in super().tools()]


class AnyId(McpHost):
    """Answers each call under an id of its own."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        return replace(await super().call(call, **options), call_id="r1")


class InOneCell:
    """Enters the connection in open() and leaves it in close(), whichever task calls that."""

    def __init__(self, config: Any, *, timeout_s: float) -> None:
        [(self.name, entry)] = config["mcpServers"].items()
        self.program = StdioServerParameters(**entry)
        self.timeout_s = timeout_s

    async def open(self) -> None:
        self.client = Client(stdio_client(self.program, errlog=sys.__stderr__))
        await self.client.__aenter__()
        self.specs = [
            ToolSpec(f"{self.name}.{tool.name}", tool.description or "", tool.input_schema)
            for tool in (await self.client.list_tools()).tools
        ]

    async def close(self) -> None:
        await self.client.__aexit__(None, None, None)

    def tools(self) -> list[ToolSpec]:
        return self.specs

    async def call(self, call: ToolCall) -> ToolResult:
        tool = find_tool(call.name, self.specs)
        check_call(call, tool)
        name = tool.name.partition(".")[2]
        try:
            answer = await self.client.call_tool(
                name, dict(call.arguments), read_timeout_seconds=self.timeout_s
            )
        except MCPError as error:
            kind = ServerTimeoutError if "timed out" in error.message else ServerGoneError
            raise kind(f"{self.name}: {error.message}", hint="") from error
        return ToolResult(call.id, call.name, answer.content[0].text)  # type: ignore[union-attr]


class InAHurry(McpHost):
    """Closes without waiting until the server has ended."""

    async def close(self) -> None:
        self.closing = asyncio.get_running_loop().create_task(super().close())


class Unchecked(McpHost):
    """Asks the server before it looks at the arguments."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        try:
            return await super().call(call, **options)
        except ArgumentError as error:
            await super().call(ToolCall("c0", f"{call.name.partition('.')[0]}.pid"))
            raise error


class NoNames(McpHost):
    """Refuses an unknown tool and leaves the model to guess."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        try:
            return await super().call(call, **options)
        except UnknownToolError as error:
            raise UnknownToolError("No such tool.", hint="") from error


class TheSdksWords(McpHost):
    """Lets through what the connection raised when the server died."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        try:
            return await super().call(call, **options)
        except ServerGoneError as error:
            raise ConnectionError("Connection closed") from error


class Patient(McpHost):
    """Waits as long as the server likes."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        return await super().call(call, timeout_s=1_000)


class OneLife(McpHost):
    """Gives a server up when a call was lost."""

    gone: AgentkitError | None = None

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        if self.gone is not None and call.name.startswith("small."):
            raise self.gone
        try:
            return await super().call(call, **options)
        except ServerGoneError as error:
            if call.name.endswith("_writing"):
                self.gone = error
            raise


class Eager(McpHost):
    """Repeats each call that was lost."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        try:
            return await super().call(call, **options)
        except ServerGoneError:
            if call.name.startswith("small.") and call.name.endswith("_writing"):
                return await super().call(call, **options)
            raise


class Strict(McpHost):
    """Takes a printed line for the end of the server."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        if "printed" in self.reason(call.name.partition(".")[0]):
            raise HostError("The server prints.", hint="")
        return await super().call(call, **options)


class FirstOnly(McpHost):
    """Asks its first server, whichever a call names."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        tool = call.name.partition(".")[2]
        return await super().call(replace(call, name=f"{self.servers()[0]}.{tool}"), **options)


class AllOrNone(McpHost):
    """Gives up the other servers too when one dies."""

    async def call(self, call: ToolCall, **options: Any) -> ToolResult:
        try:
            return await super().call(call, **options)
        except ServerGoneError:
            for name in set(self.servers()) - {call.name.partition(".")[0]}:
                await self.unmount(name)
            raise


class InAHurryWithTwo(McpHost):
    """Closes one server and waits for it, and several without waiting."""

    async def close(self) -> None:
        if len(self.servers()) == 1:
            return await super().close()
        self.closing = asyncio.get_running_loop().create_task(super().close())


HOSTS: dict[str, MakeHost] = {
    "names_are_qualified": Unqualified,
    "the_schema_comes_along": NamesOnly,
    "a_call_comes_back": AnyId,
    "any_cell_may_close_it": InOneCell,
    "closing_leaves_no_process": InAHurry,
    "a_wrong_argument_is_not_sent": Unchecked,
    "an_unknown_tool_is_told_the_names": NoNames,
    "a_dead_server_is_noticed": TheSdksWords,
    "silence_has_a_limit": Patient,
}
FULL_HOSTS: dict[str, MakeHost] = {
    "a_dead_server_is_started_again": OneLife,
    "only_what_is_harmless_is_sent_twice": Eager,
    "a_server_that_prints_is_understood": Strict,
    "several_servers_stay_apart": FirstOnly,
    "one_death_is_not_all": AllOrNone,
    "closing_ends_them_all": InAHurryWithTwo,
}
