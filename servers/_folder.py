"""The text files of a folder: which there are, and which are left alone and why.

    folder ──scan()──▶ files, by path from the folder, with "/" on every system
                  └──▶ skipped: "photo.png: no text", "big.log: over 500,000 bytes"

A path that comes from a model is never opened. It is looked up among what the scan found,
so nothing outside the folder can be named, whatever the path looks like.

Read after: _valid_json.py.     Read next: _documents.py, _code.py.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from servers._valid_json import is_valid, valid_text

MAX_FILES = 5_000  # beyond this a folder is no handbook and no project
_SKIPPED_FOLDERS = frozenset("node_modules __pycache__ venv site-packages dist build".split())
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DRIVE = re.compile(r"[A-Za-z]:|[\\/]{2}")


class NotFoundError(Exception):
    """There is no such file; the text says what there is."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a folder holds.

    Attributes:
        files: Where each file is, by its path from the folder, e.g. "zh/报销制度.md"; in
            the order of these paths.
        skipped: What was left alone, with the reason, e.g. "photo.png: no text".
    """

    files: dict[str, Path]
    skipped: tuple[str, ...]


def scan(folder: Path, *, endings: frozenset[str] | None, max_bytes: int) -> Scan:
    """Return the files of a folder and of the folders in it.

    Args:
        folder: Links in it are followed only to what lies inside it.
        endings: Other files are passed over in silence; None takes all.
        max_bytes: A larger file is skipped.
    """
    root = folder.resolve()
    files: dict[str, Path] = {}
    skipped: list[str] = []
    for path in _paths(root):
        if endings is not None and path.suffix.lower() not in endings:
            continue
        name = path.relative_to(root).as_posix()
        reason = "name is no UTF-8" if not is_valid(name) else _reason(path, root, max_bytes)
        if len(files) >= MAX_FILES:
            skipped.append(f"more than {MAX_FILES:,} files; the rest is not read")
            break
        if reason:
            skipped.append(f"{valid_text(name)}: {reason}")
        else:
            files[name] = path
    return Scan(dict(sorted(files.items())), tuple(sorted(skipped)))


def _paths(root: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f[0] != "." and f not in _SKIPPED_FOLDERS)
        yield from (Path(here, name) for name in sorted(names) if name[0] != ".")


def _reason(path: Path, root: Path, max_bytes: int) -> str:
    """Return why a file is not read; "" if it is."""
    try:
        if not path.resolve().is_relative_to(root):
            return "a link that leads out of the folder"
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return "no file"  # a pipe or a device: opening one may never come back
        if found.st_size > max_bytes:
            return f"over {max_bytes:,} bytes"
        return "" if read_text(path, max_bytes=max_bytes) is not None else "no text"
    except (OSError, RuntimeError):
        return "cannot be read"


def read_text(path: Path, *, max_bytes: int) -> str | None:
    """Return the text of a file, or None when it is none.

    It may be UTF-8 or, with its mark at the start, UTF-16. Ends of lines become "\\n".
    """
    with path.open("rb") as file:
        raw = file.read(max_bytes + 1)[:max_bytes]
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif b"\x00" in raw:
        return None
    else:
        encoding = "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return None
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def look_up(asked: str, known: dict[str, Path], *, kind: str, listing: str) -> str:
    """Return the path of a known file that a model means.

    Args:
        asked: As the model wrote it; "\\" counts as "/", case and a missing ".md" do not.
        known: The files there are.
        kind: What they are called, e.g. "document".
        listing: What tells which there are, e.g. "list_documents".

    Raises:
        NotFoundError: There is none, or the path leads out of the folder.
    """
    wanted = asked.strip().replace("\\", "/")
    shown = repr(valid_text(asked[:80]))
    if _DRIVE.match(asked.strip()) or wanted.startswith(("/", "~")) or ".." in wanted.split("/"):
        raise NotFoundError(
            f"{shown} is not a path inside the folder. Paths start in it and use /, "
            f"e.g. {next(iter(known), 'guide.md')!r}; {listing} tells them."
        )
    wanted = wanted.removeprefix("./").casefold()
    by_case = {name.casefold(): name for name in known}
    by_stem: dict[str, list[str]] = {}
    for name in known:
        by_stem.setdefault(name.rsplit("/", 1)[-1].rsplit(".", 1)[0].casefold(), []).append(name)
    matches = [by_case[wanted]] if wanted in by_case else []
    matches = matches or [n for n in known if n.rsplit(".", 1)[0].casefold() == wanted]
    matches = matches or by_stem.get(wanted.rsplit("/", 1)[-1].removesuffix(".md"), [])
    if len(matches) == 1:
        return matches[0]
    near = matches or [by_case[n] for n in get_close_matches(wanted, by_case, n=3, cutoff=0.4)]
    advice = f"Near it: {', '.join(near[:5])}." if near else f"{listing} tells which there are."
    said = f"{shown} fits {len(matches)}" if matches else f"There is no {kind} {shown}"
    raise NotFoundError(f"{said}. {advice}")
