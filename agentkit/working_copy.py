"""A learner's own copy of the notebooks, which an update refreshes and never overwrites.

    originals   as copied   the learner's     what update() does
    ─────────   ─────────   ─────────────     ──────────────────────────────────
    A           –           –                 copies A
    A           A           anything          nothing
    B           A           A                 refreshes: B
    B           A           A, edited         keeps it, and says so

A notebook is copied without its outputs, so that its predictions are not spoiled; a copy
of an earlier version of the kit has them, and loses them if nobody has saved it since.
A run changes a notebook's outputs, not its cells: only what somebody typed counts as
an edit. Somebody may also have set tags or dropped a picture into a cell: a notebook with
such is refreshed, and stays beside the new one. What was copied is noted as hashes in a
small file beside the notebooks.

Read next: lab.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentkit.errors import SetupError

MANIFEST = ".agentkit.json"
SKIPPED = ("conftest.py", "__pycache__", ".ipynb_checkpoints")
NO_NOTEBOOK = (ValueError, KeyError, TypeError, AttributeError, RecursionError)

# Metadata that Jupyter and other editors write by themselves.
OF_EDITORS = frozenset(
    "kernelspec language_info widgets orig_nbformat vscode colab id outputId executionInfo"
    " execution ExecuteTime collapsed scrolled trusted editable jupyter"
    " jp-MarkdownHeadingCollapsed".split()
)


@dataclass(frozen=True, slots=True)
class Update:
    """What `update` did, as names relative to the working copy.

    Attributes:
        copied: Were not there before.
        refreshed: Changed in the kit; the learner had typed nothing into them.
        kept: Changed in the kit *and* by the learner, whose version stays.
        emptied: Copied with their outputs by an earlier version of the kit and never saved
            by the learner; without outputs now.
        beside: Where a refreshed one was put that held tags, metadata or pictures of the
            learner's, e.g. "03_watching_the_window_fill.mine-1.ipynb".
    """

    copied: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)


def files_of(originals: Path) -> list[str]:
    """Return the names of what belongs to the series, in order, with forward slashes."""
    found = [path.relative_to(originals) for path in originals.rglob("*") if path.is_file()]
    ours = [p for p in found if not any(part in SKIPPED or part[0] == "." for part in p.parts)]
    return sorted(path.as_posix() for path in ours)


def update(originals: Path, copy: Path) -> Update:
    """Bring a working copy up to date, or make it.

    Raises:
        SetupError: The folder cannot be written.
    """
    done = Update()
    with _said_if_unwritable(copy):
        copy.mkdir(parents=True, exist_ok=True)
        manifest = _read_manifest(copy)
        for name in files_of(originals):
            _update_one(originals / name, copy / name, name, manifest, done)
        _write_manifest(copy, manifest)
    return done


def restore(originals: Path, copy: Path, name: str) -> str | None:
    """Put the original in place of a learner's version, which is kept if they typed in it.

    Returns:
        The name under which the learner's version was kept, e.g.
        "03_watching_the_window_fill.mine-1.ipynb", or None if nothing was typed into it.

    Raises:
        SetupError: The folder cannot be written.
    """
    with _said_if_unwritable(copy):
        manifest = _read_manifest(copy)
        original, target = originals / name, copy / name
        kept = None
        if target.exists() and not _is_ours(original, target, manifest.get(name, [])):
            kept = _put_beside(target)
        _copy(original, target, name, manifest)
        _write_manifest(copy, manifest)
    return kept.name if kept else None


@contextmanager
def _said_if_unwritable(copy: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SetupError(
            f"The working copy {copy} cannot be written: {error}.",
            hint="Name a folder of yours: agentkit lab --folder PATH",
        ) from error


def _is_ours(original: Path, mine: Path, noted: list[str]) -> bool:
    """Return whether a file holds only what the kit's does now, or did when it was copied."""
    if not mine.is_file():
        return False
    _, typed, set_ = _hashes(mine, mine.read_bytes())
    now = _hashes(original, original.read_bytes())
    return typed in (now[1], *noted[1:2]) and set_ in (now[2], *noted[2:])


