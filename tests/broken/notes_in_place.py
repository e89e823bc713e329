"""Broken: writes into the note file itself, so a killed writer leaves half of it."""

from __future__ import annotations

import os

from servers._json_file import Document, JsonFile, _to_bytes


class InPlace(JsonFile):
    def _save(self, document: Document) -> None:
        data = _to_bytes(document)
        with open(self.path, "wb") as stream:
            for start in range(0, len(data), 256):
                stream.write(data[start : start + 256])
                stream.flush()
                os.fsync(stream.fileno())
