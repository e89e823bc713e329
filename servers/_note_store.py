"""Notes in one JSON file that a person can read.

    {
      "format": 1,
      "last_id": 1,
      "preferences": {"language": "中文"},          a person writes these, models only read them
      "notes": [
        {"id": "n0001", "title": "Report", "text": "Due on Friday.",
         "created": "2026-01-05T09:00:00Z", "updated": "2026-01-05T09:00:00Z"}
      ]
    }

A note is known by its id, which is never given again, and by its title: writing a title
that exists replaces that note's text and keeps the old one in the file as "before".
Fields that a person adds to the file are left alone.

Read after: _json_file.py, _search.py.     Read next: notes.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from servers._json_file import LOCK_TIMEOUT_S, Document, JsonFile, StoreError
from servers._search import Hit, normal, rank, terms
from servers._valid_json import valid_text

FORMAT = 1
MAX_TITLE_CHARS = 200  # a title is read in lists, some 20 at a time
MAX_NOTE_CHARS = 4_000  # about 1,000 tokens of English: a note fits any window whole
MAX_QUERY_CHARS = 400  # a search is a few words; a longer text finds everything
_FIELDS = ("id", "title", "text", "created", "updated")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_COUNTED_ID = re.compile(r"n(\d{1,9})", re.ASCII)

Outcome = Literal["created", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True)
class Note:
    """One note.

    Attributes:
        id: Unique in its file and never given again, e.g. "n0001".
        title: One line, e.g. "Report for next week".
        text: Up to `MAX_NOTE_CHARS` characters; more only if a person edited the file.
        created: In UTC, e.g. "2026-01-05T09:00:00Z".
        updated: When the text last changed; the same form.
    """

    id: str
    title: str
    text: str
    created: str
    updated: str


class NoteStore:
    """Writes, finds and deletes notes. Every call reads the file anew.

    Args:
        path: The JSON file; need not exist yet.
        clock: Returns the present moment; asked once for each note that changes.
        lock_timeout_s: How long to wait for another process on the same file.

    All methods raise `StoreError`; its text says what to do.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        self._file = JsonFile(path, empty=_empty, check=check_shape, lock_timeout_s=lock_timeout_s)
        self._clock = clock

    @property
    def path(self) -> Path:
        """Where the notes are, as an absolute path."""
        return self._file.path

    def write(self, title: str, text: str) -> tuple[Note, Outcome]:
        """Save a note and return it. A note with the same title gets the new text."""
        title, text = _checked(title, text)
        with self._file.change() as document:
            key = _key(title)
            matches = [raw for raw in document["notes"] if _key(raw["title"]) == key]
            if not matches:
                return self._add(document, title, text), "created"
            if len(matches) > 1:
                raise StoreError(_ambiguous(title, [_note(raw) for raw in matches]))
            raw = matches[0]
            if raw["title"] == title and raw["text"] == text:
                return _note(raw), "unchanged"
            raw.update(title=title, text=text, before=raw["text"], updated=self._now())
            return _note(raw), "replaced"

    def notes(self) -> list[Note]:
        """Return all notes, the last changed first, ties by id."""
        notes = sorted(map(_note, self._file.read()["notes"]), key=lambda note: note.id)
        return sorted(notes, key=lambda note: note.updated, reverse=True)

    def find(self, id_or_title: str) -> Note:
        """Return the note with this id or, if there is none, this title."""
        return _find(id_or_title, list(map(_note, self._file.read()["notes"])))

    def search(self, query: str) -> list[Hit[Note]]:
        """Return the notes that share a word with the query, best first, ties by id."""
        query = clean(query).strip()
        if len(query) > MAX_QUERY_CHARS:
            raise StoreError(
                f"The query has {len(query):,} characters; at most {MAX_QUERY_CHARS} are allowed. "
                "Search for one to five words, e.g. 'report performance'."
            )
        if not terms(query):
            raise StoreError(
                "The query has no word or number to look for. Search for one to five words, e.g. "
                "'report performance' or '性能测试'; list_notes shows everything."
            )
        return rank(query, self.notes())

    def delete(self, id_or_title: str) -> tuple[Note, int]:
        """Remove one note; return it, and how many are left."""
        with self._file.change() as document:
            note = _find(id_or_title, list(map(_note, document["notes"])))
            document["notes"] = [raw for raw in document["notes"] if raw["id"] != note.id]
            return note, len(document["notes"])

    def preferences(self) -> dict[str, Any]:
        """Return what a person wrote under "preferences" in the file; {} if nothing."""
        preferences = self._file.read().get("preferences", {})
        size = len(json.dumps(preferences, ensure_ascii=False))
        if size > MAX_NOTE_CHARS:
            raise StoreError(
                f"The preferences in {self.path.name} have {size:,} characters; at most "
                f"{MAX_NOTE_CHARS:,} are read. Shorten them in the file."
            )
        return dict(preferences)

    def _add(self, document: Document, title: str, text: str) -> Note:
        taken = [_COUNTED_ID.fullmatch(raw["id"]) for raw in document["notes"]]
        numbers = [int(match[1]) for match in taken if match]
        number = max([document.get("last_id", 0), *numbers]) + 1
        now = self._now()
        note = Note(f"n{number:04d}", title, text, created=now, updated=now)
        document["last_id"] = number
        document["notes"].append({name: getattr(note, name) for name in _FIELDS})
        return note

    def _now(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def clean(text: str) -> str:
    """Return text that every JSON reader takes: valid Unicode, no control characters.

    Half a surrogate pair becomes U+FFFD; it would kill a stdio connection.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    valid = valid_text(lines)
    return _CONTROLS.sub("", valid)


def check_shape(document: Any) -> None:
    """Raise `ValueError` with the reason if this is not a document of notes.

    Raises:
        StoreError: It is one, but of a newer version of this program.
    """
    if not isinstance(document, dict):
        raise ValueError(f"it holds a JSON {type(document).__name__} instead of an object")
    number = document.get("format", FORMAT)
    if not isinstance(number, int) or not isinstance(document.get("last_id", 0), int):
        raise ValueError('"format" and "last_id" must be whole numbers')
    if number > FORMAT:
        raise StoreError(
            f"The note file has format {number}; this server reads up to format {FORMAT}. It was "
            "left as it is. Update agentkit, or start the server with --file and another file."
        )
    if not isinstance(document.get("notes"), list):
        raise ValueError('it has no list "notes"')
    if not isinstance(document.get("preferences", {}), dict):
        raise ValueError('"preferences" is not an object')
    for place, raw in enumerate(document["notes"], start=1):
        missing = [
            n for n in _FIELDS if not isinstance(raw, dict) or not isinstance(raw.get(n), str)
        ]
        if missing:
            raise ValueError(f"note {place} has no text under {', '.join(missing)}")
    ids = [normal(raw["id"]) for raw in document["notes"]]
    if len(set(ids)) < len(ids):
        raise ValueError(f"{len(ids) - len(set(ids))} ids occur twice")


def _empty() -> Document:
    return {"format": FORMAT, "last_id": 0, "preferences": {}, "notes": []}


def _note(raw: dict[str, Any]) -> Note:
    return Note(*(raw[name] for name in _FIELDS))


def _key(title: str) -> str:
    """Return a title for comparing: case, width and spaces do not count."""
    return " ".join(normal(title).split())


def _checked(title: str, text: str) -> tuple[str, str]:
    """Return title and text as they will be stored, or say why they will not."""
    title, text = " ".join(clean(title).split()), clean(text).strip("\n")
    if not title or not text.strip():
        raise StoreError(
            f"The {'title' if not title else 'text'} is empty, so nothing was saved. Send both, "
            "e.g. title 'Report' and text 'Finish it next week.'"
        )
    if len(title) > MAX_TITLE_CHARS:
        raise StoreError(
            f"The title has {len(title):,} characters; at most {MAX_TITLE_CHARS} are allowed, and "
            "nothing was saved. Give it a short title and put the rest into the text."
        )
    if len(text) > MAX_NOTE_CHARS:
        raise StoreError(
            f"The text has {len(text):,} characters; at most {MAX_NOTE_CHARS:,} are allowed, and "
            "nothing was saved. Split it into several notes, e.g. 'Report 1' and 'Report 2'."
        )
    return title, text


def _find(id_or_title: str, notes: list[Note]) -> Note:
    wanted = clean(id_or_title).strip().removeprefix("note://")
    as_id, key = normal(wanted), _key(wanted)
    matches = [note for note in notes if normal(note.id) == as_id]
    matches = matches or [note for note in notes if _key(note.title) == key]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise StoreError(_ambiguous(wanted, matches))
    raise StoreError(_not_found(wanted, notes))


def _ambiguous(title: str, notes: list[Note]) -> str:
    ids = ", ".join(note.id for note in notes[:5])
    return f"{len(notes)} notes have the title {_short(title)}: {ids}. Give the id of one."


def _not_found(wanted: str, notes: list[Note]) -> str:
    if not notes:
        return f"There is no note {_short(wanted)}: there are no notes yet."
    names = {_key(note.title)[:MAX_TITLE_CHARS]: note for note in notes}
    names |= {normal(note.id): note for note in notes}
    close = [names[name] for name in get_close_matches(_key(wanted)[:MAX_TITLE_CHARS], names, n=3)]
    shared = [hit.note for hit in rank(wanted[:MAX_QUERY_CHARS], notes)[:3]]
    near = list(dict.fromkeys(close + shared))[:3]
    listed = ", ".join(f"{note.id} {_short(note.title)}" for note in near)
    return (
        f"There is no note {_short(wanted)}. "
        + (f"Near: {listed}. " if near else "")
        + "Give an id or a whole title; search_notes finds notes by their words."
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
