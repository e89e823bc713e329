"""Reads a large JSON document a value at a time, and what there is of one cut short.

    {"model": "m", "messages": [{...}, {...}, ...
         └─▶ ("model", "m")       └─▶ ("messages", {...}), ("messages", {...}), ...

The values of a list are yielded one by one as they are read, so a document of a
gigabyte takes the memory of its largest value. A library that does this event by event
is no smaller to use and several times slower: json's own decoder reads each value here.

Read after: source.py.     Read next: reading.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agentkit.transcript.source import Source

FIRST_READ = 262_144  # characters; doubled while a value is larger
STREAMED = frozenset({"messages", "input", "output", "history", "conversation", "turns", "items"})
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


class Broken(ValueError):  # noqa: N818 - not an error a person sees
    """The document ends too early, or goes on with what is no JSON."""


class Walker:
    """A place in a JSON document.

    Args:
        source: Where more text comes from.
        text: What was read of it already.

    Attributes:
        done: Characters before the buffer, so a place can be named.
    """

    def __init__(self, source: Source, text: str = "") -> None:
        self._source = source
        self._text = text
        self._at = 0
        self._ended = False
        self.done = 0

    @property
    def place(self) -> int:
        """Return how many characters were read as values."""
        return self.done + self._at

    def document(self) -> Iterator[tuple[str, Any]]:
        """Yield (key, value) of an object, or ("", value) of a list, as they are read.

        Raises:
            Broken: After what could be read was yielded.
        """
        if self._peek() == "[":
            for value in self._list():
                yield "", value
        elif self._peek() == "{":
            yield from self._object()
        else:
            yield "", self._value()

    def rest(self) -> str:
        """Return what stands behind the document in the buffer, up to the end of a line."""
        rest = self._text[self._at :]
        if not rest.endswith("\n") and not self._ended:
            rest += self._source.line()
        return rest

    def _object(self) -> Iterator[tuple[str, Any]]:
        self._take("{")
        while self._peek() != "}":
            key = str(self._value())
            self._take(":")
            if key in STREAMED and self._peek() == "[":
                for value in self._list():
                    yield key, value
            else:
                yield key, self._value()
            if self._peek() == ",":
                self._take(",")
        self._take("}")

    def _list(self) -> Iterator[Any]:
        self._take("[")
        while self._peek() != "]":
            yield self._value()
            if self._peek() == ",":
                self._take(",")
        self._take("]")

    def _value(self) -> Any:
        """Return the next value, and read on until it is whole."""
        self._peek()
        more = FIRST_READ
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if self._ended or isinstance(error, RecursionError):
                    raise Broken(str(error)) from error
            else:
                if end < len(self._text) or self._ended:  # a number may go on behind the buffer
                    self._at = end
                    return value
            self._read(more)
            more *= 2

    def _peek(self) -> str:
        """Return the next character that is no space."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                raise Broken("the file ends")
            self._read(FIRST_READ)

    def _take(self, character: str) -> None:
        if self._peek() != character:
            raise Broken(f"{character!r} was expected, not {self._peek()!r}")
        self._at += 1

    def _read(self, chars: int) -> None:
        self.done += self._at
        more = self._source.read(chars)
        self._ended = not more
        self._text = self._text[self._at :] + more
        self._at = 0
