"""Reads and writes the files that a person names, and says what is wrong with one.

    "rules.json" or Path("rules.json") ──read_text()──▶ text, or an error of the caller's kind

Paths are text or `Path` alike. A file is written whole or not at all.

Read after: errors.py.     Read next: rules_file.py, trace.py.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentkit.errors import AgentkitError

ENCODING = "utf-8"
# What reading JSON of an unknown shape may raise: too deep, infinite, missing, of another type.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def as_path(path: str | Path, *, what: str, error: type[AgentkitError]) -> Path:
    """Return the path of a file.

    Args:
        path: As a caller gave it.
        what: Is in the file, e.g. "trace".
        error: Is raised where it is no path.
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise error(
            f"The path of the {what} is {path!r}.", hint='Give the path of a file: "name.json".'
        )
    if isinstance(os.fspath(path), bytes):
        raise error(f"The path of the {what} is bytes.", hint="Decode it: os.fsdecode(path).")
    if "\x00" in str(path):
        raise error(
            f"The path of the {what} holds a NUL character: {str(path)!r}.",
            hint="Give a path without it.",
        )
    return Path(path)


def read_text(path: str | Path, *, what: str, error: type[AgentkitError], hint: str) -> str:
    """Return the text of a file.

    Args:
        path: Of the file.
        what: Is in it, e.g. "trace".
        error: Is raised where it cannot be read, or is no text in UTF-8.
        hint: What to do then.
    """
    file = as_path(path, what=what, error=error)
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(
            f"The {what} {file.name} is no text in UTF-8: byte {fault.start + 1} is "
            f"0x{fault.object[fault.start]:02x}.",
            hint=f"Save it as UTF-8. {hint}",
        ) from fault
    except (OSError, UnicodeError) as fault:
        raise error(
            f"The {what} {file.name or file} cannot be read: {_why(fault)}.", hint=hint
        ) from fault


def _why(fault: OSError | UnicodeError) -> str:
    """Return what the system said, or what is wrong with the name or the text."""
    return (fault.strerror if isinstance(fault, OSError) else None) or str(fault)


def read_json(path: str | Path, *, what: str, error: type[AgentkitError], hint: str) -> Any:
    """Return the JSON value of a file; arguments as for `read_text`."""
    text = read_text(path, what=what, error=error, hint=hint)
    name = Path(path).name
    if not text.strip():
        raise error(f"{name} is empty.", hint=hint)
    try:
        return json.loads(text, object_pairs_hook=_each_once)
    except json.JSONDecodeError as fault:
        raise error(
            f"{name} is no JSON: {fault.msg} in line {fault.lineno}, column {fault.colno}.",
            hint=hint,
        ) from fault
    except RecursionError as fault:
        raise error(
            f"{name} holds too many lists or objects inside each other.", hint=hint
        ) from fault
    except ValueError as fault:  # an entry that is there twice, a number of thousands of digits
        raise error(f"{name} cannot be read: {fault}.", hint=hint) from fault


def _each_once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of two entries of one name JSON would keep the last, and say nothing."""
    found = dict(entries)
    if len(found) < len(entries):
        names = [name for name, _ in entries]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has {twice!r} {names.count(twice)} times")
    return found


def write_text(path: str | Path, text: str, *, what: str, error: type[AgentkitError]) -> None:
    """Write a file, whole or not at all; arguments as for `read_text`."""
    file = as_path(path, what=what, error=error)
    try:
        replace(file, text)
    except (OSError, UnicodeError) as fault:
        raise error(
            f"The {what} {file.name} cannot be written: {_why(fault)}.",
            hint="Give a file in a folder that exists, may be written to, and has room.",
        ) from fault


def replace(file: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        OSError: It cannot be written, or is a device or a pipe, which would be lost.
        UnicodeError: The text or the name is none.
    """
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise OSError(errno.EINVAL, "it is a device or a pipe", str(file))
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding=ENCODING, newline="\n")
        part.replace(file)
    except (OSError, UnicodeError):
        with suppress(OSError, UnicodeError):
            part.unlink(missing_ok=True)
        raise


def texts(entries: Any) -> tuple[str, ...]:
    """Return a list of texts as JSON holds it.

    Raises:
        TypeError: It is no list; one text would be taken for its letters.
    """
    if not isinstance(entries, list):
        raise TypeError("no list")
    return tuple(map(str, entries))
