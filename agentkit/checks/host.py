"""What a host must do: `CHECKS` for one server, `FULL_CHECKS` for one that stays up.

    make({"mcpServers": {...}}, timeout_s=…) ──▶ a host
        await host.open()         host.tools()     ToolSpec, qualified: small.repeat
        await host.close()        await host.call(ToolCall) ──▶ ToolResult

Each check starts `small_server.py` as a real program, which takes a tenth of a second.
They await, so run them with `await run_checks_async(McpHost, CHECKS)`.

Read after: checks/__init__.py, small_server.py, host/.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from agentkit.checks import expect, expect_equal, foresee_each, kind_of
from agentkit.errors import (
    AgentkitError,
    ArgumentError,
    CheckFailed,
    ServerGoneError,
    ServerTimeoutError,
    UnknownToolError,
)
from agentkit.messages import ToolCall, ToolResult

MakeHost = Callable[..., Any]
Answer = TypeVar("Answer")

SERVER = Path(__file__).with_name("small_server.py")
LIMIT_S = 20.0  # for whatever must happen; it takes a fraction of a second
SHORT_S = 0.3  # the time limit of a host whose server never answers
PATIENCE_S = 6.0  # how long a check waits for a host to keep that limit


def small_server(*options: str) -> dict[str, Any]:
    """Return how `small_server.py` is started, as an entry of `mcpServers`."""
    return {"command": sys.executable, "args": [str(SERVER), *options]}


async def within(limit_s: float, waiting: Awaitable[Answer], what: str) -> Answer:
    """Return what is awaited; raise CheckFailed when it does not come."""
    try:
        async with asyncio.timeout(limit_s):
            return await waiting
    except TimeoutError:
        raise CheckFailed(f"{what} took longer than {limit_s:g} s.", hint="") from None


@asynccontextmanager
async def opened(
    make: MakeHost, *, timeout_s: float = LIMIT_S, **servers: Mapping[str, Any]
) -> AsyncIterator[Any]:
    """Open a host of `small` or of the servers that are given, and close it again."""
    host = make({"mcpServers": servers or {"small": small_server()}}, timeout_s=timeout_s)
    await _in_a_task(host.open(), "open()")
    try:
        yield host
    finally:
        # two checks look at closing; the others go on
        with suppress(CheckFailed, RuntimeError, BaseExceptionGroup):
            await _in_a_task(host.close(), "close()")


async def _in_a_task(doing: Awaitable[Any], what: str, *, limit_s: float = LIMIT_S) -> Any:
    """Await in a task of its own, as a cell of a notebook does."""

    async def cell() -> Any:
        return await doing

    return await within(limit_s, asyncio.create_task(cell()), what)


async def say_to(host: Any, name: str, **arguments: Any) -> ToolResult:
    """Call one tool, in a task of its own."""
    limit_s = PATIENCE_S if name == "small.never" else LIMIT_S
    call = ToolCall("c1", name, arguments)
    result: ToolResult = await _in_a_task(host.call(call), name, limit_s=limit_s)
    return result


async def _refusal(
    kind: type[AgentkitError], host: Any, name: str, what: str, **arguments: Any
) -> str:
    """Return what an error of this kind says; a result that is an error counts too."""
    try:
        result = await say_to(host, name, **arguments)
    except kind as error:
        return str(error)
    except (CheckFailed, NotImplementedError):
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise CheckFailed(f"{what} raised {said}", hint=f"Raise {kind.__name__}.") from error
    expect(result.is_error, f"{what} went through: {result.text[:80]!r}.")
    return result.text


async def names_are_qualified(make: MakeHost) -> None:
    """Each tool is listed under its server: small.repeat, small.pid, …"""
    async with opened(make) as host:
        names = [tool.name for tool in host.tools()]
    expect_equal(names[:3], ["small.repeat", "small.pid", "small.calls"], "the first three names")


async def the_schema_comes_along(make: MakeHost) -> None:
    """A tool has the description and the schema that its server gave it."""
    async with opened(make) as host:
        repeat = host.tools()[0]
    expect_equal(repeat.description, "Say a text several times.", "the description")
    expect_equal(sorted(repeat.schema.get("required", ())), ["text", "times"], "required arguments")


async def a_call_comes_back(make: MakeHost) -> None:
    """A call is answered with its own id, and 你好 survives the way."""
    async with opened(make) as host:
        result = await say_to(host, "small.repeat", text="你好 ", times=2)
    expect_equal(result.text, "你好 你好 ", "the text of small.repeat")
    expect_equal(result.call_id, "c1", "the id of the call that is answered")


async def any_cell_may_close_it(make: MakeHost) -> None:
    """Opened by one task, used by a second, closed by a third: no error."""
    host = make({"mcpServers": {"small": small_server()}}, timeout_s=LIMIT_S)
    await _in_a_task(host.open(), "open()")
    await say_to(host, "small.pid")
    try:
        await _in_a_task(host.close(), "close()")
    except (RuntimeError, BaseExceptionGroup) as error:
        raise CheckFailed(
            f"closing from another task raised {type(error).__name__}: {error}",
            hint="Let one task both enter and leave the connection; others only ask it.",
        ) from error


async def closing_leaves_no_process(make: MakeHost) -> None:
    """After close() the server's process has ended."""
    async with opened(make) as host:
        pid = int((await say_to(host, "small.pid")).text)
    alive = _still_running(pid)
    hint = "Wait until the task that owns it has ended."
    expect(not alive, "the server still runs after close().", hint=hint)


