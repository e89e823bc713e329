"""The file of a trace: lines are added whole, or not at all.

    append()  ──▶  a full disk: what got there is taken away, and the error says why
    replace() ──▶  the file is the new one or the old one, never half of each

Read after: files.py.     Read next: trace.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agentkit import files
from agentkit.errors import TraceError

BEGINS = b'{"seq"'  # every line of a trace


def replace(path: Path, lines: Sequence[str]) -> None:
    """Write a file whole or not at all."""
    try:
        files.replace(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise TraceError(
            f"The trace {path.name} cannot be written: {why(error)}; the file is as it was.",
            hint="Make room on the disk or choose another folder, then try again.",
        ) from error


def append(path: Path, data: bytes) -> None:
    """Write behind the end of a file; what cannot be written whole is taken away again."""
    with path.open("ab", buffering=0) as file:
        end = file.tell()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except OSError:
            with suppress(OSError):  # then the next append drops the half line
                file.truncate(end)
            raise


def drop_half_line(path: Path) -> None:
    """Take away a half-written last line, so that the next event gets a line of its own."""
    if not path.is_file():
        return
    with path.open("r+b") as file:
        written = file.read()
        whole = written.rfind(b"\n") + 1
        half = written[whole:]
        if half and BEGINS.startswith(half[: len(BEGINS)]):
            file.truncate(whole)
        elif half:  # of a file that is no trace, nothing is taken
            file.write(b"\n")


def checked(path: Path) -> Path:
    """Return where a trace can be written, as far as that can be known before."""
    try:
        wrong = "it is a folder" if path.is_dir() else ""
        wrong = wrong or ("" if path.parent.is_dir() else f"there is no folder {path.parent}")
    except OSError as error:
        wrong = why(error)
    if wrong:
        raise TraceError(
            f"The trace {path.name} cannot be written: {wrong}.",
            hint="Give the path of a file in a folder that exists.",
        )
    return path


def why(error: OSError | None) -> str:
    """Return what the system said, e.g. "No space left on device"."""
    return (error and (error.strerror or str(error))) or "unknown"
