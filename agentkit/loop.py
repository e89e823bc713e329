"""One user message in, one answer out.

    text ─▶ recall ─▶ pack ─▶ model ─┬─▶ answer ─▶ write
                       ▲             │
                       │         tool calls ─▶ host ─▶ slim
                       └───── results, recall ◀──────────┘      until the guard says stop

Whatever goes wrong on the way (a wrong argument, a dead server, a tool that needs
consent) goes back to the model as a short error it can act on. What the loop cannot
mend ends the turn with an error, and the conversation goes on.

Read after: context.py, guard.py, slim.py, models/__init__.py.     Read next: session.py.
Built in:   notebooks/06_the_loop.ipynb
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from agentkit import events
from agentkit.clock import Clock, SystemClock
from agentkit.compress import typed
from agentkit.context import Frame, as_event, lay_out
from agentkit.errors import (
    AgentkitError,
    HostError,
    MessageError,
    ModelError,
    ServerGoneError,
)
from agentkit.guard import Limits, Step, verdict
from agentkit.memory.brought import DONE, Brought, Remembering
from agentkit.messages import (
    Message,
    ModelSaid,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
    tool,
    user,
)
from agentkit.models import Model
from agentkit.models.reasons import in_chinese
from agentkit.slim import MAX_RESULT, slim
from agentkit.text import HAN, clean_json, clean_text
from agentkit.tools import Consent, ToolSpec, ask_consent, check_call, find_tool, relevant
from agentkit.trace import Trace
from agentkit.window import Packed, Section, pack

RESULTS_SHARE = 0.5  # of what is usable, for all tool results of a turn together
WIDE_SHARE = 0.15  # of what is usable, for what primes a turn: twenty sentences of a small window
NARROW_SHARE = 0.05  # for what stands beside the results of one round of calls: six sentences
STOPPED = ("I stopped calling tools: {}.", "我停止了调用工具：{}。")  # English, Chinese
INTERRUPTED = "The turn was interrupted before there was an answer."


class Tools(Protocol):
    """Anything that has tools: a host with servers, or a few functions."""

    def tools(self) -> list[ToolSpec]:
        """Return the tools, also those that are not available now."""

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        """Call one tool.

        Raises:
            AgentkitError: The call could not be made or did not come back.
        """


@dataclass(frozen=True, slots=True)
class Agent:
    """What takes part in a turn.

    Attributes:
        model: Who answers.
        frame: The window and what stays in it.
        host: Where tools come from, if any.
        limits: When a turn has called enough tools.
        consent: Asked before a destructive call.
        clock: Gives time and ids.
        memory: What is recalled and written in a turn, if anything is.
    """

    model: Model
    frame: Frame
    host: Tools | None = None
    limits: Limits = field(default_factory=Limits)
    consent: Consent | None = None
    clock: Clock = field(default_factory=SystemClock)
    memory: Remembering | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What came of one user message.

    Attributes:
        id: E.g. "t3"; the events of the turn carry it.
        answer: What the model said in the end; empty when the turn failed.
        messages: What the turn adds to the history, the user's message first.
        packed: What the model read, one a model call.
        said: What it answered, one a model call.
        stopped: Why the guard ended the tool calls, if it did.
        error: What ended the turn without an answer, if anything did.
    """

    id: str
    answer: str
    messages: tuple[Message, ...]
    packed: tuple[Packed, ...] = ()
    said: tuple[ModelSaid, ...] = ()
    stopped: str | None = None
    error: AgentkitError | None = None


async def run_turn(
    text: str,
    agent: Agent,
    *,
    history: Sequence[Message] = (),
    trace: Trace | None = None,
    live: list[Message] | None = None,
    besides: Sequence[Section] = (),
    gone: int = 0,
) -> Turn:
    """Run one turn to its answer.

    Args:
        text: What the user says.
        agent: Who takes part.
        history: The rounds before, sound (see `messages.mend`).
        trace: Gets one event a step.
        live: Gets each message of the turn as it happens, so that a turn which is
            interrupted leaves behind what it did.
        besides: What stands before the history, e.g. a summary of what left it.
        gone: Rounds that have left the history, for the numbers of those that stay.

    Returns:
        The turn. One that failed has an `error` and keeps what it did until then: a
        tool that was called stays called.

    Raises:
        MessageError: The text is empty, or none. Nothing has happened then.
    """
    if not isinstance(text, str):
        raise MessageError(f"The message is {text!r:.60}.", hint="Say in words what to do.")
    said_by_user = typed(clean_text(text))
    if not said_by_user.strip():
        raise MessageError("The message is empty.", hint="Say what the agent should do.")
    running = _Running(
        agent,
        list(history),
        trace if trace is not None else Trace(clock=agent.clock),
        live if live is not None else [],
        besides,
        gone,
    )
    return await running.run(said_by_user)


