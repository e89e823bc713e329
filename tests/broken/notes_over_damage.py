"""Broken: takes a file that it cannot read for an empty one, and writes over it."""

from __future__ import annotations

from typing import NoReturn

from servers._json_file import JsonFile, StoreError


class OverDamage(JsonFile):
    def _put_right(self, data: bytes, why: str) -> NoReturn:
        self._save(self._empty())
        raise StoreError(f"{self.path.name} was damaged: {why}. An empty file is in its place.")
