r"""Makes JSON from outside valid Unicode before it is read.

    "\ud83d"  half an emoji, as JSON may escape it ──▶ "\ufffd"  the mark for what is lost

A host that cuts a text between the two halves of an emoji sends such a line, and
JavaScript hosts write it just so. The SDK drops a line that it cannot decode without an
answer, so the host would wait for its whole time limit; and half an emoji in a *result*
kills the connection, so none may come out of a file either. Whole pairs are left alone.

Read after: nothing.     Read next: _json_file.py, _run.py.
"""

from __future__ import annotations

import io
import re
import sys
from typing import BinaryIO

# Every escape is matched, so that the second half of a backslash pair is not mistaken for
# the start of one; only group 1, half a surrogate pair, is replaced.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def valid_json(data: bytes) -> bytes:
    """Return JSON in which no string holds half a surrogate pair."""
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], data)


def make_stdin_valid() -> None:
    """Put a cleaning stream in the place of `sys.stdin`, where the SDK looks for its input."""
    source = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115 - lives as long as we
    sys.stdin = io.TextIOWrapper(io.BufferedReader(_ValidLines(source)), encoding="utf-8")


class _ValidLines(io.RawIOBase):
    """The bytes of `source`, cleaned line by line."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = valid_json(self._source.readline())
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size
