"""Reads the traces of this kit: events, of which some carry what was said.

    UserSaid ─▶ user       ModelSaid with calls ─▶ assistant       Answered ─▶ assistant
    Packed.new ─▶ system prompt, tools, pinned    ToolReturned ─▶ tool

Read after: trace.py, chat.py.     Read next: reading.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agentkit.messages import Message, Usage, assistant, user
from agentkit.text import clean_text
from agentkit.transcript.chat import Element
from agentkit.transcript.notes import Entry, Notes
from agentkit.transcript.usage import read_usage
from agentkit.wire.parts import read_call

CARRIES = frozenset({"UserSaid", "ModelSaid", "ToolReturned", "Answered", "Packed"})


def is_event(element: Element) -> bool:
    """Return whether this is an event of a trace."""
    return isinstance(element.get("event"), str) and "seq" in element and "turn" in element


class OwnTrace:
    """What has to be remembered from event to event: usage comes before the answer."""

    def __init__(self) -> None:
        self._usage: Usage | None = None
        self._model = ""

    def read(self, element: Element, at: str, notes: Notes) -> Iterator[Entry]:
        """Yield the entry of one event; those that carry no words are counted by name."""
        notes.votes.add("agentkit trace")
        kind = str(element.get("event"))
        text = clean_text(str(element.get("text") or ""))
        if kind == "UserSaid":
            yield Entry(user(text), at)
        elif kind == "Packed":
            self._packed(element, notes)
        elif kind == "ModelSaid":
            yield from self._said(element, text, at, notes)
        elif kind == "ToolReturned":
            call_id = clean_text(str(element.get("call_id") or ""))
            error = element.get("is_error") is True
            yield Entry(Message("tool", text, call_id=call_id, is_error=error), at)
        elif kind == "Answered":
            yield Entry(assistant(text), at, usage=self._usage, model=self._model)
            self._usage = None
        else:
            notes.skip(f"{kind} event")

    def _said(self, element: Element, text: str, at: str, notes: Notes) -> Iterator[Entry]:
        raw = element.get("usage")
        self._usage = _own_usage(raw, at, notes)
        self._model = str(element.get("model") or "")
        calls = element.get("tool_calls")
        if isinstance(calls, list) and calls:
            read = tuple(
                read_call(
                    call.get("id") or f"{at}-{i}",
                    str(call.get("name") or "tool"),
                    call.get("unread") or call.get("arguments"),
                    None,
                )
                for i, call in enumerate(calls)
                if isinstance(call, dict)
            )
            yield Entry(Message("assistant", text, read), at, "", self._usage, self._model)
            self._usage = None

    def _packed(self, element: Element, notes: Notes) -> None:
        budget, reserve = element.get("budget"), element.get("reserve")
        if isinstance(budget, int) and isinstance(reserve, int) and 0 <= reserve < budget:
            notes.budget = (budget, reserve)
        new = element.get("new")
        for name, text in new.items() if isinstance(new, dict) else ():
            if name == "tools":
                notes.add_tools(_json(text))
            elif str(name).startswith("pinned") and str(text) not in notes.pinned:
                notes.pinned.append(clean_text(str(text)))
            elif name == "system":
                notes.system = [clean_text(str(text))]


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None


def _own_usage(raw: Any, at: str, notes: Notes) -> Usage | None:
    """Read usage as a trace keeps it: `input` holds what is cached."""
    if not isinstance(raw, dict):
        return None
    details = {"cached_tokens": raw.get("cache_read"), "cache_creation": raw.get("cache_write")}
    named = {"input_tokens": raw.get("input"), "output_tokens": raw.get("output")}
    return read_usage({**named, "input_tokens_details": details}, at, notes)
