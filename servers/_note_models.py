"""What the note tools take and give back, as the model and the host see it.

    Annotated[str, Field(...)] ──▶ input schema        BaseModel ──▶ output schema

Everything here ends up in a schema that a model reads, so each argument has an example,
and each result is small: what can be long is cut, and how much was cut is said.

Read after: _note_store.py.     Read next: notes.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from servers._note_store import MAX_NOTE_CHARS, MAX_QUERY_CHARS, MAX_TITLE_CHARS, Note, Outcome
from servers._search import EXCERPT_CHARS, Hit, excerpt

MAX_LISTED = 50  # rows of about 40 tokens: a full list stays near 2,000 tokens
MAX_HITS = 20  # excerpts of about 80 tokens, likewise


def _limit(max_chars: int) -> dict[str, object]:
    """Put a limit into the schema without a check: the store's own refusal says more."""
    return {"maxLength": max_chars}


Title = Annotated[
    str,
    Field(
        description="Short title, e.g. 'Report for next week'",
        examples=["Report for next week"],
        json_schema_extra=_limit(MAX_TITLE_CHARS),
    ),
]
Text = Annotated[
    str,
    Field(
        description="What to remember, e.g. 'Finish the project report; focus on tests.'",
        examples=["Finish the project report; focus on tests."],
        json_schema_extra=_limit(MAX_NOTE_CHARS),
    ),
]
IdOrTitle = Annotated[
    str,
    Field(
        description="Id or whole title of the note, e.g. 'n0001'",
        examples=["n0001"],
        json_schema_extra=_limit(MAX_TITLE_CHARS),
    ),
]
Query = Annotated[
    str,
    Field(
        description="One to five words to look for, e.g. 'report performance' or '性能测试'",
        examples=["report performance"],
        json_schema_extra=_limit(MAX_QUERY_CHARS),
    ),
]
HitLimit = Annotated[
    int, Field(description="Most notes to return, e.g. 5", examples=[5], ge=1, le=MAX_HITS)
]
ListLimit = Annotated[
    int, Field(description="Most notes to return, e.g. 20", examples=[20], ge=1, le=MAX_LISTED)
]
Offset = Annotated[
    int,
    Field(
        description="How many to skip: next_offset of the last page, e.g. 20", examples=[0], ge=0
    ),
]


class NoteWritten(BaseModel):
    """A saved note."""

    id: str
    title: str
    chars: int = Field(description="Length of the text")
    outcome: Outcome = Field(description="replaced: a note with this title had another text")


class NoteRow(BaseModel):
    """One note in a list."""

    id: str
    title: str
    begins: str = Field(description="First characters of the text")
    chars: int
    updated: str


class NoteList(BaseModel):
    """One page of notes, the last changed first."""

    notes: list[NoteRow]
    total: int = Field(description="How many notes there are in all")
    left_out: int = Field(description="How many come after this page")
    next_offset: int | None = Field(description="offset of the next page; null at the end")


class NoteText(BaseModel):
    """One whole note."""

    id: str
    title: str
    text: str
    created: str
    updated: str
    cut_chars: int = Field(description="Characters left out at the end; 0 if whole")


class NoteHit(BaseModel):
    """One note that matches a search."""

    id: str
    title: str
    excerpt: str
    score: float = Field(description="Share of the query found; 1.0 is all of it, in the title")
    matched: list[str]


class NotesFound(BaseModel):
    """The best matches of a search."""

    query: str
    hits: list[NoteHit]
    total: int = Field(description="How many notes match in all")
    left_out: int = Field(description="How many matches are not in hits")
    remark: str | None = Field(description="Said when nothing matches")


class NoteDeleted(BaseModel):
    """A note that is gone."""

    id: str
    title: str
    notes_left: int


def written(note: Note, outcome: Outcome) -> NoteWritten:
    """Say what was saved, without sending the text back."""
    return NoteWritten(id=note.id, title=note.title, chars=len(note.text), outcome=outcome)


def listed(notes: Sequence[Note], *, offset: int, limit: int) -> NoteList:
    """Cut one page out of all notes."""
    page = notes[offset : offset + limit]
    left_out = max(0, len(notes) - offset - len(page)) if page else 0
    return NoteList(
        notes=[
            NoteRow(
                id=note.id,
                title=note.title[:MAX_TITLE_CHARS],
                begins=excerpt(note.text, (), max_chars=60),
                chars=len(note.text),
                updated=note.updated,
            )
            for note in page
        ],
        total=len(notes),
        left_out=left_out,
        next_offset=offset + len(page) if left_out else None,
    )


def whole(note: Note) -> NoteText:
    """Return one note; only a text that a person made too long is cut."""
    return NoteText(
        id=note.id,
        title=note.title[:MAX_TITLE_CHARS],
        text=note.text[:MAX_NOTE_CHARS],
        created=note.created,
        updated=note.updated,
        cut_chars=max(0, len(note.text) - MAX_NOTE_CHARS),
    )


def found(query: str, hits: Sequence[Hit[Note]], *, limit: int) -> NotesFound:
    """Return the best hits with the part of each text that matched."""
    shown = [
        NoteHit(
            id=hit.note.id,
            title=hit.note.title[:MAX_TITLE_CHARS],
            excerpt=excerpt(hit.note.text, hit.matched, max_chars=EXCERPT_CHARS),
            score=hit.score,
            matched=list(hit.matched),
        )
        for hit in hits[:limit]
    ]
    return NotesFound(
        query=query,
        hits=shown,
        total=len(hits),
        left_out=len(hits) - len(shown),
        remark=None if hits else "No note matches. That is the answer; other words may find more.",
    )
