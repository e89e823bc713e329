"""Solutions of notebook 04. Each is one way among several.

Read after: ../04_a_note_server.ipynb.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

# 1 · Predict. The fourth is the surprise: the SDK leaves out an argument that it does not
# know, and the model believes that the note is pinned. A host can check before it sends.
GUESS = ["ok", "error", "error", "ok", "error", "error"]

# 3 · Break it. Half an emoji: a Python string can hold it, UTF-8 cannot. `write_text` opens
# the file, which empties it, and only then finds that the text cannot be encoded. Write a
# second file first and rename it when it is whole: then there is always one that is good.
KILLER = "\ud83d"


class Row(BaseModel):
    """One note in a list."""

    title: str


class Page(BaseModel):
    """Some notes, and how many there are. An empty one is an answer, not an error."""

    notes: list[Row]
    total: int
    left_out: int = Field(description="How many the limit cut off")


def add_listing(server: MCPServer[Any], path: Path) -> None:
    """2 · Build. `my_server` makes a `tiny_server`, gives it to this, and returns it."""

    @server.tool(
        description="List the titles of all notes. Use when the user asks what notes there are "
        "(list, 列出). Returns titles, total, and how many were left out.",
        annotations=ToolAnnotations(read_only_hint=True),
    )
    def list_notes(
        limit: Annotated[int, Field(description="Most notes to return, e.g. 20", ge=1)] = 20,
    ) -> Page:
        text = path.read_text(encoding="utf-8") if path.exists() else "{}"
        titles = sorted(json.loads(text))
        rows = [Row(title=title) for title in titles[:limit]]
        return Page(notes=rows, total=len(titles), left_out=len(titles) - len(rows))
