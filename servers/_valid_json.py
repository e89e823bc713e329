r"""Makes what crosses the wire valid Unicode, on its way in and on its way out.

    "\ud83d"  half an emoji, as JSON may escape it ──▶ "\ufffd"  the mark for what is lost
    "caf\udce9.md"  a file's name that is no UTF-8  ──▶ "caf\ufffd.md"

A host that cuts a text between the two halves of an emoji sends such a line, and
JavaScript hosts write it just so. The SDK drops a line that it cannot decode without an
answer, so the host would wait for its whole time limit; and half an emoji in a *result* or
in the text of an error kills the connection. Whole pairs are left alone.

A line that is JSON but no request gets no answer from the SDK either. Where it carries an id,
it is turned into a request for `INVALID`, which a server answers with an error of that id.

Read after: nothing.     Read next: _json_file.py, _run.py.
"""

from __future__ import annotations

import io
import json
import os
import re
import select
import sys
from typing import Any, BinaryIO

INVALID = "agentkit/invalid"  # the method of a line that was no request; its params say why

# Every escape is matched, so that the second half of a backslash pair is not mistaken for
# the start of one; only group 1, half a surrogate pair, is replaced.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def valid_json(data: bytes) -> bytes:
    """Return JSON in which no string holds half a surrogate pair."""
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], data)


def valid_text(text: str) -> str:
    """Return a text in which whole pairs are joined and half ones are U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_valid(text: str) -> bool:
    """Return whether a text can be sent as it is."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def valid_value(value: Any) -> Any:
    """Return a JSON value in which every text, keys included, can be sent."""
    match value:
        case str():
            return value if is_valid(value) else valid_text(value)
        case dict():
            return {valid_value(key): valid_value(item) for key, item in value.items()}
        case list():
            return [valid_value(item) for item in value]
    return value


def answerable(line: bytes) -> bytes:
    """Return a line as it is, or what a server can answer where the SDK would be silent."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line  # without an id there is nobody to answer
    batch = isinstance(message, list)
    parts = message if isinstance(message, list) else [message]
    wrong = [(part, "batches are not taken" if batch else _fault(part)) for part in parts]
    if not any(why for _, why in wrong):
        return line
    return b"".join(_rejected(part["id"], why) for part, why in wrong if _has_id(part))


def _has_id(message: Any) -> bool:
    given = message.get("id") if isinstance(message, dict) else None
    return isinstance(given, str | int) and not isinstance(given, bool)


def _fault(message: Any) -> str:
    """Return why a message that asks for an answer is no request; "" if it is one."""
    if not _has_id(message) or "result" in message or "error" in message:
        return ""
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc has to be "2.0"'
    if not isinstance(message.get("method"), str):
        return "method has to be a text"
    fits = isinstance(message.get("params"), dict | None)
    return "" if fits else "params has to be an object"


def _rejected(request_id: str | int, why: str) -> bytes:
    request = {"jsonrpc": "2.0", "id": request_id, "method": INVALID, "params": {"why": why}}
    return json.dumps(request).encode() + b"\n"


def make_stdin_valid(*, until: int | None = None) -> None:
    """Put a cleaning stream in the place of `sys.stdin`, where the SDK looks for its input.

    Args:
        until: A descriptor (POSIX); the input ends as soon as there is something to read in it.
    """
    number = sys.stdin.fileno()
    source: BinaryIO
    if until is None:
        source = open(number, "rb", closefd=False)  # noqa: SIM115 - lives as long as we
    else:
        source = io.BufferedReader(_Until(number, until))
    sys.stdin = io.TextIOWrapper(io.BufferedReader(_ValidLines(source)), encoding="utf-8")


class _Until(io.RawIOBase):
    """The bytes of a descriptor until another one has some: a read alone cannot be broken off."""

    def __init__(self, source: int, until: int) -> None:
        self._source, self._until = source, until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        ready, _, _ = select.select([self._source, self._until], [], [])
        if self._until in ready:
            return 0
        data = os.read(self._source, len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _ValidLines(io.RawIOBase):
    """The bytes of `source`, cleaned line by line."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = self._next_line()
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def _next_line(self) -> bytes:
        """Return the next line that says something; none only at the end."""
        while line := self._source.readline():
            if said := answerable(valid_json(line)):
                return said
        return b""
