"""Puts together what belongs together: the parts of one answer, a result and its call.

    assistant(m1, text) + assistant(m1, call) ──merged()──▶ one message
    call c1, result c2, result c1 ──Pairs──▶ results with the names of their calls; orphans named

Read after: notes.py, blocks.py.     Read next: reading.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agentkit.messages import Message
from agentkit.transcript.blocks import label
from agentkit.transcript.notes import Chain, Entry, Notes


def merged(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Yield the entries with the parts of one answer put together, each chain by itself."""
    waiting: dict[str, Entry] = {}
    for entry in entries:
        before = waiting.pop(entry.chain, None)
        if before is not None:
            if entry.group and entry.group == before.group and entry.message.role == "assistant":
                waiting[entry.chain] = _together(before, entry)
                continue
            yield before
        if entry.group and entry.message.role == "assistant":
            waiting[entry.chain] = entry
        else:
            yield entry
    yield from waiting.values()


def _together(first: Entry, second: Entry) -> Entry:
    texts = [text for text in (first.message.text, second.message.text) if text]
    calls = (*first.message.tool_calls, *second.message.tool_calls)
    return replace(
        first,
        message=Message("assistant", "\n".join(texts), calls),
        usage=second.usage or first.usage,
        model=first.model or second.model,
        images=(*first.images, *second.images),
    )


class Pairs:
    """Finds which result answers which call, and notes those that find no partner.

    Args:
        notes: Get the faults.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._waiting: dict[tuple[Chain, str], tuple[str, str]] = {}  # chain, id: label, place
        self._late: dict[tuple[Chain, str], tuple[str, str]] = {}  # a message came in between
        self._done: dict[tuple[Chain, str], str] = {}  # answered in this step

    def paired(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        """Yield the entries, results with the name of their call or as orphans."""
        for entry in entries:
            message = entry.message
            if message.role == "tool":
                yield self._result(entry)
                continue
            self._close(entry.chain)
            for call in message.tool_calls:
                self._waiting[entry.chain, call.id] = (label(call), entry.at)
                if call.unread is not None:
                    said = f"{call.id}: {call.name} {call.unread}"
                    self._notes.fault("arguments are no JSON", entry.at, said)
            if not message.text and not message.tool_calls:
                self._notes.fault("empty message", entry.at, message.role)
            yield entry
        for (_, call_id), (name, at) in (*self._late.items(), *self._waiting.items()):
            self._notes.fault("call without a result", at, f"{call_id}: {name}")

    def _close(self, chain: str) -> None:
        """End a step: what was not answered in it is late from now on."""
        for key in [key for key in self._waiting if key[0] == chain]:
            self._late[key] = self._waiting.pop(key)
        for key in [key for key in self._done if key[0] == chain]:
            del self._done[key]

    def _result(self, entry: Entry) -> Entry:
        key = (entry.chain, entry.message.call_id or "")
        if not key[1]:  # it does not say which; the first call that waits takes it
            key = next((k for k in self._waiting if k[0] == entry.chain), key)
            entry = replace(entry, message=replace(entry.message, call_id=key[1]))
        if key in self._waiting:
            name, _ = self._waiting.pop(key)
            self._done[key] = name
            if entry.starts_window or entry.rewinds_to:
                return replace(entry, name=name)
            return Entry(entry.message, entry.at, name, chain=entry.chain, images=entry.images)
        if key in self._late:
            name, _ = self._late.pop(key)
            self._notes.fault("late result", entry.at, f"{key[1]}: {name}")
            return replace(entry, name=name, orphan=True)
        if key in self._done:
            self._notes.fault("second result", entry.at, f"{key[1]}: {self._done[key]}")
            return replace(entry, name=self._done[key], orphan=True)
        self._notes.fault("result without a call", entry.at, key[1] or "no id")
        return replace(entry, name=key[1] or "no call", orphan=True)
