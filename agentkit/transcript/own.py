"""Reads the traces of this kit: events, of which some carry what was said.

    UserSaid ─▶ user       ModelSaid with calls ─▶ assistant       Answered ─▶ assistant
    Packed ─▶ system prompt, tools, pinned; what was read    ToolReturned, Slimmed ─▶ tool
    Compressed, Condensed ─▶ a summary, behind which the newest rounds stay

Read after: trace.py, chat.py, read_window.py.     Read next: reading.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agentkit.compress import HEADINGS
from agentkit.messages import Message, Usage, assistant, user
from agentkit.text import HAN, clean_text
from agentkit.transcript.chat import Element
from agentkit.transcript.notes import EVERYTHING, Entry, Notes
from agentkit.transcript.read_window import Following
from agentkit.transcript.usage import read_usage
from agentkit.wire.parts import read_call

EARLIER = "earlier conversation of the trace"


def is_event(element: Element) -> bool:
    """Return whether this is an event of a trace."""
    return isinstance(element.get("event"), str) and "seq" in element and "turn" in element


class OwnTrace:
    """What has to be remembered from event to event: usage comes before the answer."""

    def __init__(self) -> None:
        self._usage: Usage | None = None
        self._model = ""
        self._read: int | None = None  # tokens of the last window
        self._waiting: list[Entry] = []  # of which the next event may say more
        self._following = Following()
        self._seq = 0
        self._starts_over = False

    def read(self, element: Element, at: str, notes: Notes) -> Iterator[Entry]:
        """Yield the entries of one event; those that carry no words are counted by name."""
        notes.votes.add("agentkit trace")
        self._begin(element, notes)
        kind, text = str(element.get("event")), clean_text(str(element.get("text") or ""))
        if kind == "Slimmed":
            self._slim(text)
            notes.skip("Slimmed event")
            return
        if kind != "Answered":
            yield from self._release()
        if kind == "UserSaid":
            yield self._asked(text, at)
        elif kind == "Packed":
            self._packed(element, notes)
        elif kind == "ModelSaid":
            self._said(element, text, at, notes)
        elif kind == "ToolReturned":
            self._following.acts()
            call_id = clean_text(str(element.get("call_id") or ""))
            error = element.get("is_error") is True
            self._waiting = [Entry(Message("tool", text, call_id=call_id, is_error=error), at)]
        elif kind == "Answered":
            yield from self._answered(text, at)
        elif kind in ("Compressed", "Condensed"):
            yield from self._shorter(element, text, at, notes)
        else:
            if kind == "ToolCalled":
                self._following.acts()
            notes.skip(f"{kind} event")
            notes.acts.extend(_act(kind, element, text))
            usage = _own_usage(element.get("usage"), at, notes) if kind == "SideCalled" else None
            if usage is not None:
                notes.asides.append((usage, str(element.get("model") or ""), at))

    def rest(self) -> Iterator[Entry]:
        """Yield what waits for an event that never came."""
        yield from self._release()

    def _begin(self, element: Element, notes: Notes) -> None:
        """Notice that another conversation begins: a file may hold several, one behind another."""
        seq = element.get("seq")
        seq = seq if isinstance(seq, int) else self._seq + 1
        if seq <= self._seq and seq == 1:
            self._following, self._starts_over = Following(), True
            self._waiting, self._usage, notes.window = [], None, None
            notes.pinned.clear()
            notes.acts.clear()
            notes.asides.clear()
            notes.skip(EARLIER)
        self._seq = seq

    def _asked(self, text: str, at: str) -> Entry:
        """Return a user's message; one before it, of which nothing came, is not in the history."""
        nothing = self._following.asks(at)
        over, self._starts_over = self._starts_over, False
        return Entry(user(text), at, rewinds_to=EVERYTHING if over else nothing)

    def _release(self) -> Iterator[Entry]:
        waiting, self._waiting = self._waiting, []
        if any(entry.usage is not None for entry in waiting):
            self._usage = None  # told with the call
        yield from waiting

    def _slim(self, text: str) -> None:
        """Put what the model read of a long result in the place of all that came back."""
        if self._waiting and text:
            entry = self._waiting[0]
            self._waiting[0] = replace(entry, message=replace(entry.message, text=text))

    def _said(self, element: Element, text: str, at: str, notes: Notes) -> None:
        """Keep what a model asked for until a tool is called: asked in vain, it is not kept."""
        self._usage = _own_usage(element.get("usage"), at, notes)
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
            said = Message("assistant", text, read)
            self._waiting = [Entry(said, at, "", self._usage, self._model, read=self._read)]

    def _answered(self, text: str, at: str) -> Iterator[Entry]:
        """Yield the answer; one that stands in the place of calls the guard stopped is all."""
        if self._waiting and self._waiting[0].message.role == "tool":
            yield from self._release()
        self._waiting = []
        self._following.acts()
        yield Entry(assistant(text), at, usage=self._usage, model=self._model, read=self._read)
        self._usage = None

    def _packed(self, element: Element, notes: Notes) -> None:
        budget, reserve = element.get("budget"), element.get("reserve")
        if isinstance(budget, int) and isinstance(reserve, int) and 0 <= reserve < budget:
            notes.budget = (budget, reserve)
        self._following.packs(element)
        notes.window = self._following.window
        self._read = notes.window.tokens if notes.window is not None else None
        new = element.get("new")
        for name, text in new.items() if isinstance(new, dict) else ():
            if name == "tools":
                notes.add_tools(_json(text))
            elif str(name).startswith("pinned") and str(text) not in notes.pinned:
                notes.pinned.append(clean_text(str(text)))
            elif name == "system":
                notes.system = [clean_text(str(text))]

    def _shorter(self, element: Element, text: str, at: str, notes: Notes) -> Iterator[Entry]:
        """Yield the summary that stands for the rounds which left, or note why none did."""
        rounds = element.get("rounds")
        if not isinstance(rounds, int) or rounds < 1:
            notes.acts.append(f"compression refused: {clean_text(str(element.get('reason')))}")
            return
        stays = self._following.leaves(rounds)
        pinned = element.get("pinned")
        for rule in pinned if isinstance(pinned, list) else ():
            notes.pinned.extend([str(rule)] if rule not in notes.pinned else [])
        if text:
            message = user(text if text.startswith(HEADINGS) else _headed(text))
            yield Entry(message, at, starts_window=True, stays_from=stays)


def _headed(text: str) -> str:
    return f"{HEADINGS[HAN.search(text) is not None]}\n{text}"


def _act(kind: str, element: Element, text: str) -> Iterator[str]:
    """Say what a session did to its conversation, in a sentence."""
    if kind == "Erased":
        messages, erased = element.get("messages"), element.get("events")
        yield f"forgotten at the user's word: {messages} messages, {erased} events of the trace"
    elif kind == "HandoverWritten":
        yield f"written to hand over ({element.get('tokens')} tokens): {text}"
    elif kind == "Valued":
        reason = element.get("reason")
        failed = f"; it did not say: {reason}" if reason else ""
        yield f"a model was asked what {element.get('texts')} messages are worth{failed}"


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
