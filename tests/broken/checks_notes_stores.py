"""Broken stores under the note server of the kit, by the check that must notice each."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp.server import MCPServer

from servers import _json_file, _note_store, notes
from servers._json_file import Document, JsonFile
from tests.broken.notes_over_damage import OverDamage

MEETING_S = 2.0  # how long a lone writer waits for another one to meet


_barriers: defaultdict[Path, threading.Barrier] = defaultdict(lambda: threading.Barrier(2))


class Meeting(JsonFile):
    """No lock; the first two writers of a file load it together, then both save."""

    @contextlib.contextmanager
    def _locked(self, *, for_reading: bool = False) -> Iterator[None]:
        yield

    @contextlib.contextmanager
    def change(self) -> Iterator[Document]:
        with super().change() as document:
            with contextlib.suppress(threading.BrokenBarrierError):
                barrier = _barriers[self.path]
                barrier.wait(MEETING_S)
                barrier.abort()
            yield document


def without_lock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_note_store, "JsonFile", Meeting)


def over_damage(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_note_store, "JsonFile", OverDamage)


def half_an_emoji_on_disk(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_note_store, "clean", lambda text: text)
    patch.setattr(_json_file, "_to_bytes", _anything_goes)


def _anything_goes(document: Document) -> bytes:
    text = _json_file.json.dumps(document, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def the_sdks_words(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(notes, "PlainServer", MCPServer)


BREAKS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "writers_at_once_lose_nothing": without_lock,
    "a_damaged_file_is_kept": over_damage,
    "half_an_emoji_harms_nothing": half_an_emoji_on_disk,
    "wrong_arguments_are_told_the_form": the_sdks_words,
}
