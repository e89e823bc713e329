"""Broken: keeps no second copy, so a truncated file takes its notes with it."""

from __future__ import annotations

from servers._disk import put
from servers._json_file import Document, JsonFile, _to_bytes


class WithoutCopy(JsonFile):
    def _save(self, document: Document) -> None:
        put(_to_bytes(document), [self.path], mode_of=self.path)
