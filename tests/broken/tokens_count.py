"""Broken tokenizers and tallies, one a check: each breaks that promise and no other."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agentkit.tokens import Counter

GPT = Counter.for_model("gpt-4o")


class Tokenizer:
    """A sound one, to be broken in one place."""

    def pieces(self, text: str) -> list[str]:
        return GPT.pieces(text)

    def count(self, text: str) -> int:
        return len(self.pieces(text))


class CountsNothingAsOne(Tokenizer):
    """An empty text costs a token."""

    def count(self, text: str) -> int:
        return super().count(text) or 1


class CharactersOverFour(Tokenizer):
    """The rule of thumb instead of a count."""

    def count(self, text: str) -> int:
        return max(1, len(text) // 4) if text else 0


class LosesWhiteSpace(Tokenizer):
    """Runs of white space become one space."""

    def pieces(self, text: str) -> list[str]:
        return GPT.pieces(re.sub(r"\s+", " ", text))


class KnowsNoEmoji(Tokenizer):
    """Characters beyond the basic plane are skipped as unknown."""

    def pieces(self, text: str) -> list[str]:
        return GPT.pieces("".join(c for c in text if ord(c) < 0x10000))


class ObeysTheUser(Tokenizer):
    """A special token that a user types is special."""

    def pieces(self, text: str) -> list[str]:
        parts = text.split("<|endoftext|>")
        found = GPT.pieces(parts[0])
        for part in parts[1:]:
            found += ["<|endoftext|>", *GPT.pieces(part)]
        return found


class LearnedNothing(Tokenizer):
    """Every byte is a token."""

    def pieces(self, text: str) -> list[str]:
        return [bytes([b]).decode("utf-8", "replace") for b in text.encode()]


class RemembersTooWell(Tokenizer):
    """A text that was counted a moment ago is free."""

    last = ""

    def count(self, text: str) -> int:
        again, self.last = text == self.last, text
        return 0 if again else super().count(text)


TWINS: dict[str, Tokenizer] = {
    "nothing_costs_nothing": CountsNothingAsOne(),
    "count_is_the_number_of_pieces": CharactersOverFour(),
    "the_text_comes_back_whole": LosesWhiteSpace(),
    "any_text_can_be_counted": KnowsNoEmoji(),
    "special_looking_text_is_text": ObeysTheUser(),
    "what_is_common_is_cheap": LearnedNothing(),
    "the_same_text_counts_the_same": RemembersTooWell(),
}


class SoundTally:
    """A sound one, to be broken in one place."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count = count
        self.totals: dict[str, int] = {}

    @property
    def total(self) -> int:
        return sum(self.totals.values())

    def add(self, section: str, text: str) -> None:
        self.totals[section] = self.totals.get(section, 0) + self.count(text)


class StartsAtThree(SoundTally):
    """An empty conversation costs the overhead of a message."""

    @property
    def total(self) -> int:
        return sum(self.totals.values()) or 3


class KeepsTheLast(SoundTally):
    """A section is what was added last."""

    def add(self, section: str, text: str) -> None:
        self.totals[section] = self.count(text)


class CountsAllAgain(SoundTally):
    """The total is counted afresh each time it is asked for."""

    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__(count)
        self.texts: list[tuple[str, str]] = []

    @property
    def total(self) -> int:
        self.totals = {}
        for section, text in self.texts:
            super().add(section, text)
        return sum(self.totals.values())

    def add(self, section: str, text: str) -> None:
        self.texts.append((section, text))


class SharesItsTotals(SoundTally):
    """The totals of one conversation are those of the one before, when that was short."""

    before: dict[str, int] = {}  # noqa: RUF012 - the fault itself

    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__(count)
        if sum(self.before.values()) == 0:
            self.totals = self.before
        type(self).before = self.totals


TALLY_TWINS: dict[str, Any] = {
    "an_empty_tally_is_zero": StartsAtThree,
    "the_total_is_the_sum": KeepsTheLast,
    "a_new_turn_costs_its_own_text": CountsAllAgain,
    "tallies_do_not_share": SharesItsTotals,
}
