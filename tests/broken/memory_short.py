"""Short-term memories that must not be: each breaks one promise."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.events import Condensed
from agentkit.memory.short import ShortTermMemory
from agentkit.messages import Message, Round
from agentkit.summary import Summary


class EveryRound(ShortTermMemory):
    """Summarises whenever there is something to summarise."""

    def _leaving(self) -> list[Round]:
        return self._rounds[:-1]


class NoArchive(ShortTermMemory):
    """Takes the summary for all that is worth keeping."""

    def condense(self, summary: Summary | None = None) -> Condensed | None:
        done = super().condense(summary)
        self.archive = type(self.archive)()
        return done


class HalfRounds(ShortTermMemory):
    """Cuts where the message count says, through the middle of a round."""

    @property
    def messages(self) -> list[Message]:
        return super().messages[1:] if len(self.archive) else super().messages


class SumsUpConstraints(ShortTermMemory):
    """Pins the first words of a constraint."""

    def _pin_constraints(self, left: Sequence[Message]) -> None:
        super()._pin_constraints(left)
        self.pinned = tuple(text[:20] for text in self.pinned)
