"""Reads a file of rules that a person edited, and says which entry is no rule.

    {"kinds": [{"weight": "high"}]}  ──Given["kinds"].each()[0]["weight"].number()──▶
        RecordError: rules.json: kinds[0].weight is the text 'high'; a number belongs there.

Every value is asked for as what it has to be, so a mistake is found when the file is read
and not when a conversation meets it. An empty list of patterns never fits; an empty
pattern would always fit and is refused, and so is one that takes forever.

Read after: files.py, slow_patterns.py.     Read next: value.py, memory/policy_file.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentkit.errors import RecordError
from agentkit.files import read_json
from agentkit.slow_patterns import LONG, too_slow
from agentkit.text import one_line


@dataclass(frozen=True, slots=True)
class Given:
    """One value of a file, and where it stands.

    Attributes:
        value: As JSON holds it.
        where: E.g. "kinds[2].weight"; empty for the whole file.
        file: Its name.
        hint: What to do about a mistake.
        patterns: All that were read so far from this file.
    """

    value: Any
    where: str
    file: str
    hint: str
    patterns: list[str] = field(default_factory=list, compare=False, repr=False)

    def __getitem__(self, key: str) -> Given:
        """Return an entry of an object."""
        found = self.get(key)
        if found is None:
            raise self.error(f"{self._inside(key)} is missing.")
        return found

    def get(self, key: str) -> Given | None:
        """Return an entry of an object that may be missing."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return self._part(self._inside(key), self.value[key]) if key in self.value else None

    def members(self) -> list[tuple[str, Given]]:
        """Return the entries of an object with their names."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return [(key, self[key]) for key in self.value]

    def each(self) -> list[Given]:
        """Return the entries of a list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [self._part(f"{self.where}[{at}]", one) for at, one in enumerate(self.value)]

    def text(self, *, may_be_empty: bool = False) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        if not may_be_empty and not self.value.strip():
            raise self.error(f"{self.where} is empty; a text belongs there.")
        return self.value

    def texts(self) -> list[str]:
        """Return a list of texts."""
        return [one.text() for one in self.each()]

    def one_of(self, allowed: Collection[str]) -> str:
        """Return one of these texts."""
        if self.value not in allowed or not isinstance(self.value, str):
            raise self.wrong(f"one of {', '.join(map(repr, allowed))}")
        return self.value

    def number(self, *, least: float = -math.inf, most: float = math.inf) -> float:
        """Return a number from `least` to `most`."""
        number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not number or not math.isfinite(self.value) or not least <= self.value <= most:
            low = "" if least == -math.inf else f" of at least {least:g}"
            raise self.wrong(
                f"a number{low if most == math.inf else f' from {least:g} to {most:g}'}"
            )
        return float(self.value)

    def whole(self) -> int:
        """Return a whole number, 0 or more."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 0:
            raise self.wrong("a whole number, 0 or more,")
        return self.value

    def truth(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def pattern(self, *, groups: Sequence[str] = ()) -> re.Pattern[str]:
        """Return a regular expression, with at least one of these named groups if any are given."""
        text = self.text()
        try:
            made = re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise self.error(
                f"{self.where} is no regular expression: {error}: {_short(text)}."
            ) from error
        if groups and not set(groups) & set(made.groupindex):
            named = " or ".join(f"(?P<{name}>…)" for name in groups)
            raise self.error(f"{self.where} has no group {named}: {_short(text)}.")
        self.patterns.append(text)
        return made

    def expressions(self) -> list[str]:
        """Return a list of regular expressions, each of them compiled once."""
        return [one.pattern().pattern for one in self.each()]

    def together(
        self, join: Callable[[Sequence[str]], re.Pattern[str]] | None = None
    ) -> re.Pattern[str]:
        """Return a pattern that fits where one of a list fits; never, for an empty list.

        Args:
            join: Makes one pattern of several; by default one after the other is tried.
        """
        found = self.expressions()
        try:
            return (join or either)(found)
        except re.error as error:  # two of them have a group of one name
            raise self.error(f"{self.where} cannot be read as one expression: {error}.") from error

    def refuse_slow(self) -> None:
        """Refuse the file if one of the patterns that were read takes forever on some text."""
        slow = too_slow(self.patterns)
        if slow is not None:
            raise RecordError(
                f"{self.file}: a pattern did not end on a text of {LONG} characters: "
                f"{_short(slow)}.",
                hint=r"Put no repetition inside another: (\w+ ?)+ says no more than \w[\w ]*.",
            )

    def error(self, what: str) -> RecordError:
        """Return the error that says this of the file."""
        return RecordError(f"{self.file}: {what}", hint=self.hint)

    def wrong(self, wanted: str) -> RecordError:
        """Return the error for a value that is something else."""
        return self.error(f"{self.where or 'it'} is {_shown(self.value)}; {wanted} belongs there.")

    def _inside(self, key: str) -> str:
        name = key if key.isidentifier() else repr(key)
        return f"{self.where}.{name}" if self.where else name

    def _part(self, where: str, value: Any) -> Given:
        return Given(value, where, self.file, self.hint, self.patterns)


def either(patterns: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that fits where one of these does; never, for none."""
    return re.compile("|".join(f"(?:{one})" for one in patterns) or r"(?!)")


def read_rules(path: str | Path, *, what: str, hint: str) -> Given:
    """Return what a file of rules holds.

    Args:
        path: Of a JSON file.
        what: It is, e.g. "policy".
        hint: What to do about a mistake in it.

    Raises:
        RecordError: It cannot be read, or holds no JSON object.
    """
    value = read_json(path, what=what, error=RecordError, hint=hint)
    given = Given(value, "", Path(path).name, hint)
    if not isinstance(value, dict):
        raise given.wrong("an object")
    return given


def _shown(value: Any) -> str:
    """Return a JSON value in words."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"the text {_short(value)}"
        case int() | float():
            return f"the number {_short(value)}"
        case list():
            return f"a list of {len(value)}"
    return "an object"


def _short(value: Any) -> str:
    return one_line(repr(value), max_chars=80)
