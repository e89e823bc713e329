"""What the servers share: how a tool is described, how bad arguments are answered, how to run.

    arguments ──▶ stdio            (default: a host starts the server and owns its pipes)
              └─▶ streamable HTTP  (--http: the server is there first, hosts come to it)

Standard output is the wire. Whatever a person should read goes to standard error.

Read after: nothing.     Read next: notes.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from importlib import metadata
from typing import Any

import anyio
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import INVALID_PARAMS, INVALID_REQUEST
from pydantic import ValidationError

from servers._valid_json import INVALID, make_stdin_valid, valid_text, valid_value

Clock = Callable[[], datetime]
INTERRUPTED = 130  # exit status, as shells have it
LEAVE_WITHIN_S = 1.0  # after Ctrl-C, for the answers that are being written
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


def describe(*, does: str, use: str, returns: str) -> str:
    """Return a tool description: what it does, when to use it and when not, what comes back."""
    return f"{does} Use when {use} Returns {returns}"


class PlainServer(MCPServer[Any]):
    """An `MCPServer` that answers bad arguments with what to send instead.

    It inherits because the SDK checks arguments before any code of a tool runs, and
    answers with a validator's report and the address of its manual.
    """

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> Any:
        tools = {tool.name: tool for tool in await self.list_tools()}
        if name not in tools:
            raise ToolError(f"There is no tool {name[:60]!r}. Use one of: {', '.join(tools)}.")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            example = _example(tools[name].input_schema)
            raise ToolError(
                f"{name} was not called. {_problems(error.__cause__)}. For example, send {example}"
            ) from error.__cause__

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> Any:
        names = [prompt.name for prompt in await self.list_prompts()]
        if name not in names:
            text = f"There is no prompt {name[:60]!r}. Use one of: {', '.join(names)}."
            raise MCPError(code=INVALID_PARAMS, message=text)
        return await super().get_prompt(name, arguments, context)


async def valid_answers(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> Any:
    """Let no text go out that would end the connection, nor a bad line without an answer.

    Where the SDK has made an answer of everything else, half an emoji or a file's name that is
    no UTF-8 may still stand in it, in the text of an error above all.
    """
    if ctx.method == INVALID:
        why = (ctx.params or {}).get("why", "it is no request")
        raise MCPError(code=INVALID_REQUEST, message=f"Invalid request: {why}.")
    try:
        return valid_value(await call_next(ctx))
    except MCPError as error:
        told = (valid_text(error.message), valid_value(error.data))
        if told == (error.message, error.data):
            raise
        raise MCPError(error.code, *told) from error


def _problems(error: ValidationError) -> str:
    """Say what is wrong with which argument, without repeating what was sent."""
    found = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in found[:4])


def _example(schema: dict[str, Any]) -> str:
    """Return arguments that would be taken, from the examples in the schema."""
    properties = schema.get("properties", {})
    required = schema.get("required", list(properties))
    wanted = {name: properties[name].get("examples", ["…"])[0] for name in required}
    return json.dumps(wanted, ensure_ascii=False)


def kit_version() -> str:
    """Return the version of the installed kit; "0" where the file runs alone."""
    try:
        return metadata.version("agentkit")
    except metadata.PackageNotFoundError:
        return "0"


def argument_parser(program: str, *, about: str, more: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every server has."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--clock",
        metavar="TIME",
        default=os.environ.get("AGENTKIT_CLOCK"),
        help="start a made-up clock here that moves one second whenever it is read, e.g. "
        "2026-01-05T09:00:00Z, so that two runs agree (default: AGENTKIT_CLOCK, else real time)",
    )
    http = parser.add_argument_group("streamable HTTP instead of stdio")
    http.add_argument("--http", action="store_true", help="listen on HTTP")
    http.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    http.add_argument(
        "--port", type=int, default=8000, help="port; 0 takes a free one (%(default)s)"
    )
    http.add_argument("--path", default="/mcp", help="path of the endpoint (%(default)s)")
    return parser


def clock_from(start: str | None) -> Clock:
    """Return the machine's clock, or one that starts at `start` and ticks when read.

    Raises:
        ValueError: `start` is not a time in ISO form.
    """
    if not start:
        return lambda: datetime.now(UTC)
    moment = datetime.fromisoformat(start)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    ticks = iter(range(10**9))
    return lambda: moment + timedelta(seconds=next(ticks))


def run(server: MCPServer[Any], arguments: argparse.Namespace) -> int:
    """Serve until the host hangs up or Ctrl-C; return the exit status."""
    try:
        if arguments.http:
            return _run_http(server, arguments)
        if sys.stdin.isatty():
            _say(server, "waiting for an MCP host on standard input; --help tells more")
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python would wait for a line first
        interrupted = _end_of_input_on_interrupt()
        make_stdin_valid(until=interrupted)
        server.run()
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _end_of_input_on_interrupt() -> int | None:
    """Let SIGINT end the input, as if the host had hung up, and soon after that the process.

    Python's own way cancels the server, which then waits for the thread that waits for the
    next line. Returns a descriptor that can be read from then on; None where there is none.
    """
    if os.name == "nt" or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return None
    told, tell = os.pipe()

    def end(*_: object) -> None:
        os.write(tell, b".")
        latest = threading.Timer(LEAVE_WITHIN_S, os._exit, [INTERRUPTED])
        latest.daemon = True
        latest.start()

    signal.signal(signal.SIGINT, end)
    return told


def _run_http(server: MCPServer[Any], arguments: argparse.Namespace) -> int:
    """Listen first and say where, so that whoever reads that line can connect."""
    import uvicorn  # comes with mcp; slow to import, and stdio does without

    host, port, path = arguments.host, arguments.port, "/" + arguments.path.strip("/")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        _say(server, f"cannot listen on {host} port {port}: {error}. Choose another --port.")
        return 1
    if host not in LOCAL_HOSTS and server.settings.auth is None:
        _say(server, f"WARNING: there is no password; whoever reaches {host} can use this server")
    shown = f"[{host}]" if ":" in host else host
    _say(server, f"listening on http://{shown}:{listener.getsockname()[1]}{path}")
    app = server.streamable_http_app(host=host, streamable_http_path=path)
    uvicorn_server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    anyio.run(lambda: uvicorn_server.serve(sockets=[listener]))
    return 0


def _say(server: MCPServer[Any], text: str) -> None:
    """Tell a person something; standard output belongs to the protocol."""
    sys.stderr.write(f"{server.name}: {text}\n")
    sys.stderr.flush()


def parse(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse, with `clock` turned into a `Clock`; a bad value ends the program with advice."""
    arguments = parser.parse_args(argv)
    try:
        arguments.clock = clock_from(arguments.clock)
    except ValueError:
        parser.error(f"--clock {arguments.clock!r} is not a time such as 2026-01-05T09:00:00Z")
    return arguments
