"""What lies behind a conversation, as its model reads it, and how it gets shorter.

    rounds ──read()──▶ the history, what stands before it, and how many rounds have left
       ▲                  ▲
    grow()             act()        a compression, or a summary to hand over
                       condense()   the same by short-term memory, in its own way
                       erase()      what the user had forgotten

Each change is an event in the trace. What does not fit a window although nothing got
shorter is for `pack` to leave out.

Read after: monitor.py, memory/short.py.     Read next: session.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentkit import events
from agentkit.compress import Compression, as_message, is_summary
from agentkit.context import Frame
from agentkit.errors import AgentkitError, BudgetError
from agentkit.memory.brought import Forgetting, Hearing, Remembering
from agentkit.messages import Message, ModelSaid, Usage, rounds
from agentkit.models import Model
from agentkit.monitor import SAVES, Monitor
from agentkit.summary import BUDGET, Summary
from agentkit.trace import Trace
from agentkit.value import Valuer
from agentkit.value_model import ModelValues
from agentkit.window import Section, pack

if TYPE_CHECKING:  # with its index of old rounds, which a session without it does not need
    from agentkit.memory.erase import Erasure
    from agentkit.memory.short import ShortTermMemory

ERASES_BY = ("forgotten", "kept", "orders")  # what a memory says of what it forgot
HEADING = 20  # tokens, at most, that stand above a summary
HANDOVER_SHARE = 4  # of a small window, a quarter; of others, 500 tokens
LEARN_FROM = 0.5  # of what is usable; a history below that is in no danger
LEARN_MESSAGES = 6  # at a time: the last three rounds are safe for being new


class Past:
    """The messages of a session, and what is done with those that are old.

    Args:
        messages: Sound; with a summary of what was before at their beginning, if any.
        frame: The window they have to fit.
        monitor: Says when to act; it knows that summary.
        trace: Gets an event for all that is done.
        short: Keeps the rounds of the window, if anything does.
        summary_model: Writes the summaries of `short`; without it rules do.
        compresses: Act on the advice to compress.

    Attributes:
        messages: The same list for good; it grows, and gets shorter.
        short: As given, like `summary_model` and `compresses`.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        *,
        frame: Frame,
        monitor: Monitor,
        trace: Trace,
        short: ShortTermMemory | None = None,
        summary_model: Model | None = None,
        compresses: bool = False,
    ) -> None:
        self.messages = list(messages)
        self.short, self.summary_model, self.compresses = short, summary_model, compresses
        self._frame, self._monitor, self._trace = frame, monitor, trace
        self._gone = 0
        self._handed_over = False

    def read(self) -> tuple[list[Message], list[Section], int]:
        """Return the rounds that a turn reads, what stands before them, and how many left."""
        if self.short is None:
            return self.messages, [], self._gone
        return self.short.messages, self.short.sections(), len(self.short.archive)

    def grow(self, messages: Sequence[Message]) -> None:
        """Add messages to the history, and to the rounds of the window."""
        self.messages.extend(messages)
        if self.short is not None:
            self.short.append(messages)

    @property
    def handover(self) -> Summary:
        """What a next session should begin with, as of now."""
        most = min(BUDGET, self._frame.usable // HANDOVER_SHARE)
        return self._monitor.hand_over(self.messages, count=self._frame.counter, budget=most)

    def compress(self) -> Compression:
        """Make the history shorter now, whatever the monitor advises, or say why not.

        Raises:
            BudgetError: There is a `short`, which does that.
        """
        if self.short is not None:
            raise BudgetError(
                "The rounds in the window are those of `short`.",
                hint="Give ShortTermMemory a smaller `most` or `budget`; it condenses by itself.",
            )
        counter = self._frame.counter
        done = self._monitor.compress(self.messages, count=counter, again=True)
        if done.done:
            self.messages[:] = done.messages
            self._gone += done.rounds
        return done

    def act(self, turn: str) -> None:
        """Do what the monitor advises: a shorter history, or a summary to hand over."""
        advice = self._monitor.advice
        if advice == "continue":
            return
        if self.compresses and self._may_come_off() and self._compress(turn):
            return
        if advice == "new_session" and not self._handed_over:
            self._handed_over, summary = True, self.handover
            self._trace.append(events.HandoverWritten(summary.text, summary.tokens), turn=turn)

    def _may_come_off(self) -> bool:
        """Return whether a compression is worth an attempt.

        The newest round stays whole, and where it is long the target is missed. The next
        attempt waits until it surely reaches it, or saves a third. Where the window stays
        full whatever is done, a history may grow to twice its target first.
        """
        count, target = self._frame.counter, self._monitor.target
        past = [each for each in rounds(self.messages) if not is_summary(each.messages[0])]
        size = sum(map(count.message, self.messages))
        if len(past) < 2 or size <= (2 * target if self._monitor.crowded else target):
            return False
        newest = sum(map(count.message, past[-1].messages))
        least = newest + min(BUDGET, target // 2) + HEADING
        return not self._monitor.tight or least <= max(target, size * (1 - SAVES))

    def _compress(self, turn: str) -> bool:
        """Compress and note it; return whether that was done."""
        done = self.compress()
        told = as_message(done.summary).text if done.done and done.summary.text else ""
        self._trace.append(
            events.Compressed(done.rounds, done.before, done.after, done.target, done.reason, told),
            turn=turn,
        )
        return done.done

    async def learn(self, values: Valuer) -> None:
        """Let a model say what messages are worth, once some of them may have to go."""
        frame = self._frame
        if not isinstance(values, ModelValues):
            return
        history, _, _ = self.read()
        size = sum(frame.counter.message(message) for message in history)
        new = values.unknown(history)
        if size < LEARN_FROM * frame.usable or len(new) < LEARN_MESSAGES:
            return
        reason = ""
        try:
            await values.learn(history, heard=lambda said: self._paid("values", values.name, said))
        except AgentkitError as error:  # the rules say it then, and it is asked again
            reason = error.what
        self._trace.append(events.Valued(len(new), reason), turn="")

    def tell(self, memory: Remembering | None) -> None:
        """Let a memory know what the conversation holds, so that it can have it erased."""
        if isinstance(memory, Hearing):
            memory.said = self.messages

    def erase(self, memory: Remembering | None, turn: str) -> Erasure | None:
        """Take what memory has forgotten out of the history, the rounds and the trace.

        Returns:
            What erases it, for copies that are elsewhere; None where nothing was forgotten.
        """
        if not isinstance(memory, Forgetting):
            self._say_unerased(memory, turn)
            return None
        if not memory.forgotten:
            return None
        from agentkit.memory.erase import Erasure

        erasure = Erasure(memory.forgotten, kept=memory.kept, orders=memory.orders)
        before = list(self.messages)
        self.messages[:] = map(erasure.message, before)
        changed = sum(m != was for m, was in zip(self.messages, before, strict=True))
        if self.short is not None:
            self.short.erase(erasure)
        self._monitor.change_summary(erasure.text, count=self._frame.counter)
        self._monitor.unwatch(erasure.text)
        self._trace.append(events.Erased(changed, self._trace.rewrite(erasure.event)), turn=turn)
        return erasure

    def _say_unerased(self, memory: Remembering | None, turn: str) -> None:
        """Note that a memory forgot something and cannot say what the conversation must erase."""
        forgot = any(one.kind == "Forgot" and one.turn == turn for one in self._trace)
        if memory is None or not (forgot or getattr(memory, "forgotten", False)):
            return
        lacks = [name for name in ERASES_BY if not hasattr(memory, name)]
        reason = f"not erased from the conversation: the memory has no {', '.join(lacks)}"
        self._trace.append(events.Skipped(type(memory).__name__, reason), turn=turn)

    def _paid(self, purpose: str, model: str, said: ModelSaid, *, turn: str = "") -> None:
        """Note a call beside the conversation, of a turn or between two, and what it cost."""
        usage = said.usage if isinstance(said.usage, Usage) else None
        self._trace.append(events.SideCalled(purpose, model, usage), turn=turn)
        self._monitor.pay_beside(model, usage, turn_is_over=bool(turn))

    async def condense(self, turn: str) -> None:
        """Let old rounds leave the window when there are too many; never otherwise."""
        if self.short is None or not self.short.overflow():
            return
        done = self.short.condense(await self._summary(self.short, turn))
        if done is not None:
            self._trace.append(done, turn=turn)

    async def _summary(self, short: ShortTermMemory, turn: str) -> Summary | None:
        """Return the summary that a model writes; None where rules have to."""
        if self.summary_model is None or short.strategy == "truncate":
            return None
        from agentkit.memory.model_summary import read, request

        left, frame = short.overflow(), self._frame
        earlier = short.summary if short.summary.text else None
        instruction, talk = request(left, earlier=earlier)
        sections = [
            Section("system", instruction.text, role="system", rank=0),
            Section("question", role="question", rank=0, messages=(talk,)),
        ]
        try:
            asked = pack(sections, budget=frame.budget, count=frame.counter, reserve=frame.reserve)
            said = await self.summary_model.complete(asked, ())
        except AgentkitError:  # too long for it, or it cannot be reached: rules can do it
            return None
        self._paid("summary", self.summary_model.name, said, turn=turn)
        return read(
            said.text, left, count=short.count, budget=short.summary_budget, earlier=earlier
        )