class _Running:
    """The state of one turn while it runs."""

    def __init__(
        self,
        agent: Agent,
        history: list[Message],
        trace: Trace,
        live: list[Message],
        besides: Sequence[Section],
        gone: int,
    ) -> None:
        self.agent = agent
        self.history = history
        self.trace = trace
        self.id = agent.clock.new_id("t")
        self.live = live
        self.packed: list[Packed] = []
        self.said: list[ModelSaid] = []
        self.steps: list[Step] = []
        self.stopped: str | None = None
        self.besides = tuple(besides)
        self.gone = gone
        self.recalled: list[Section] = []
        self.down: set[str] = set()  # servers that were waited for in vain
        self.ids = {call.id for message in history for call in message.tool_calls}

    async def run(self, text: str) -> Turn:
        self.live.append(user(text))
        self._note(events.UserSaid(text))
        try:
            await self._recall_wide(text)
            answer = await self._until_answer(text)
        except AgentkitError as error:
            self._note(events.Failed(error.what, error.hint))
            return self._turn("", error)
        except asyncio.CancelledError:
            self._note(events.Failed(INTERRUPTED, "Ask again when you are ready."))
            raise
        self.live.append(assistant(answer))
        self._note(events.Answered(answer))
        await self._write()
        return self._turn(answer, None)

    async def _recall_wide(self, text: str) -> None:
        """Prime the turn with what memory knows of it."""
        memory, frame = self.agent.memory, self.agent.frame
        if memory is not None:
            budget = int(frame.usable * WIDE_SHARE)
            brought = await asyncio.to_thread(memory.wide, text, budget=budget, count=frame.counter)
            self._take("recalled", brought)

    async def _recall_narrow(self, call: ToolCall, result: ToolResult, calls: int) -> None:
        """Ask memory what belongs beside a result."""
        memory, frame = self.agent.memory, self.agent.frame
        if memory is not None:
            budget = int(frame.usable * NARROW_SHARE / calls)
            brought = await asyncio.to_thread(
                memory.narrow, call, result, budget=budget, count=frame.counter
            )
            self._take(f"recalled beside {result.name} ({len(self.recalled) + 1})", brought)

    def _take(self, name: str, brought: Brought) -> None:
        """Note a recall; what it brought stays in the window until the turn is over."""
        for event in brought.did:
            self._note(event)
        if brought.told:  # rank 0: the model must not answer as if it had not happened
            self.recalled.append(Section(DONE, brought.told, role="memory", rank=0))
        self._note(brought.event)
        if brought.text:
            self.recalled.append(Section(name, brought.text, role="memory", rank=1))

    async def _write(self) -> None:
        """Let memory keep of the turn what deserves it."""
        memory, system = self.agent.memory, self.agent.frame.system
        if memory is not None:
            for event in await asyncio.to_thread(memory.write, tuple(self.live), system=system):
                self._note(event)

    async def _until_answer(self, text: str) -> str:
        """Call the model, and the tools it asks for, until it answers."""
        while True:
            tools = self._tools(text)
            said = await self._ask_model(tools)
            if not said.tool_calls:
                return said.text
            if self.stopped is not None:  # it was told to answer, and asks again
                return said.text.strip() or _stopped(self.stopped, text)
            self.live.append(said.message())
            calls = len(said.tool_calls)
            self.steps.append([(call, await self._call(call, calls)) for call in said.tool_calls])
            self.stopped = verdict(self.steps, self.agent.limits)
            if self.stopped is not None:
                self._note(events.Stopped(self.stopped))

    def _tools(self, text: str) -> list[ToolSpec]:
        """Return what to show; a tool that is not up now but on its way is shown too.

        A model that did not see it would answer as if there were none; a call waits for it.
        """
        if self.agent.host is None or self.stopped is not None:
            return []
        tools = self.agent.host.tools()
        return relevant(text, [replace(t, available=t.available or t.returning) for t in tools])

    async def _ask_model(self, tools: Sequence[ToolSpec]) -> ModelSaid:
        """Pack what the model may read, and let it read.

        Raises:
            BudgetError: What must stay does not fit the window.
            ModelError: The model cannot be reached, or said nothing at all.
        """
        frame = self.agent.frame
        besides = [*self.besides, *self.recalled]
        sections = lay_out(frame, self.history, self.live, tools, besides=besides, gone=self.gone)
        packed = pack(sections, budget=frame.budget, count=frame.counter, reserve=frame.reserve)
        texts = [s for s in packed.kept if s.text]
        new = [s for s in texts if not self.trace.holds(s.name, s.text)]
        self._note(as_event(packed, new=new, tools=tools))
        self.packed.append(packed)
        said = await self._answer(packed, tools)
        self.said.append(said)
        self._note(events.ModelAnswered(said.text, said.tool_calls, said.usage, said.model))
        if not said.text.strip() and not said.tool_calls:
            raise ModelError(
                f"The model {self.agent.model.name} answered with neither text nor a tool call.",
                hint="Ask again; if it stays silent, choose another model.",
            )
        return said

    async def _answer(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        """Return what the model says, if that is what a model may say.

        What the model itself raises passes through: a fault in it is its author's to see.
        """
        model = self.agent.model
        said = await model.complete(packed, tools)
        try:
            return self._made_valid(said)
        except Exception as error:
            raise ModelError(
                f"The model {model.name} answered what is no ModelSaid "
                f"({type(error).__name__}: {error}).",
                hint="Its `complete` must return a ModelSaid, with arguments that are JSON.",
            ) from error

    def _made_valid(self, said: ModelSaid) -> ModelSaid:
        """Return the same in valid Unicode, each call with an id that no other call has.

        What is no ModelSaid raises whatever it may.
        """
        json.dumps([said.text, [dict(call.arguments) for call in said.tool_calls]])
        calls = []
        for call in said.tool_calls:
            call_id = clean_text(call.id)
            while not call_id or call_id in self.ids:
                call_id = self.agent.clock.new_id("c")
            self.ids.add(call_id)
            unread = None if call.unread is None else clean_text(call.unread)
            arguments = clean_json(call.arguments)
            calls.append(ToolCall(call_id, clean_text(call.name), arguments, unread))
        usage = said.usage if isinstance(said.usage, Usage) else None
        return replace(said, text=clean_text(said.text), tool_calls=tuple(calls), usage=usage)

    def _most(self, calls: int) -> int:
        """Return how long a result may be, so that those of all rounds fit the window."""
        share = self.agent.frame.usable * RESULTS_SHARE / self.agent.limits.max_rounds / calls
        return min(MAX_RESULT, int(share))

    async def _call(self, call: ToolCall, calls: int) -> ToolResult:
        """Call one tool and add its result to the live round, whatever comes of it."""
        self._note(events.ToolCalled(call.id, call.name, dict(call.arguments)))
        started = self.agent.clock.elapsed_s()
        result = await self._result(call)
        ms = round((self.agent.clock.elapsed_s() - started) * 1000)
        result = replace(result, call_id=call.id, text=clean_text(result.text))
        self._note(events.ToolReturned(call.id, result.name, result.text, result.is_error, ms))
        fields = self._fields(result.name)
        small = slim(
            result, count=self.agent.frame.counter, budget=self._most(calls), fields=fields
        )
        if small.how != "whole":
            text = small.result.text
            self._note(events.Slimmed(call.id, small.before, small.after, small.how, text))
        self.live.append(tool(small.result))
        await self._recall_narrow(call, result, calls)
        return result

    def _fields(self, name: str) -> Mapping[str, str]:
        """Return what its tool declares that a model needs of a result."""
        tools = [] if self.agent.host is None else self.agent.host.tools()
        return next((tool.fields for tool in tools if tool.name == name), {})

    async def _result(self, call: ToolCall) -> ToolResult:
        """Return what a tool says, or what kept it from being asked."""
        server = ""
        try:
            host = self.agent.host
            tools = [] if host is None else host.tools()
            up = {tool.name for tool in tools if tool.available}
            # one whose server is down is called too: the host may start it once more
            spec = find_tool(call.name, [replace(tool, available=True) for tool in tools])
            server = spec.server
            check_call(call, spec)
            self._check_up(spec, up)
            await ask_consent(call, spec, self.agent.consent)
            assert host is not None, "an empty list holds no tool"
            named = replace(call, name=spec.name)
            return _checked(await host.call(named, timeout_s=self.agent.limits.timeout_s))
        except AgentkitError as error:
            if isinstance(error, HostError) and error.down:
                self.down.add(server)
            text = f"{error.what} {error.hint}".strip()
        except Exception as error:  # noqa: BLE001 - a tool is anybody's code, and may raise anything
            text = f"{call.name} failed: {type(error).__name__}: {error}"
        return ToolResult(call.id, call.name, text, is_error=True)

    def _check_up(self, tool: ToolSpec, up: Collection[str]) -> None:
        """Let a turn wait for a server once: a dozen calls must not wait a dozen times.

        Raises:
            ServerGoneError: It was waited for in this turn, and is not back.
        """
        if tool.server in self.down and tool.name not in up:
            raise ServerGoneError(
                f"{tool.name} was not called: {tool.server} is down and did not come back.",
                hint="Do not call it again in this turn; answer without it.",
                down=True,
            )

    def _note(self, event: events.Event) -> None:
        self.trace.append(event, turn=self.id)

    def _turn(self, answer: str, error: AgentkitError | None) -> Turn:
        return Turn(
            self.id,
            answer,
            tuple(self.live),
            tuple(self.packed),
            tuple(self.said),
            self.stopped,
            error,
        )


def _stopped(reason: str, request: str) -> str:
    """Return what is said in the place of a model that asks for tools it no longer has."""
    if HAN.search(request):
        return STOPPED[1].format(in_chinese(reason))
    return STOPPED[0].format(reason)


def _checked(result: object) -> ToolResult:
    """Return a result that is one.

    Raises:
        TypeError: It is none, or what it holds is not what a result holds.
    """
    if not isinstance(result, ToolResult) or not isinstance(result.text, str):
        raise TypeError("it returned no ToolResult with a text")
    if not (result.data is None or isinstance(result.data, Mapping)):
        raise TypeError("the data of its ToolResult are no mapping")
    return result
