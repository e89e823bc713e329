"""One conversation: its messages, its trace, and how full its window is.

    session.ask("...") ──▶ run_turn ──▶ answer
        messages, trace and monitor grow by one turn

A session lives in memory; nothing of it is written unless its trace has a file.

Read after: loop.py, monitor.py.     Read next: viz/window_bar.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentkit import events
from agentkit.clock import Clock, SystemClock
from agentkit.context import SYSTEM_PROMPT, Frame
from agentkit.errors import AgentkitError, MessageError
from agentkit.guard import Limits
from agentkit.loop import Agent, Tools, Turn, run_turn
from agentkit.memory.brought import Remembering
from agentkit.messages import Message, faults, mend
from agentkit.models import Model, load_model
from agentkit.monitor import Monitor
from agentkit.tokens import Counter, context_window
from agentkit.tools import Consent
from agentkit.trace import Trace
from agentkit.window import Packed, Section, pack

if TYPE_CHECKING:  # with its index of old rounds, which a session without it does not need
    from agentkit.memory.short import ShortTermMemory
    from agentkit.summary import Summary

MOST_RESERVE = 1_024  # tokens kept for an answer: about a page
RESERVE_SHARE = 8  # of a small window, an eighth


class Session:
    """A conversation between a user and an agent.

    Args:
        model: Who answers; by default what `AGENTKIT_MODEL` says, else the reader.
        host: Where tools come from, if any.
        system: The system prompt.
        pinned: Constraints that must be in every window, word for word.
        budget: Tokens of the window; by default the model's own.
        reserve: Tokens kept for the answer; by default an eighth, at most 1,024.
        limits: When a turn has called enough tools.
        consent: Asked before a destructive call; without it there is none.
        history: Messages to go on from; system messages among them are left out. What no
            model would accept is mended, and the trace says so.
        clock: Gives time and ids.
        trace: Gets the events; by default one in memory.
        memory: Recalled from at the start of a turn and beside tool results, and written
            to at its end, e.g. `TenantMemory(store, tenant="ada")`. Without it nothing is.
        short: Keeps the last rounds in the window and condenses older ones when there are
            too many. Without it all rounds compete for the window by their value.
        summary_model: Writes the summaries of `short`; without it rules do.

    Attributes:
        messages: The history, sound at any time.
        turns: What came of each message.
        trace: The events.
        monitor: The window, turn by turn.

    Raises:
        UnknownModelError: No `budget` was given and the model's window is unknown.
    """

    def __init__(
        self,
        *,
        model: Model | None = None,
        host: Tools | None = None,
        system: str = SYSTEM_PROMPT,
        pinned: Sequence[str] = (),
        budget: int | None = None,
        reserve: int | None = None,
        limits: Limits | None = None,
        consent: Consent | None = None,
        history: Sequence[Message] = (),
        clock: Clock | None = None,
        trace: Trace | None = None,
        memory: Remembering | None = None,
        short: ShortTermMemory | None = None,
        summary_model: Model | None = None,
    ) -> None:
        clock = clock or SystemClock()
        model = model or load_model()
        window = context_window(model.name) if budget is None else budget
        room = min(MOST_RESERVE, window // RESERVE_SHARE) if reserve is None else reserve
        self.monitor = Monitor(window=window, reserve=room)
        counter = Counter.for_model(model.name, unknown_ok=True)
        rules = (pinned,) if isinstance(pinned, str) else tuple(pinned)  # one text is one rule
        frame = Frame(window, room, counter, system, rules)
        self.agent = Agent(model, frame, host, limits or Limits(), consent, clock, memory)
        self.trace = trace if trace is not None else Trace(clock=clock)
        self.short, self._summary_model = short, summary_model
        self.messages: list[Message] = self._sound(history)
        if short is not None and not short.messages:  # one that was loaded has them already
            short.append(self.messages)
        self.turns: list[Turn] = []
        self._busy = asyncio.Lock()

    async def ask(self, text: str) -> str:
        """Say something and return the answer.

        Raises:
            MessageError: The text is empty, or the session is still busy with another.
            BudgetError: What must stay does not fit the window.
            ModelError: The model cannot be reached or answers what cannot be read.

        After an error the session can go on: what the turn did is in `messages`.
        """
        if self._busy.locked():
            raise MessageError(
                "The session is still answering another message.",
                hint="Await one answer before the next question, or open a second session.",
            )
        live: list[Message] = []
        async with self._busy:
            try:
                turn = await run_turn(
                    text,
                    self.agent,
                    history=self.messages if self.short is None else self.short.messages,
                    trace=self.trace,
                    live=live,
                    besides=[] if self.short is None else self.short.sections(),
                )
            except BaseException:  # interrupted, or a fault: keep what was done until then
                self._grow(mend(live) if len(live) > 1 else ())
                raise
            self.turns.append(turn)
            self._keep(turn)
            await self._condense(turn.id)
        if turn.error is not None:
            raise turn.error
        return turn.answer

    @property
    def packed(self) -> Packed | None:
        """What the model read last, or None before the first turn."""
        read = [packed for turn in self.turns for packed in turn.packed]
        return read[-1] if read else None

    def _keep(self, turn: Turn) -> None:
        """Add a turn to the history; of one that failed, only what it did."""
        if turn.packed:
            usage = turn.said[-1].usage if turn.said else None
            self.monitor.record(turn.packed[-1], usage=usage)
        did = turn.error is None or len(turn.messages) > 1
        self._grow(mend(turn.messages) if did else ())

    def _grow(self, messages: Sequence[Message]) -> None:
        """Add messages to the history, and to the rounds of the window."""
        self.messages.extend(messages)
        if self.short is not None:
            self.short.append(messages)

    async def _condense(self, turn: str) -> None:
        """Let old rounds leave the window when there are too many; never otherwise."""
        if self.short is None or not self.short.overflow():
            return
        done = self.short.condense(await self._summary(self.short))
        if done is not None:
            self.trace.append(done, turn=turn)

    async def _summary(self, short: ShortTermMemory) -> Summary | None:
        """Return the summary that a model writes; None where rules have to."""
        if self._summary_model is None or short.strategy == "truncate":
            return None
        from agentkit.memory.model_summary import read, request

        left, frame = short.overflow(), self.agent.frame
        earlier = short.summary if short.summary.text else None
        instruction, talk = request(left, earlier=earlier)
        sections = [
            Section("system", instruction.text, role="system", rank=0),
            Section("question", role="question", rank=0, messages=(talk,)),
        ]
        try:
            asked = pack(sections, budget=frame.budget, count=frame.counter, reserve=frame.reserve)
            said = await self._summary_model.complete(asked, ())
        except AgentkitError:  # too long for it, or it cannot be reached: rules can do it
            return None
        return read(
            said.text, left, count=short.count, budget=short.summary_budget, earlier=earlier
        )

    def _sound(self, history: Sequence[Message]) -> list[Message]:
        """Return the history as a model accepts it, and note what had to be mended."""
        for at, message in enumerate(history):
            if not isinstance(message, Message):
                raise MessageError(
                    f"Entry {at} of the history is a {type(message).__name__}, not a Message.",
                    hint="Read messages of other programs with agentkit.wire.from_openai or "
                    "from_anthropic, or a file with agentkit.transcript.",
                )
        for fault in faults(history):
            if fault.kind == "unread arguments":  # the model's own words; they stay
                continue
            self.trace.append(events.Mended(fault.kind, fault.call_id), turn="")
        return [message for message in mend(history) if message.role != "system"]

    def pin(self, text: str) -> None:
        """Pin a constraint from the next turn on."""
        frame = self.agent.frame
        self.agent = replace(self.agent, frame=replace(frame, pinned=(*frame.pinned, text)))