def _update_one(
    original: Path, mine: Path, name: str, manifest: dict[str, list[str]], done: Update
) -> None:
    now, noted = _hashes(original, _unrun(original)), manifest.get(name)
    if not mine.exists():
        _copy(original, mine, name, manifest)
        done.copied.append(name)
        return
    if not mine.is_file():
        done.kept.append(name)
        return
    whole, typed, _ = _hashes(mine, mine.read_bytes())
    if typed == now[1]:  # the same cells: nothing a learner could miss
        if noted is not None and whole == noted[0] != now[0]:
            if _unrun(mine) != mine.read_bytes():
                done.emptied.append(name)
            _copy(original, mine, name, manifest)
        manifest[name] = now
    elif noted is not None and noted[1] == typed:
        if not _is_ours(original, mine, noted):
            done.beside.append(_put_beside(mine).name)
        _copy(original, mine, name, manifest)
        done.refreshed.append(name)
    elif noted is None or noted[1] != now[1]:
        done.kept.append(name)


def _copy(original: Path, target: Path, name: str, manifest: dict[str, list[str]]) -> None:
    """Write through a second name, so that no reader ever sees half a notebook."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = _unrun(original)
    _write(target, fresh)
    manifest[name] = _hashes(original, fresh)


def _write(target: Path, data: bytes) -> None:
    half = target.with_name(f"{target.name}.{uuid.uuid4().hex}.new")  # threads have one pid
    try:
        half.write_bytes(data)
        os.replace(half, target)
    finally:
        half.unlink(missing_ok=True)


def _unrun(path: Path) -> bytes:
    """Return a notebook as if nobody had run it; of anything else, all of it."""
    whole = path.read_bytes()
    if path.suffix != ".ipynb":
        return whole
    try:
        notebook = json.loads(whole)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(outputs=[], execution_count=None)
        return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()
    except NO_NOTEBOOK:
        return whole


def _put_beside(path: Path) -> Path:
    """Give a learner's file a free name and return it."""
    free = _free_name(path)
    os.replace(path, free)
    return free


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.stem}.mine-{number}{path.suffix}")).exists():
        number += 1
    return free


def _hashes(path: Path, whole: bytes) -> list[str]:
    """Return the hashes of a file's whole content, of what was typed into it, and set in it."""
    seen = (whole, _typed(path, whole), _set(path, whole))
    return [hashlib.sha256(data).hexdigest() for data in seen]


def _typed(path: Path, whole: bytes) -> bytes:
    """Return the cells of a notebook without their outputs; of anything else, all of it."""
    if path.suffix != ".ipynb":
        return whole
    try:
        cells = json.loads(whole)["cells"]
        return json.dumps([[c["cell_type"], "".join(c["source"])] for c in cells]).encode()
    except NO_NOTEBOOK:  # not any more, but still theirs
        return whole


def _set(path: Path, whole: bytes) -> bytes:
    """Return what a person set in a notebook beside its text: metadata, and pictures in cells."""
    if path.suffix != ".ipynb":
        return b""
    try:
        notebook = json.loads(whole)
        cells = [(c.get("attachments") or {}, _of_people(c)) for c in notebook["cells"]]
        return json.dumps([_of_people(notebook), cells], sort_keys=True).encode()
    except NO_NOTEBOOK:
        return b""


def _of_people(part: dict[str, Any]) -> dict[str, Any]:
    metadata = part.get("metadata") or {}
    return {name: value for name, value in metadata.items() if value and name not in OF_EDITORS}


def _read_manifest(copy: Path) -> dict[str, list[str]]:
    """Return the noted hashes; none if the note is missing or unreadable, which is safe."""
    try:
        found = json.loads((copy / MANIFEST).read_text(encoding="utf-8"))
        return {name: hashes for name, hashes in found.items() if _are_hashes(hashes)}
    except (OSError, *NO_NOTEBOOK):
        return {}


def _are_hashes(noted: Any) -> bool:
    """Return whether a note can be used; earlier versions of the kit noted two hashes."""
    return (
        isinstance(noted, list)
        and len(noted) in (2, 3)
        and all(isinstance(each, str) for each in noted)
    )


def _write_manifest(copy: Path, manifest: dict[str, list[str]]) -> None:
    _write(copy / MANIFEST, (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode())
