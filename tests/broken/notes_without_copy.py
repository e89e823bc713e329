"""Broken: keeps no second copy, so a truncated file takes its notes with it."""

from __future__ import annotations

from servers._json_file import Document, JsonFile, _replace, _temporary, _to_bytes


class WithoutCopy(JsonFile):
    def _save(self, document: Document) -> None:
        _replace(_temporary(self.path, _to_bytes(document), mode_of=self.path), self.path)
