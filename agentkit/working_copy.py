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
an edit. What was copied is noted as hashes in a small file beside the notebooks.

Read next: lab.py.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from agentkit.errors import SetupError

MANIFEST = ".agentkit.json"
SKIPPED = ("conftest.py", "__pycache__", ".ipynb_checkpoints")


@dataclass(frozen=True, slots=True)
class Update:
    """What `update` did, as names relative to the working copy.

    Attributes:
        copied: Were not there before.
        refreshed: Changed in the kit; the learner had typed nothing into them.
        kept: Changed in the kit *and* by the learner, whose version stays.
        emptied: Copied with their outputs by an earlier version of the kit and never saved
            by the learner; without outputs now.
    """

    copied: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)


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
    try:
        copy.mkdir(parents=True, exist_ok=True)
        manifest = _read_manifest(copy)
        for name in files_of(originals):
            _update_one(originals / name, copy / name, name, manifest, done)
        _write_manifest(copy, manifest)
    except OSError as error:
        raise SetupError(
            f"The working copy {copy} cannot be written: {error}.",
            hint="Name a folder of yours: agentkit lab --folder PATH",
        ) from error
    return done


def restore(originals: Path, copy: Path, name: str) -> str | None:
    """Put the original in place of a learner's version, which is kept if they typed in it.

    Returns:
        The name under which the learner's version was kept, e.g.
        "03_watching_the_window_fill.mine-1.ipynb", or None if nothing was typed into it.
    """
    manifest = _read_manifest(copy)
    target = copy / name
    kept = None
    ours = (_typed_into(originals / name), *manifest.get(name, ())[1:])  # now, and as copied
    if target.exists() and _typed_into(target) not in ours:
        kept = _free_name(target)
        os.replace(target, kept)
    _copy(originals / name, target, name, manifest)
    _write_manifest(copy, manifest)
    return kept.name if kept else None


def _update_one(
    original: Path, mine: Path, name: str, manifest: dict[str, list[str]], done: Update
) -> None:
    now, noted = _hashes(original, _unrun(original)), manifest.get(name)
    if not mine.exists():
        _copy(original, mine, name, manifest)
        done.copied.append(name)
        return
    whole, typed = _hashes(mine, mine.read_bytes())
    if typed == now[1]:  # the same cells: nothing a learner could miss
        if noted is not None and whole == noted[0] != now[0]:
            if _unrun(mine) != mine.read_bytes():
                done.emptied.append(name)
            _copy(original, mine, name, manifest)
        manifest[name] = now
    elif noted is not None and noted[1] == typed:
        _copy(original, mine, name, manifest)
        done.refreshed.append(name)
    elif noted is None or noted[1] != now[1]:
        done.kept.append(name)


def _copy(original: Path, target: Path, name: str, manifest: dict[str, list[str]]) -> None:
    """Write through a second name, so that no reader ever sees half a notebook."""
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f"{target.name}.{os.getpid()}.new")
    fresh = _unrun(original)
    half.write_bytes(fresh)
    os.replace(half, target)
    manifest[name] = _hashes(original, fresh)


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
    except (ValueError, KeyError, TypeError, AttributeError):  # not a notebook
        return whole
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.stem}.mine-{number}{path.suffix}")).exists():
        number += 1
    return free


def _hashes(path: Path, whole: bytes) -> list[str]:
    """Return the hash of the whole content of a file, and of what was typed into it."""
    return [hashlib.sha256(data).hexdigest() for data in (whole, _typed(path, whole))]


def _typed_into(path: Path) -> str:
    """Return the hash of what was typed into a file."""
    return _hashes(path, path.read_bytes())[1]


def _typed(path: Path, whole: bytes) -> bytes:
    """Return the cells of a notebook without their outputs; of anything else, all of it."""
    if path.suffix != ".ipynb":
        return whole
    try:
        cells = json.loads(whole)["cells"]
        return json.dumps([[c["cell_type"], "".join(c["source"])] for c in cells]).encode()
    except (ValueError, KeyError, TypeError):  # not a notebook any more, but still theirs
        return whole


def _read_manifest(copy: Path) -> dict[str, list[str]]:
    """Return the noted hashes; none if the note is missing or unreadable, which is safe."""
    try:
        found = json.loads((copy / MANIFEST).read_text(encoding="utf-8"))
        return {str(name): [str(part) for part in pair] for name, pair in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _write_manifest(copy: Path, manifest: dict[str, list[str]]) -> None:
    half = copy / f"{MANIFEST}.{os.getpid()}.new"
    half.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(half, copy / MANIFEST)
