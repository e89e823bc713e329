"""A process that writes notes and says each one that was acknowledged; it may die on the way.

    python writer.py FILE NAME COUNT [--json-file MODULE:CLASS] [--die-at STEP]

STEP counts the calls that the store makes to the system while it writes: open, fsync and
replace. The process kills itself just before that call, which no signal from outside
can time so well. Every acknowledged note is one line on standard output: its title.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from servers import _note_store


def die_at(step: int) -> None:
    """Make the given system call of this process its last."""
    steps_left = iter(range(step - 1, -1, -1))

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if next(steps_left, 1) == 0:
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
            return call(*args, **kwargs)

        return wrapped

    os.open, os.fsync, os.replace = counted(os.open), counted(os.fsync), counted(os.replace)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("name")
    parser.add_argument("count", type=int)
    parser.add_argument("--json-file")
    parser.add_argument("--die-at", type=int)
    arguments = parser.parse_args()
    if arguments.json_file:
        module, _, name = arguments.json_file.partition(":")
        _note_store.JsonFile = getattr(importlib.import_module(module), name)  # type: ignore[misc]
    store = _note_store.NoteStore(arguments.file, lock_timeout_s=60)
    if arguments.die_at:
        die_at(arguments.die_at)
    for i in range(arguments.count):
        title = f"{arguments.name} {i}"
        store.write(title, f"{title} 重点 " * 20)
        os.write(1, f"{title}\n".encode())


if __name__ == "__main__":
    main()
