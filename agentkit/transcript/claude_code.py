"""Reads the JSONL that Claude Code keeps: one entry a line, a tree in a file.

    user ─▶ assistant ─▶ tool result ─▶ assistant ─▶ ...      the main chain
              └─▶ isSidechain: a sub-agent's own conversation
    compact_boundary   the window starts anew here, with a summary
    two prompts behind one entry: the first was taken back, with all that followed it

An answer of the model is written as several lines, one a block, each with the usage of
the whole; counted line by line it would count twice and more.

Read after: chat.py.     Read next: own.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agentkit.transcript.chat import Element, read_chat
from agentkit.transcript.notes import Chain, Entry, Notes

SPOKEN = ("user", "assistant")
COMPRESSED = "compact_boundary"
SYNTHETIC = "<synthetic>"  # the program's own words in the place of an answer


class ClaudeCode:
    """What has to be remembered from line to line.

    Args:
        side_is_main: Read the sub-agent's conversation as the main one: some files hold
            nothing else.
    """

    def __init__(self, *, side_is_main: bool = False) -> None:
        self._side_is_main = side_is_main
        self._boundary = False
        self._billed: set[str] = set()
        self._prompts: dict[str, str] = {}  # the place of the prompt behind an entry

    def is_entry(self, element: Element) -> bool:
        """Return whether this is an entry of such a file."""
        kind = element.get("type")
        if not isinstance(kind, str):
            return False
        ours = any(key in element for key in ("uuid", "parentUuid", "sessionId", "leafUuid"))
        spoken = kind in SPOKEN and isinstance(element.get("message"), dict)
        return spoken or (kind == "summary" and "summary" in element) or ours

    def read(self, element: Element, at: str, notes: Notes) -> Iterator[Entry]:
        """Yield the entries of one line; what is no message is counted by its type."""
        notes.votes.add("Claude Code JSONL")
        kind, message = str(element.get("type")), element.get("message")
        if kind == "summary":
            notes.summaries.append(str(element.get("summary"))[:200])
        elif kind == "system":
            self._boundary |= element.get("subtype") == COMPRESSED
            notes.skip(f"system entry {element.get('subtype') or ''}".strip())
        elif kind not in SPOKEN or not isinstance(message, dict):
            notes.skip(kind)
        elif element.get("isApiErrorMessage") is True:
            notes.skip("API error message")
        else:
            yield from self._spoken(element, message, at, notes)

    def _spoken(self, element: Element, message: Element, at: str, notes: Notes) -> Iterator[Entry]:
        side = element.get("isSidechain") is True and not self._side_is_main
        chain: Chain = "side" if side else "main"
        answer = str(message.get("id") or "")
        found = list(
            read_chat(
                {"role": element.get("type"), **message}, at, notes, chain=chain, group=answer
            )
        )
        bill = answer or f"{at}"
        for entry in found:
            if chain == "main":
                starts, back = self._place(element, entry)
                if starts or back:
                    entry = replace(entry, starts_window=starts, rewinds_to=back)
            if entry.model == SYNTHETIC:
                entry = replace(entry, model="", usage=None)
            if entry.usage is not None and not self._bills(bill):
                entry = replace(entry, usage=None)
            yield entry

    def _bills(self, answer: str) -> bool:
        """Return whether an answer's usage still counts: its lines stand together, mostly."""
        if len(self._billed) > 100_000:
            self._billed.clear()
        new = answer not in self._billed
        self._billed.add(answer)
        return new

    def _place(self, element: Element, entry: Entry) -> tuple[bool, str]:
        """Return whether the window starts here, and what a repeated prompt takes back."""
        starts = self._boundary or element.get("isCompactSummary") is True
        self._boundary = False
        if starts:
            self._prompts.clear()
            return True, ""
        parent = element.get("parentUuid")
        prompt = entry.message.role == "user" and element.get("isMeta") is not True
        if not prompt or not isinstance(parent, str):
            return False, ""
        earlier = self._prompts.get(parent, "")
        self._prompts[parent] = entry.at
        return False, earlier