def _still_running(*pids: int) -> list[int]:
    """Return which of some processes have not ended, and end those."""
    import psutil  # type: ignore[import-untyped]  # comes with Jupyter's kernel

    alive = psutil.wait_procs([psutil.Process(p) for p in pids if psutil.pid_exists(p)], 0)[1]
    for process in alive:
        process.kill()
    return [process.pid for process in alive]


async def a_wrong_argument_is_not_sent(make: MakeHost) -> None:
    """Text where a number must be is refused by name, and the server never sees it."""
    async with opened(make) as host:
        text = await _refusal(
            ArgumentError, host, "small.repeat", "a wrong argument", text="hi", times="often"
        )
        expect("times" in text, f"the error does not name the argument `times`: {text!r}.")
        came = (await say_to(host, "small.calls")).text
    expect_equal(came, "0", "calls that reached the server", hint="Check before you send.")


async def an_unknown_tool_is_told_the_names(make: MakeHost) -> None:
    """A tool that is not there is refused with the names of those that are."""
    async with opened(make) as host:
        text = await _refusal(UnknownToolError, host, "small.repeet", "an unknown tool", text="hi")
    expect("small.repeat" in text, f"the error does not name small.repeat: {text!r}.")


async def a_dead_server_is_noticed(make: MakeHost) -> None:
    """When the server dies in mid-call, the call ends with an error that names it."""
    async with opened(make) as host:
        text = await _refusal(
            ServerGoneError, host, "small.die_writing", "a call whose server died"
        )
    expect("small" in text, f"the error does not name the server: {text!r}.")


async def silence_has_a_limit(make: MakeHost) -> None:
    """A server that never answers costs the time limit of the host, and no more."""
    async with opened(make, timeout_s=SHORT_S) as host:
        text = await _refusal(
            ServerTimeoutError, host, "small.never", "a call that is never answered"
        )
    expect("small" in text, f"the error does not name the server: {text!r}.")


CHECKS = (
    names_are_qualified,
    the_schema_comes_along,
    a_call_comes_back,
    any_cell_may_close_it,
    closing_leaves_no_process,
    a_wrong_argument_is_not_sent,
    an_unknown_tool_is_told_the_names,
    a_dead_server_is_noticed,
    silence_has_a_limit,
)


async def a_dead_server_is_started_again(make: MakeHost) -> None:
    """After its server died, the host starts it anew, and the next call works."""
    async with opened(make) as host:
        await _refusal(ServerGoneError, host, "small.die_writing", "a call whose server died")
        try:
            result = await say_to(host, "small.repeat", text="back", times=1)
        except AgentkitError as error:
            raise CheckFailed(f"the call after that failed: {error.what}", hint="") from error
    expect_equal(result.text, "back", "the text of small.repeat")


async def only_what_is_harmless_is_sent_twice(make: MakeHost) -> None:
    """A call that was lost is repeated if it only reads or can be repeated, else not."""
    expect_equal(await times_sent(make), [2, 1, 2], "times sent: reading, writing, idempotent")


