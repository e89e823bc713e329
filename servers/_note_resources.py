"""What a program may read and a person may choose: resources, a prompt, completions.

    memory://user/preferences   what a person wrote under "preferences" in the file
    note://{id}                 one note as Markdown; the id is completed while it is typed
    weekly_review(focus)        a prompt that names the notes of the last seven days

A model does not ask for these: the host's program reads a resource into the window, and
the user picks a prompt from a menu.

Read after: _note_store.py, _note_models.py.     Read next: notes.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Annotated, Any

import anyio.to_thread
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import (
    INTERNAL_ERROR,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from pydantic import Field

from servers._json_file import StoreError
from servers._note_models import whole
from servers._note_store import MAX_TITLE_CHARS, NoteStore, clean
from servers._run import Clock
from servers._told import completion_of, told_as

MAX_REVIEWED = 20  # notes named in the weekly review
REVIEW_DAYS = 7


def add_resources(server: MCPServer[Any], store: NoteStore) -> None:
    @server.resource(
        "memory://user/preferences",
        title="The user's preferences",
        description='What a person wrote under "preferences" in the note file; {} if nothing. '
        "No tool can change it.",
        mime_type="application/json",
    )
    def preferences() -> str:
        with told_as(ResourceError, StoreError):
            return json.dumps(store.preferences(), ensure_ascii=False)

    @server.resource(
        "note://{id}",
        title="One note",
        description="The note with this id as Markdown, e.g. note://n0001.",
        mime_type="text/markdown",
    )
    def note(id: str) -> str:  # noqa: A002 - the template gives the name
        with told_as(ResourceError, StoreError):
            matches = [note for note in store.notes() if note.id == id]
        if not matches:
            raise ResourceNotFoundError(f"There is no note {id!r}; list_notes shows the ids.")
        shown = whole(matches[0])
        cut = f"\n\n({shown.cut_chars} characters left out)" if shown.cut_chars else ""
        return f"# {shown.title}\n\n{shown.text}{cut}\n"


def add_prompt(server: MCPServer[Any], store: NoteStore, clock: Clock) -> None:
    @server.prompt(
        title="Weekly review",
        description="Go through the notes of the last seven days, all or on one subject.",
    )
    def weekly_review(
        focus: Annotated[str, Field(description="A subject, e.g. 'report'; empty for all")] = "",
    ) -> str:
        focus = " ".join(clean(focus).split())
        since = (clock() - timedelta(days=REVIEW_DAYS)).isoformat()
        try:
            notes = [hit.note for hit in store.search(focus)] if focus else store.notes()
        except StoreError as error:
            raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error
        recent = [note for note in notes if note.updated >= since]
        rows = [f"- {note.id}: {note.title[:MAX_TITLE_CHARS]}" for note in recent[:MAX_REVIEWED]]
        left_out = len(recent) - len(rows)
        return "\n".join(
            [
                f"Review my notes of the last {REVIEW_DAYS} days"
                + (f" about {focus}." if focus else "."),
                "Read each with read_note, then tell me what is done, what is open and what to do "
                "first. Answer in the language of the notes.",
                *(rows or ["(There are none.)"]),
                *([f"({left_out} more; list_notes shows them.)"] if left_out else []),
            ]
        )


def add_completions(server: MCPServer[Any], store: NoteStore) -> None:
    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """Offer ids for `note://{id}` and titles for the focus of the review."""
        typed = clean(argument.value).casefold()
        try:
            notes = await anyio.to_thread.run_sync(store.notes)
        except StoreError:
            return None  # whoever is typing will read the reason from the call itself
        notes = [n for n in notes if n.id.startswith(typed) or typed in n.title.casefold()]
        if isinstance(ref, ResourceTemplateReference) and argument.name == "id":
            values = [note.id for note in notes]
        elif isinstance(ref, PromptReference) and argument.name == "focus":
            values = list(dict.fromkeys(note.title[:MAX_TITLE_CHARS] for note in notes))
        else:
            return None
        return completion_of(values)
