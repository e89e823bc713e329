"""Puts whole files in place, or none: what is killed half-way leaves the old files.

    data ──▶ a.tmp, b.tmp, each to the disk in full ──▶ rename to a ──▶ rename to b

A rename is the one change to a file that a system makes at once. What a killed writer
leaves is its .tmp, and the next writer of the same file removes that.

Read after: nothing.     Read next: _json_file.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

WINDOWS_REPLACE_TRIES = 50  # of 20 ms: Windows cannot replace what a virus scanner reads
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def put(data: bytes, targets: Sequence[Path], *, mode_of: Path) -> None:
    """Write `data` beside every target, in full and to the disk; then rename, in this order."""
    temporaries = [target.with_name(f"{target.name}.tmp") for target in targets]
    try:
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)
            with open(os.open(temporary, _NEW_FILE, 0o600), "wb") as stream:  # notes are private
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            if mode_of.exists():
                shutil.copymode(mode_of, temporary)
        for temporary, target in zip(temporaries, targets, strict=True):
            _replace(temporary, target)
    finally:
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)
    _sync_folder(targets[0].parent)


def _replace(temporary: Path, target: Path) -> None:
    """Rename in one step; on Windows wait a moment for programs that look at the target."""
    for _ in range(WINDOWS_REPLACE_TRIES if os.name == "nt" else 0):
        try:
            os.replace(temporary, target)
            return
        except PermissionError:
            time.sleep(0.02)
    os.replace(temporary, target)


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where the system can."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