async def times_sent(make: MakeHost) -> list[int]:
    """Return how often each deadly call reaches a server: reading, writing, idempotent."""
    names = ["die_reading", "die_writing", "die_setting"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "calls.log"
        async with opened(make, small=small_server("--log", str(log))) as host:
            for name in sorted(names):  # the one that writes comes last
                await _refusal(ServerGoneError, host, f"small.{name}", "a call whose server died")
        came = log.read_text(encoding="utf-8").split()
    return [came.count(name) for name in names]


async def a_server_that_prints_is_understood(make: MakeHost) -> None:
    """A line that is no message, among the messages, costs nothing."""
    async with opened(make, small=small_server("--prints")) as host:
        result = await say_to(host, "small.repeat", text="hi", times=1)
    expect_equal(result.text, "hi", "the text of small.repeat")


async def several_servers_stay_apart(make: MakeHost) -> None:
    """Two servers of one configuration: each call reaches the one that it names."""
    async with opened(make, left=small_server(), right=small_server()) as host:
        names = {tool.name for tool in host.tools()}
        expect({"left.pid", "right.pid"} <= names, f"not both are listed: {sorted(names)}.")
        await say_to(host, "left.repeat", text="x", times=1)
        came = [(await say_to(host, f"{name}.calls")).text for name in ("left", "right")]
    expect_equal(came, ["1", "0"], "calls that reached left and right")


async def one_death_is_not_all(make: MakeHost) -> None:
    """When one of two servers dies, the other still answers."""
    async with opened(make, left=small_server(), right=small_server()) as host:
        await _refusal(ServerGoneError, host, "left.die_writing", "a call whose server died")
        result = await say_to(host, "right.repeat", text="here", times=1)
    expect_equal(result.text, "here", "the text of right.repeat")


async def closing_ends_them_all(make: MakeHost) -> None:
    """After close() none of two servers still runs."""
    async with opened(make, left=small_server(), right=small_server()) as host:
        pids = [int((await say_to(host, f"{name}.pid")).text) for name in ("left", "right")]
    alive = _still_running(*pids)
    hint = "close() has to close each of them, and to wait for it."
    expect(not alive, f"{len(alive)} of 2 servers still run after close().", hint=hint)


SEVERAL_CHECKS = (several_servers_stay_apart, one_death_is_not_all, closing_ends_them_all)
FULL_CHECKS = (
    *CHECKS,
    a_dead_server_is_started_again,
    only_what_is_harmless_is_sent_twice,
    a_server_that_prints_is_understood,
    *SEVERAL_CHECKS,
)


async def the_repeats_are_foreseen(guess: list[int] | None) -> None:
    """You say how often McpHost sends a call whose server dies: reading, writing, idempotent."""
    if guess is None:
        raise NotImplementedError
    from agentkit.host import McpHost

    wanted = await times_sent(McpHost)
    hint = "When is it harmless to ask twice, if nobody knows what became of the first?"
    foresee_each(guess, wanted, ["reading", "writing", "idempotent"], hint=hint)


async def opening_never_ends(attempt: tuple[MakeHost, Mapping[str, Any] | None]) -> None:
    """With your entry in `mcpServers`, open() neither returns nor fails within 3 seconds."""
    make, entry = attempt
    if entry is None:
        raise NotImplementedError
    expect(
        isinstance(entry, Mapping) and "command" in entry,
        f"expected an entry with a `command`, got {kind_of(entry)}.",
        hint='Write {"command": sys.executable, "args": [...]}.',
    )
    host = make({"mcpServers": {"broken": dict(entry)}})
    before = asyncio.all_tasks()
    opening = asyncio.create_task(host.open())
    await asyncio.wait([opening], timeout=3.0)
    ended = opening.done()
    begun = asyncio.all_tasks() - before
    for task in begun:
        task.cancel()
    await asyncio.wait([opening, *begun], timeout=LIMIT_S)
    if opening.done() and not opening.cancelled():
        opening.exception()  # it was heard
    expect(not ended, "open() came back.", hint="Which program runs, but never says a word?")


PREDICT_CHECKS = (the_repeats_are_foreseen,)
BREAK_CHECKS = (opening_never_ends,)
