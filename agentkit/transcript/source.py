"""Opens a file that may be anything, and reads it a piece at a time.

    bytes ──▶ UTF-8, UTF-16 or -32 (with a mark or without), GB18030 ──▶ text in lines
          ──▶ empty, packed, a picture, a database ──▶ TranscriptError

Read after: errors.py, text.py.     Read next: walk.py.
"""

from __future__ import annotations

import codecs
import io
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from agentkit.errors import TranscriptError
from agentkit.text import printable

BUFFER = 1 << 20  # bytes; each read from the disk lets other threads in, and waits for them
SAMPLE = 65_536  # bytes that are looked at before a file is read
MAX_LINE_CHARS = 256_000_000  # of one line; a longer one is passed over, and said so
CONTROL_SHARE = 0.02  # of a sample; text has next to no control characters

EXPECTED = (
    "Expected one of: OpenAI chat or responses JSON, Anthropic messages JSON, Claude Code "
    "JSONL (~/.claude/projects/*/*.jsonl), a LangChain message dump, a list of messages with role "
    "and content, or a trace of this kit."
)
NO_FILES = {
    stat.S_IFDIR: "it is a folder",
    stat.S_IFIFO: "it is a pipe; `agentkit window - < it` reads one",
    stat.S_IFCHR: "it is a device, and no file",
    stat.S_IFBLK: "it is a device, and no file",
    stat.S_IFSOCK: "it is a socket, and no file",
}
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
KNOWN_BYTES = (
    (b"\x1f\x8b", "packed with gzip: unpack it first"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it first"),
    (b"SQLite format 3", "a SQLite database"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"%PDF", "a PDF"),
    (b"\x7fELF", "a program"),
)

# What a power loss leaves where lines were to be; no encoding writes so many in a text.
LOST = re.compile(rb"\x00{4,}|\x00+\Z")


class Source:
    """A text file that is read from its start, once.

    Args:
        path: Of the file.

    Attributes:
        name: For messages to a person.
        encoding: As it was found.
        at: Number of the last line that was read.

    Raises:
        TranscriptError: It cannot be opened, is empty, or is no text.
    """

    def __init__(self, path: Path) -> None:
        self.name = printable(path.name)
        self.at = 0
        try:
            kind = stat.S_IFMT(path.stat().st_mode)
            if kind != stat.S_IFREG:
                raise OSError(0, NO_FILES.get(kind, "it is no file"))
            self._file = path.open("rb", buffering=BUFFER)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "") or error
            raise TranscriptError(
                f"{self.name or path} cannot be read: {why}.", hint=EXPECTED
            ) from error
        sample = self._file.read(SAMPLE)
        self._file.seek(0)
        try:
            self.encoding = encoding_of(sample, self.name)
        except TranscriptError:
            self._file.close()
            raise
        self._decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        wide = self.encoding.startswith(("utf-16", "utf-32"))  # a byte 10 may be half a letter
        self._wide = (
            io.TextIOWrapper(self._file, encoding=self.encoding, errors="replace", newline="\n")
            if wide
            else None
        )

    def read(self, size: int) -> str:
        """Return about so many of the next characters, none only at the end."""
        if self._wide is not None:
            return self._wide.read(size)
        return self._decoded(self._file.read(size))

    def line(self, size: int = MAX_LINE_CHARS) -> str:
        """Return the next line with its end, or about so many characters of it."""
        if self._wide is not None:
            return self._wide.readline(size)
        return self._decoded(self._file.readline(size))

    def _decoded(self, data: bytes) -> str:
        """Return bytes as text; a character that they cut waits for the next ones.

        Four times faster than a text file's own lines, which matters from 100 MB on.
        """
        text = self._decoder.decode(data, final=not data)
        if data and not text:  # less than one character
            return self._decoded(self._file.read(4))
        return text

    def lines(self) -> Iterator[tuple[int, str | None]]:
        """Yield number and text of each line that is left; None for one that is too long."""
        while line := self.line():
            self.at += 1
            whole = len(line) < MAX_LINE_CHARS or line.endswith("\n")
            while not whole:
                more = self.line()
                whole = not more or more.endswith("\n")
                line = ""
            yield self.at, line.rstrip("\r\n") if line else None

    def close(self) -> None:
        """Close the file."""
        (self._wide or self._file).close()


def encoding_of(sample: bytes, name: str) -> str:
    """Return the encoding of a file by its first bytes.

    Raises:
        TranscriptError: It is empty, or no text; says what it looks like.
    """
    if not sample.strip(b"\x00 \t\r\n\xef\xbb\xbf\xfe\xff"):
        if sample.startswith(b"\x00\x00"):
            what = f"{name} holds no text: its first {len(sample):,} bytes are NUL or blank."
            raise TranscriptError(what, hint="Take a copy of it that is whole.")
        raise TranscriptError(f"{name} is empty.", hint=EXPECTED)
    for mark, encoding in MARKS:
        if sample.startswith(mark):
            return encoding
    for start, what in KNOWN_BYTES:
        if sample.startswith(start):
            raise TranscriptError(f"{name} is no text; it is {what}.", hint=EXPECTED)
    written = LOST.sub(b"", sample)
    if b"\x00" not in written and _decodes(written, "utf-8"):
        sample = written
    if b"\x00" in sample:
        return _without_mark(sample, name)
    control = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in sample)
    if control > CONTROL_SHARE * len(sample):
        raise _binary(name)
    return "utf-8" if _decodes(sample, "utf-8") or not _is_gb18030(sample) else "gb18030"


def _without_mark(sample: bytes, name: str) -> str:
    """Return which UTF-16 a text without a mark is in: every other byte of ASCII is 0."""
    half = len(sample) // 2
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = sample[first::2].count(0)
        others = sample[1 - first :: 2].count(0)
        if zeros > half * 0.3 and others < half * 0.02 and _decodes(sample, encoding):
            return encoding
    if sample.count(0) < 0.001 * len(sample):  # a stray NUL in a text
        return "utf-8"
    raise _binary(name)


def _decodes(sample: bytes, encoding: str) -> bool:
    """Return whether a sample is valid; its last character may be cut."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _is_gb18030(sample: bytes) -> bool:
    """Return whether a sample that is no UTF-8 reads as Chinese in the older encoding."""
    try:
        text = codecs.getincrementaldecoder("gb18030")().decode(sample)
    except UnicodeDecodeError:
        return False
    high = sum(ord(character) > 127 for character in text)
    han = sum("\u3000" <= character <= "\u9fff" or character >= "\uff00" for character in text)
    return high > 0 and han > 0.8 * high


def _binary(name: str) -> TranscriptError:
    return TranscriptError(f"{name} is no text: it holds binary data.", hint=EXPECTED)
