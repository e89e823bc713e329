"""Working memories that must not be: each breaks one promise."""

from __future__ import annotations

from typing import Any

from agentkit.memory.policy import Decision
from agentkit.memory.records import Draft
from agentkit.memory.working import WorkingMemory


class KeepsGuesses(WorkingMemory):
    """Takes what is supposed for what is known."""

    __slots__ = ()

    def finish(self, **settings: Any) -> list[Decision]:
        return [
            Decision("write", one.text, one.reason, one.draft or Draft(one.text))
            for one in super().finish(**settings)
        ]


class ForgetsWhy(WorkingMemory):
    """Says that something failed, and not why."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return "\n".join(line.partition(" →")[0] for line in super().text.split("\n"))
