"""Keeps one server up: a background task owns its connection from first to last.

    not mounted ──▶ starting ──▶ ready ──▶ down ──▶ starting ... ──▶ closed
                        └────── failed ─────▲  ▲── given up; the next call tries once more

A connection must be entered and left by the same task, and each cell of a notebook
is a task of its own. So one task owns the connection, and cells only ask it. When the
server dies its stream ends, everyone who waits is told at once, and the owner starts
it again after a pause, a longer one each time, until it gives up.

Read after: life.py.     Read next: asking.py.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentkit.errors import HostError, ServerGoneError, ServerTimeoutError
from agentkit.host.advice import why_not
from agentkit.host.config import ServerConfig
from agentkit.host.connect import Era, quieten, tail
from agentkit.host.life import Life
from agentkit.host.wire import Wire
from agentkit.text import clean_text
from agentkit.tools import ToolSpec

State = Literal["not mounted", "starting", "ready", "down", "closed"]

# A crash that passes is over after these; one that stays is not worth more of the CPU.
RESTART_PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0)
SETTLED_S = 30.0  # a server that stayed up this long gets all its restarts back
STOP_S = 15.0  # the SDK ends a program that does not listen in about 6 s
STDERR_LINES = 12  # what an error shows of a log: a Python traceback of usual depth


@dataclass(frozen=True, slots=True)
class ServerChanged:
    """A server changed its state, or did something that people should know of.

    Attributes:
        server: Its name, e.g. "notes".
        state: "not mounted", "starting", "ready", "down" or "closed".
        reason: Why, in one line; empty when there is nothing to say.
    """

    server: str
    state: State
    reason: str


class ServerLink:
    """The connection to one server, and the task that owns it.

    Args:
        config: How the server is started or reached.
        era: Which generation of the protocol to speak.
        start_timeout_s: How long it may take until the server has listed its tools.
        log: Where a program's standard error goes.
        wires: Who records messages at present.
        announce: Called at each change.
    """

    def __init__(
        self,
        config: ServerConfig,
        *,
        era: Era,
        start_timeout_s: float,
        log: Path,
        wires: Iterable[Wire],
        announce: Callable[[ServerChanged], None],
    ) -> None:
        self.config = config
        self.state: State = "not mounted"
        self.reason = ""
        self.tools: tuple[ToolSpec, ...] = ()
        self._era: Era = era
        self._start_timeout_s = start_timeout_s
        self._log = log
        self._wires = wires
        self._announce = announce
        self._last_words = ""
        self._wanted = False
        self._life: Life | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self.config.name

    async def start(self) -> None:
        """Bring the server up; from now on it is started again when it dies.

        Raises:
            ServerStartError: It did not come up; it is tried once more when it is asked.
        """
        self._wanted = True
        await self.up()

    async def up(self, *, timeout_s: float | None = None) -> Life:
        """Return the present life of the server; wait for its restart, or try one.

        Raises:
            ServerStartError: It did not come up.
            ServerGoneError: It keeps dying, or was closed, or never mounted.
            ServerTimeoutError: It is not up within `timeout_s`.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop and self._loop is not None and self._loop.is_running():
            raise HostError(
                f"{self.name} was opened in another event loop, which still runs.",
                hint="Call the host from the loop that opened it, or make one host a loop.",
            )
        if not self._wanted:
            raise ServerGoneError(
                f"{self.name} is {self.state}.",
                hint=f"Start it first: await host.open(), or await host.mount({self.name!r}).",
            )
        if self._task is None or self._task.done() or self._loop is not loop:
            self._begin(loop)
        if not self._outcome.done():
            await asyncio.wait([self._outcome], timeout=timeout_s)
        if not self._outcome.done():
            raise ServerTimeoutError(
                f"{self.name} is not up after {timeout_s:g} s; it is {self.state}.",
                hint="Try again later, or give it longer with timeout_s.",
                down=True,
            )
        return self._outcome.result()

    async def stop(self, state: State = "closed") -> None:
        """End the server and leave nothing behind; from any task, and as often as you like."""
        task, loop = self._task, self._loop
        self._wanted = False
        try:
            if task is not None and loop is not None and not task.done():
                if loop is asyncio.get_running_loop():
                    await self._end(task)
                elif loop.is_running():
                    ending = asyncio.run_coroutine_threadsafe(self._end(task), loop)
                    await asyncio.wrap_future(ending)
        finally:
            self.tools = ()
            self._to(state)

    def stderr_tail(self, lines: int = STDERR_LINES) -> str:
        """Return the last lines the program wrote to its standard error."""
        text = tail(self._log, lines) or "\n".join(self._last_words.splitlines()[-lines:])
        return clean_text(text)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the task that owns the connection."""
        self._loop = loop
        self._stopping = asyncio.Event()
        self._outcome: asyncio.Future[Life] = loop.create_future()
        self._task = loop.create_task(self._own(), name=f"agentkit server {self.name}")

    async def _end(self, task: asyncio.Task[None]) -> None:
        """Ask the owner to end, and wait until it has."""
        self._stopping.set()
        if self._life is not None and self._life.phase == "ready":
            self._life.end("it was closed by the host")
        elif self._life is None or self._life.phase == "starting":
            task.cancel()
        await asyncio.wait([task], timeout=STOP_S)
        if not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=STOP_S)

    async def _own(self) -> None:
        """Live through the lives of the server until it is stopped or given up."""
        quieten()
        pauses: Iterator[float] | None = None  # a first start that fails is not repeated
        try:
            while not self._stopping.is_set():
                began = asyncio.get_running_loop().time()
                life = await self._live()
                settled = asyncio.get_running_loop().time() - began > SETTLED_S
                if life.was_ready and (pauses is None or life.was_useful or settled):
                    pauses = iter(RESTART_PAUSES_S)
                pause = next(pauses or iter(()), None)
                if self._stopping.is_set():
                    return
                if pause is None:
                    return self._give_up(life)
                self._to("down", f"{life.why}; it is started again")
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._stopping.wait()
        finally:
            self._finish()

    async def _live(self) -> Life:
        """Start the server, and return its life when that is over."""
        self._to("starting")
        self._life = life = Life(
            self.config, wires=self._wires, changed=self._follow, warn=self._warn
        )
        try:
            await life.live(era=self._era, log=self._log, start_timeout_s=self._start_timeout_s)
        finally:
            self._last_words = tail(self._log, 100)
        return life

    def _follow(self, life: Life) -> None:
        """Take over the state of a life that came up, changed its tools, or ended."""
        if life.why:
            self._outcome = asyncio.get_running_loop().create_future()
            if not self._stopping.is_set():
                self._to("down", life.why)
            return
        self.tools = life.tools
        if not self._outcome.done():
            self._outcome.set_result(life)
            self._to("ready", life.printed)

    def _give_up(self, life: Life) -> None:
        """Tell those who wait that the server does not come up."""
        error: HostError
        if life.was_ready:
            error = ServerGoneError(
                f"{self.name} dies again and again: {life.why}.",
                hint="Look at its log: host.stderr_tail. The next call starts it once more.",
                down=True,
            )
        else:
            reason = life.error or ConnectionError(life.why)
            error = why_not(self.config, reason, self.stderr_tail(), printed=life.printed)
        self._fail(error)
        self._to("down", error.what.splitlines()[0])

    def _finish(self) -> None:
        """Leave nobody waiting, whatever ended the owner."""
        self._fail(
            ServerGoneError(f"{self.name} was closed.", hint="Open it again: await host.open().")
        )
        if self.state != "down" and not self._stopping.is_set():
            self._to("closed", "its event loop ended")

    def _fail(self, error: HostError) -> None:
        if not self._outcome.done():
            self._outcome.set_exception(error)
            self._outcome.exception()  # so that nobody has to be there to hear it

    def _warn(self, warning: str) -> None:
        self._announce(ServerChanged(self.name, self.state, warning))

    def _to(self, state: State, reason: str = "") -> None:
        """Change the state, and announce it where it is a new one."""
        if (state, reason) != (self.state, self.reason):
            self.state, self.reason = state, reason
            self._announce(ServerChanged(self.name, state, reason))
