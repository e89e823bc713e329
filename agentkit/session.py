"""One conversation: its messages, its trace, and how full its window is.

    session.ask("...") ──▶ run_turn ──▶ answer
        messages, trace and monitor grow by one turn; then, as the monitor advises:
            compress      older rounds become a summary      if `compress=True`
            new_session   `session.new_session()` begins with `session.handover`

What does not fit the window is left out by value, whoever acts and whether anyone does.
A session lives in memory; nothing of it is written unless its trace has a file.

What `memory` forgets at the user's word is erased here too, sentence by sentence: in the
messages, the rounds and the trace with its file; a pinned text that says it is pinned no
more. Not erased are a paraphrase, copies that somebody saved, what a memory server's own
`forget` tool removed, and `turns`, which hold what was read then for as long as the process
lives.

Read after: loop.py, past.py.     Read next: viz/window_bar.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentkit import events
from agentkit.clock import Clock, SystemClock
from agentkit.compress import Compression, as_message, from_message, is_summary
from agentkit.context import SYSTEM_PROMPT, Frame
from agentkit.errors import BudgetError, MessageError, ModelError
from agentkit.guard import Limits
from agentkit.loop import Agent, Tools, Turn, run_turn
from agentkit.memory.brought import Remembering
from agentkit.messages import Message, faults, mend
from agentkit.models import Model, load_model
from agentkit.monitor import Monitor
from agentkit.past import Past
from agentkit.snapshot import percent
from agentkit.summary import Summary
from agentkit.tokens import Counter, context_window
from agentkit.tools import Consent
from agentkit.trace import Trace
from agentkit.value import Rules, Valuer, load_rules
from agentkit.value_model import ModelValues
from agentkit.window import Packed

if TYPE_CHECKING:  # with its index of old rounds, which a session without it does not need
    from agentkit.memory.short import ShortTermMemory

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
        history: Messages to go on from, e.g. those of a saved session; system messages among
            them are left out. What no model would accept is mended, and the trace says so.
        clock: Gives time and ids.
        trace: Gets the events; by default one in memory.
        memory: Recalled from at the start of a turn and beside tool results, and written
            to at its end, e.g. `TenantMemory(store, tenant="ada")`. Without it nothing is.
        short: Keeps the last rounds in the window and condenses older ones when there are
            too many. Without it all rounds compete for the window by their value.
        summary_model: Writes the summaries of `short`; without it rules do.
        compress: From 75 % of the window on, replace older rounds by a summary, so that
            the window is half full; the trace keeps the rounds. Where the newest round is too
            long for that it is refused, and tried again when that has become old. By default
            nothing is replaced: what is worth least is left out of a full window, turn by
            turn. `short` does its own, so the two exclude each other.
        values: Says what messages are worth when not all of them fit: other rules
            (`load_rules(path)`), a model (`ModelValues(model)`), or a function.
        handover: The summary that a session before this one left; it stands before the
            history.

    Attributes:
        messages: The history, sound at any time. Since a compression it begins with the
            summary; with `short` it stays whole.
        turns: What came of each message.
        trace: The events.
        monitor: The window, turn by turn.

    Raises:
        UnknownModelError: No `budget` was given and the model's window is unknown.
        BudgetError: `compress` and `short` were given.
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
        compress: bool = False,
        values: Valuer | None = None,
        handover: Summary | None = None,
    ) -> None:
        if compress and short is not None:
            raise BudgetError(
                "Both `compress` and `short` would make the history shorter.",
                hint="Give one: ShortTermMemory(budget=...) condenses from so many tokens on.",
            )
        clock = clock or SystemClock()
        if isinstance(model, str):
            raise ModelError(
                f"{model!r:.60} is the name of a model, and no model.",
                hint=f"Write Session(model=load_model({model!r:.60})).",
            )
        model = model or load_model()
        window = context_window(model.name) if budget is None else budget
        room = min(MOST_RESERVE, window // RESERVE_SHARE) if reserve is None else reserve
        counter = Counter.for_model(model.name, unknown_ok=True)
        texts = (pinned,) if isinstance(pinned, str) else tuple(pinned)  # one text is one rule
        for text in texts:
            if not isinstance(text, str):
                raise MessageError(f"{text!r:.60} cannot be pinned.", hint="Pin texts.")
        frame = Frame(window, room, counter, system, texts, values or load_rules())
        self.agent = Agent(model, frame, host, limits or Limits(), consent, clock, memory)
        self.trace = trace if trace is not None else Trace(clock=clock)
        messages = self._sound(history)
        if handover is None and messages and is_summary(messages[0]):
            handover = from_message(messages.pop(0), count=counter)
        earlier = handover if handover is not None and handover.text else None
        self.monitor = Monitor(
            window=window, reserve=room, model=model.name, rules=_rules_of(values), earlier=earlier
        )
        if short is not None and not short.messages:  # one that was loaded has them already
            short.append(messages)
            short.summary = earlier or short.summary
        self._past = Past(
            messages if earlier is None else [as_message(earlier), *messages],
            frame=frame,
            monitor=self.monitor,
            trace=self.trace,
            short=short,
            summary_model=summary_model,
            compresses=compress,
        )
        self.turns: list[Turn] = []
        self._busy = asyncio.Lock()

    def __repr__(self) -> str:
        """Return the model, the turns and how full the window was, on one line."""
        model, packed = self.agent.model.name, self.packed
        turns = "1 turn" if len(self.turns) == 1 else f"{len(self.turns)} turns"
        if packed is None:
            return f"Session({model}, {turns})"
        share = percent(packed.tokens, packed.usable)
        return f"Session({model}, {turns}, {packed.tokens:,} of {packed.usable:,} tokens, {share})"

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
                await self._past.learn(self.agent.frame.values)
                history, besides, gone = self._past.read()
                self._past.tell(self.agent.memory)
                turn = await run_turn(
                    text,
                    self.agent,
                    history=history,
                    trace=self.trace,
                    live=live,
                    besides=besides,
                    gone=gone,
                )
            except BaseException:  # interrupted, or a fault: keep what was done until then
                self._past.grow(mend(live) if len(live) > 1 else ())
                raise
            self.turns.append(turn)
            self._keep(turn)
            self._erase(turn.id)
            await self._past.condense(turn.id)
            self._past.act(turn.id)
        if turn.error is not None:
            raise turn.error
        return turn.answer

    @property
    def packed(self) -> Packed | None:
        """What the model read last, or None before the first turn."""
        read = (turn.packed[-1] for turn in reversed(self.turns) if turn.packed)
        return next(read, None)

    @property
    def messages(self) -> list[Message]:
        """The history; since a compression it begins with the summary."""
        return self._past.messages

    @property
    def short(self) -> ShortTermMemory | None:
        """What keeps the rounds of the window, if anything does."""
        return self._past.short

    @property
    def handover(self) -> Summary:
        """What a next session should begin with, as of now."""
        return self._past.handover

    def compress(self) -> Compression:
        """Make the history shorter now, whatever the monitor advises, or say why not.

        Raises:
            BudgetError: The session has a `short`, which does that.
        """
        return self._past.compress()

    def new_session(
        self, *, trace: Trace | None = None, short: ShortTermMemory | None = None
    ) -> Session:
        """Return a session that begins with the hand-over; the rest is as in this one.

        Args:
            trace: Of the new one; by default in memory.
            short: Of the new one; what is pinned in the old one's stays pinned.
        """
        agent, frame = self.agent, self.agent.frame
        return Session(
            model=agent.model,
            host=agent.host,
            system=frame.system,
            pinned=(*frame.pinned, *(self.short.pinned if self.short is not None else ())),
            budget=frame.budget,
            reserve=frame.reserve,
            limits=agent.limits,
            consent=agent.consent,
            clock=agent.clock,
            trace=trace,
            memory=agent.memory,
            short=short,
            summary_model=self._past.summary_model,
            compress=self._past.compresses and short is None,
            values=frame.values,
            handover=self.handover,
        )

    def _keep(self, turn: Turn) -> None:
        """Add a turn to the history; of one that failed, only what it did."""
        if turn.packed:
            answered = len(turn.said) == len(turn.packed)  # else the last call failed
            reported = [said.usage for said in turn.said]
            usage = reported.pop() if answered else None
            before = [each for each in reported if each is not None]
            self.monitor.record(turn.packed[-1], usage=usage, before=before)
        did = turn.error is None or len(turn.messages) > 1
        self._past.grow(mend(turn.messages) if did else ())

    def _erase(self, turn: str) -> None:
        """Take what memory has forgotten out of the conversation, and let go pins that say it."""
        erasure = self._past.erase(self.agent.memory, turn)
        if erasure is None:
            return
        frame = self.agent.frame
        pinned = tuple(text for text in frame.pinned if erasure.text(text) == text)
        self.agent = replace(self.agent, frame=replace(frame, pinned=pinned))

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


def _rules_of(values: Valuer | None) -> Rules | None:
    """Return the rules that say what is worth a sentence in a summary, if they are others."""
    if isinstance(values, ModelValues):
        return values.rules
    return values if isinstance(values, Rules) else None
