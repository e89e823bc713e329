"""Reads other programs' transcripts into messages.

    OpenAI chat, OpenAI responses, Anthropic messages, Claude Code JSONL,
    LangChain dumps, lists of role and content, this kit's own traces
        ──read_transcript()──▶ Transcript(format, messages, system, tools, usage, faults, ...)
        ──Reading()──▶ one Entry after another, for a file that is larger than memory

The format is found by looking into the file, never by its name. What is no message is
counted under its name, what is broken is named with its place, and a file that is none
of these gets an error that says what was expected.

Read after: messages.py, trace.py.     Read next: transcript/reading.py, report/.
Built in:   notebooks/03_watching_the_window_fill.ipynb
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentkit.messages import Message, Usage
from agentkit.tools import ToolSpec
from agentkit.transcript.notes import EVERYTHING, Entry, Fault, Format, Notes
from agentkit.transcript.reading import Reading

__all__ = ["Entry", "Fault", "Notes", "Reading", "Transcript", "position_of", "read_transcript"]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A whole transcript.

    Attributes:
        format: E.g. "Claude Code JSONL".
        entries: Of the main chain, in order, as it ended: what was taken back is apart.
        system: The system prompt; empty where the file holds none.
        tools: That the model was offered; empty where the file does not say.
        pinned: Constraints that a trace of this kit names as pinned.
        model: Who answered last; empty where the file does not say.
        usage: The last that was reported, or None.
        skipped: What is no message, by name, with its number.
        faults: What is wrong, with its place.
        side: Entries of sub-agents.
        taken_back: Entries that a repeated prompt replaced.
        summaries: Titles or summaries beside the conversation.
        window_start: Position in `entries` of the last compression, 0 without one. Entries
            that stayed whole at it stand behind its summary.
    """

    format: Format
    entries: tuple[Entry, ...]
    system: str
    tools: tuple[ToolSpec, ...]
    pinned: tuple[str, ...]
    model: str
    usage: Usage | None
    skipped: Mapping[str, int]
    faults: tuple[Fault, ...]
    side: tuple[Entry, ...]
    taken_back: tuple[Entry, ...]
    summaries: tuple[str, ...]
    window_start: int = 0

    @property
    def messages(self) -> list[Message]:
        """Return what is in the window: orphans left out, the system prompt not among it.

        A call without a result is still there; `mend` makes the history sound.
        """
        return [entry.message for entry in self.entries[self.window_start :] if not entry.orphan]


def read_transcript(path: Path | str) -> Transcript:
    """Read a transcript whole. For a very large one, iterate a `Reading` instead.

    Raises:
        TranscriptError: It is no transcript that is known; says what was expected.
    """
    found = _read(Path(path), side_is_main=False)
    if not found.entries and found.side:
        return _read(Path(path), side_is_main=True)
    return found


def _read(path: Path, *, side_is_main: bool) -> Transcript:
    reading = Reading(path, side_is_main=side_is_main)
    main: list[Entry] = []
    side: list[Entry] = []
    back: list[Entry] = []
    start = 0
    for entry in reading:
        if entry.chain == "side":
            side.append(entry)
            continue
        if entry.rewinds_to:
            keep = position_of(entry.rewinds_to, [each.at for each in main])
            back += main[keep:]
            del main[keep:]
        if entry.starts_window:
            start = len(main)
        if entry.stays_from:
            start = position_of(entry.stays_from, [each.at for each in main])
            main.insert(start, entry)
            continue
        main.append(entry)
    notes = reading.notes
    usages = [entry.usage for entry in main if entry.usage is not None]
    models = [entry.model for entry in main if entry.model]
    return Transcript(
        notes.format,
        tuple(main),
        "\n\n".join(notes.system),
        tuple(notes.tools),
        tuple(notes.pinned),
        models[-1] if models else notes.model,
        notes.usage or (usages[-1] if usages else None),
        dict(notes.skipped),
        tuple(notes.faults),
        tuple(side),
        tuple(back),
        tuple(notes.summaries),
        start,
    )


def position_of(place: str, places: Sequence[str]) -> int:
    """Return where the entries of a place begin; 0 for `EVERYTHING`, the end for none."""
    if place == EVERYTHING:
        return 0
    at = len(places)
    while at and places[at - 1] != place:
        at -= 1
    while at > 1 and places[at - 2] == place:
        at -= 1
    return at - 1 if at else len(places)
