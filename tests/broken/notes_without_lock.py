"""Broken: reads, changes and writes without a lock, so one writer undoes the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from servers._json_file import JsonFile


class WithoutLock(JsonFile):
    @contextlib.contextmanager
    def _locked(self, *, for_reading: bool = False) -> Iterator[None]:
        yield
