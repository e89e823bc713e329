"""The window that a trace of this kit ends with: what its model read last, by section.

    UserSaid ─▶ Packed ─▶ ... ─▶ Compressed ─▶ UserSaid ─▶ Packed ─▶ Answered
                                                             └─▶ ReadWindow: kept, dropped,
                                                                 which message is which round

A trace names the sections of each window ("round 7", "summary so far") with the tokens that
the session counted. Which messages of the file these are is followed here: rounds are
numbered through, also those that were said before the trace began.

Read after: trace.py.     Read next: own.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ROUND = re.compile(r"round (\d+)\b")


@dataclass(frozen=True, slots=True)
class ReadWindow:
    """What a model read last.

    Attributes:
        kept: Name and tokens of each section inside, in reading order.
        dropped: The same of those left out.
        texts: Of sections that hold a text, by name.
        live_round: The number of the round that it is part of.
        rounds: The number of the round that begins with the user's message at a place.
        question: The place of the user's message that it answered.
        shorter: How often the history had become shorter before.
    """

    kept: tuple[tuple[str, int], ...]
    dropped: tuple[tuple[str, int], ...]
    texts: Mapping[str, str]
    live_round: int
    rounds: Mapping[str, int]
    question: str
    shorter: int

    @property
    def tokens(self) -> int:
        """Of all that was kept."""
        return sum(tokens for _, tokens in self.kept)


class Following:
    """Follows the history of a session through the events of its trace.

    Attributes:
        window: What was read last, so far.
    """

    def __init__(self) -> None:
        self.window: ReadWindow | None = None
        self._texts: dict[str, str] = {}
        self._rounds: list[str] = []  # places of the user's messages in the history
        self._question = ""
        self._did = False  # the turn did more than ask
        self._held = 0  # rounds in the history, those of before the trace among them
        self._shorter = 0
        self._last = 0  # number of the newest round before the live one

    def asks(self, at: str) -> str:
        """Begin a turn; return the place of the message before, if nothing came of it."""
        nothing = self._question if not self._did else ""
        self._end_turn()
        self._question = at
        return nothing

    def acts(self) -> None:
        """Note that the turn brought more than its question."""
        self._did = True

    def packs(self, element: Mapping[str, Any]) -> None:
        """Take in a window."""
        new = element.get("new")
        self._texts |= {str(n): str(t) for n, t in new.items()} if isinstance(new, dict) else {}
        kept, dropped = _sized(element.get("kept")), _sized(element.get("dropped"))
        found = (ROUND.match(name) for name, _ in (*kept, *dropped))
        numbers = sorted({int(match[1]) for match in found if match is not None})
        self._held = len(numbers)
        places = zip(reversed(self._rounds), reversed(numbers), strict=False)
        self._last = numbers[-1] if numbers else self._last
        self.window = ReadWindow(
            kept,
            dropped,
            dict(self._texts),
            self._last + 1,
            dict(places),
            self._question,
            self._shorter,
        )

    def leaves(self, rounds: int) -> str:
        """Let the oldest rounds leave; return where the first that stays begins, "" for none."""
        self._end_turn()
        self._shorter += 1
        self._held = max(self._held - rounds, 0)
        self._rounds = self._rounds[-self._held :] if self._held else []
        return self._rounds[0] if self._rounds else ""

    def _end_turn(self) -> None:
        """A turn that did nothing leaves nothing in the history."""
        if self._question and self._did:
            self._rounds.append(self._question)
            self._held += 1
        self._question, self._did = "", False


def _sized(sections: Any) -> tuple[tuple[str, int], ...]:
    """Read name and tokens of sections; what is neither is left out."""
    found = sections if isinstance(sections, list) else []
    return tuple(
        (str(each[0]), each[1])
        for each in found
        if isinstance(each, list) and len(each) >= 2 and isinstance(each[1], int)
    )
