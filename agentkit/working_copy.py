"""A learner's own copy of the notebooks, which an update refreshes and never overwrites.

    originals   as copied   the learner's     what update() does
    ─────────   ─────────   ─────────────     ──────────────────────────────────
    A           –           –                 copies A
    A           A           anything          nothing
    B           A           A                 refreshes: B
    B           A           A, edited         keeps it, and says so

A run changes a notebook's outputs, not its cells: only what somebody typed counts as
an edit. What was copied is noted as hashes in a small file beside the notebooks.

Read next: lab.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
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
    """

    copied: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


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
    """Put the original in place of a learner's version, which is kept beside it.

    Returns:
        The name under which the learner's version was kept, e.g.
        "03_watching_the_window_fill.mine-1.ipynb", or None if nothing was there to keep.
    """
    manifest = _read_manifest(copy)
    target = copy / name
    kept = None
    if target.exists() and target.read_bytes() != (originals / name).read_bytes():
        kept = _free_name(target)
        os.replace(target, kept)
    _copy(originals / name, target, name, manifest)
    _write_manifest(copy, manifest)
    return kept.name if kept else None


def _update_one(
    original: Path, mine: Path, name: str, manifest: dict[str, list[str]], done: Update
) -> None:
    now = _hashes(original)
    if not mine.exists():
        _copy(original, mine, name, manifest)
        done.copied.append(name)
    elif _hashes(mine)[1] == now[1]:  # the same cells: nothing a learner could miss
        manifest[name] = now
    elif manifest.get(name) != now:
        if name in manifest and _hashes(mine)[1] == manifest[name][1]:
            _copy(original, mine, name, manifest)
            done.refreshed.append(name)
        else:
            done.kept.append(name)


def _copy(original: Path, target: Path, name: str, manifest: dict[str, list[str]]) -> None:
    """Copy through a second name, so that no reader ever sees half a notebook."""
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f"{target.name}.{os.getpid()}.new")
    shutil.copyfile(original, half)
    os.replace(half, target)
    manifest[name] = _hashes(original)


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.stem}.mine-{number}{path.suffix}")).exists():
        number += 1
    return free


def _hashes(path: Path) -> list[str]:
    """Return the hash of the whole file, and of what was typed into it."""
    whole = path.read_bytes()
    return [hashlib.sha256(data).hexdigest() for data in (whole, _typed(path, whole))]


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
