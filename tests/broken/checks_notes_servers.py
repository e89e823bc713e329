"""Broken note servers: a small sound one with one fault each, by the check that must notice it."""

import json
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from agentkit.checks.notes import BuildServer

READS = ToolAnnotations(read_only_hint=True)
CHANGES = ToolAnnotations(read_only_hint=False)
Title = Annotated[str, Field(description="Short title, e.g. 'Report'")]
Text = Annotated[str, Field(description="What to remember, e.g. 'due Friday'")]
Limit = Annotated[int, Field(description="Most notes to return, e.g. 20")]


class Saved(BaseModel):
    title: str


class Whole(BaseModel):
    title: str
    text: str


class Row(BaseModel):
    title: str


class Page(BaseModel):
    notes: list[Row]
    total: int
    left_out: int


class Sound:
    """A note server that passes `CHECKS` and `LIST_CHECKS`."""

    describes = "Keep a note. Use when asked to. Returns its title."
    reads = READS
    title: Any = Title
    result: Any = Saved

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> dict[str, str]:
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def save(self, notes: dict[str, str]) -> None:
        self.path.write_text(json.dumps(notes, ensure_ascii=False), encoding="utf-8")

    def check(self, title: str) -> None:
        if len(title) > 80:
            raise ToolError("The title is too long; at most 80 characters are allowed.")

    def write(self, title: str, text: str) -> Any:
        self.check(title)
        self.save({**self.load(), title: text})
        return Saved(title=title)

    def read(self, note: str) -> Whole:
        notes = self.load()
        if note not in notes:
            raise ToolError(self.unknown(note, list(notes)))
        return Whole(title=note, text=notes[note])

    def unknown(self, note: str, titles: list[str]) -> str:
        return f"There is no note {note!r}. There are: {', '.join(titles)}."

    def page(self, limit: int) -> Page:
        titles = sorted(self.load())
        rows = [Row(title=title) for title in titles[:limit]]
        return Page(notes=rows, total=len(titles), left_out=len(titles) - len(rows))

    def build(self) -> MCPServer[Any]:
        server: MCPServer[Any] = MCPServer("sound", log_level="CRITICAL")

        @server.tool(description=self.describes, annotations=CHANGES)
        def write_note(title: self.title, text: Text) -> self.result:
            return self.write(title, text)

        @server.tool(description=self.describes, annotations=self.reads)
        def read_note(note: Title) -> Whole:
            return self.read(note)

        @server.tool(description=self.describes, annotations=READS)
        def list_notes(limit: Limit = 20) -> Page:
            return self.page(limit)

        return server


class CutsText(Sound):
    def read(self, note: str) -> Whole:
        whole = super().read(note)
        return Whole(title=note, text=whole.text.splitlines()[0])


class ThreeBytes(Sound):
    """Keeps no character beyond U+FFFF, as a database of old."""

    def save(self, notes: dict[str, str]) -> None:
        super().save({k: "".join(c for c in text if c <= "\uffff") for k, text in notes.items()})


class Escaped(Sound):
    def save(self, notes: dict[str, str]) -> None:
        self.path.write_text(json.dumps(notes), encoding="utf-8")


class KeepsTheFirst(Sound):
    def write(self, title: str, text: str) -> Saved:
        self.check(title)
        self.save({title: text, **self.load()})
        return Saved(title=title)


class StartsEmpty(Sound):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        path.unlink(missing_ok=True)


class LoadsOnce(Sound):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.notes = super().load()

    def load(self) -> dict[str, str]:
        return self.notes

    def save(self, notes: dict[str, str]) -> None:
        self.notes = notes
        super().save(notes)


class PoliteFailure(Sound):
    """Returns the words of an error instead of raising them."""

    def read(self, note: str) -> Whole:
        titles = list(self.load())
        return super().read(note) if note in titles else Whole(title=note, text=str(titles))


class MuteFailure(Sound):
    """Raises an error whose words the SDK hides."""

    def read(self, note: str) -> Whole:
        titles = list(self.load())
        if note not in titles:
            raise ValueError(self.unknown(note, titles))
        return super().read(note)


class AnyTitle(Sound):
    def check(self, title: str) -> None:
        pass


class OnePart(Sound):
    describes = "Keep a note."


class Wordy(Sound):
    describes = "Keep a note. " * 40 + "Use when asked to. Returns its title."


class NoExample(Sound):
    title = Annotated[str, Field(description="The title")]


class SilentReader(Sound):
    reads = CHANGES


class Prose(Sound):
    result = str

    def write(self, title: str, text: str) -> str:
        super().write(title, text)
        return f"I have saved {title} for you."


class NoCount(Sound):
    def page(self, limit: int) -> Page:
        page = super().page(limit)
        return page.model_copy(update={"left_out": 0})


class NoNotes(Sound):
    def page(self, limit: int) -> Page:
        page = super().page(limit)
        return page.model_copy(update={"notes": [Row(title="?") for _ in page.notes]})


class SilentList(Sound):
    def build(self) -> MCPServer[Any]:
        server = super().build()
        server.remove_tool("list_notes")

        @server.tool(description=self.describes)
        def list_notes(limit: Limit = 20) -> Page:
            return self.page(limit)

        return server


def building(kind: type[Sound]) -> BuildServer:
    """Return what makes a server of this kind for a file."""
    return lambda path: kind(path).build()


SERVERS = {
    "a_written_note_can_be_read": CutsText,
    "chinese_and_emoji_survive": ThreeBytes,
    "a_person_can_read_the_file": Escaped,
    "writing_again_replaces": KeepsTheFirst,
    "notes_outlive_the_server": StartsEmpty,
    "two_servers_share_a_file": LoadsOnce,
    "an_unknown_note_is_an_error_to_learn_from": PoliteFailure,
    "a_long_title_is_refused": AnyTitle,
    "descriptions_have_three_parts": OnePart,
    "descriptions_are_short": Wordy,
    "arguments_are_described": NoExample,
    "reading_tools_say_so": SilentReader,
    "results_are_structured": Prose,
}
LISTS = {
    "a_list_names_all_notes": NoNotes,
    "a_list_says_what_it_left_out": NoCount,
    "listing_says_that_it_reads": SilentList,
}
