"""Reads any transcript as a stream of entries, and finds its format by looking.

    file ──▶ lines, or the values of one document ──▶ whose shape is it? ──▶ Entry, Entry, ...
                                                           └──▶ notes: skipped, faults, system

Nothing but the entry at hand is kept, so a file of gigabytes streams. Whether a result
answers a call is found on the way: ids wait from the call to the end of its step.

Read after: claude_code.py, langchain.py, own.py.     Read next: transcript/__init__.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from agentkit.errors import TranscriptError
from agentkit.text import one_line
from agentkit.transcript.blocks import texts_of
from agentkit.transcript.chat import Element, is_chat, read_chat
from agentkit.transcript.claude_code import ClaudeCode
from agentkit.transcript.langchain import is_langchain, read_langchain
from agentkit.transcript.notes import EVERYTHING, Chain, Entry, Notes
from agentkit.transcript.own import OwnTrace, is_event
from agentkit.transcript.pairs import Pairs, merged
from agentkit.transcript.responses import is_item, read_item
from agentkit.transcript.source import EXPECTED, Source
from agentkit.transcript.usage import read_usage
from agentkit.transcript.walk import STREAMED, Broken, Walker

FIRST_LINE_CHARS = 8_000_000  # a longer one is read a value at a time
LISTS = (
    "messages",
    "input",
    "contents",
    "conversation",
    "conversations",
    "history",
    "turns",
    "items",
)
ANSWERS = ("output", "choices", "generations")
SYSTEM_KEYS = (
    "system",
    "instructions",
    "system_prompt",
    "systemPrompt",
    "systemInstruction",
    "system_instruction",
)
WRAPPERS = (
    "request",
    "body",
    "kwargs",
    "inputs",
    "state",
    "values",
    "data",
    "thread",
    "对话",
    "outputs",
)


class Reading:
    """One pass over a transcript: iterate it once, then look at its notes.

    Args:
        path: Of the file.
        side_is_main: See `ClaudeCode`.

    Attributes:
        notes: Complete when the last entry was read.

    Raises:
        TranscriptError: At once for what is no text, at the end for what has no message.
    """

    def __init__(self, path: Path, *, side_is_main: bool = False) -> None:
        self.notes = Notes()
        self._source = Source(path)
        self._claude = ClaudeCode(side_is_main=side_is_main)
        self._own = OwnTrace()
        self._pairs = Pairs(self.notes)
        self._request = 0  # requests in a log: the last one holds the whole conversation

    def __iter__(self) -> Iterator[Entry]:
        entries = 0
        try:
            for entry in self._pairs.paired(merged(chain(self._entries(), self._own.rest()))):
                entries += 1
                yield entry
        finally:
            self._source.close()
        if not entries and not self.notes.system and not self.notes.summaries:
            raise TranscriptError(
                f"{self._source.name} holds no conversation: {self.notes.found or 'no message'}.",
                hint=EXPECTED,
            )

    def _entries(self) -> Iterator[Entry]:
        """Yield the entries of a file of lines, or of one document."""
        first, before = "", ""
        while not first.strip():
            before += first
            first = self._source.line(FIRST_LINE_CHARS)
            if not first:
                return
        self._source.at = before.count("\n") + 1
        second = "" if not first.endswith("\n") else self._source.line(FIRST_LINE_CHARS)
        if self._are_lines(first, second):
            yield from self._line(first, self._source.at, last=not second)
            yield from self._lines(second)
        else:
            yield from self._document(Walker(self._source, first + second))

    def _are_lines(self, first: str, second: str) -> bool:
        """Return whether the file has one value a line, judged by its first two lines."""
        start = first.strip()[:1]
        if start not in ("{", "["):
            return True
        one, two = parsed(first), parsed(second)
        if isinstance(one, dict):
            return True
        return isinstance(two, dict) and one is None and first.strip() not in ("{", "[")

    def _lines(self, waiting: str) -> Iterator[Entry]:
        """Yield the entries of all lines; one is read ahead, to know which is the last."""
        number = self._source.at
        while waiting:
            number += 1
            if not waiting.endswith("\n"):
                waiting += self._source.line()
            following = self._source.line()
            if waiting.strip():
                yield from self._line(waiting, number, last=not following)
            waiting = following

    def _line(self, line: str, number: int, *, last: bool) -> Iterator[Entry]:
        at = f"line {number}"
        if "\ufffd" in line:
            self.notes.fault("unreadable characters", at, "they show as \ufffd")
        bare = line.strip("\r\n")
        written = bare.strip("\0")
        value = parsed(written)
        if written != bare:
            nul = f"{len(bare) - len(written):,} NUL characters, as a power loss leaves them"
            self.notes.fault("half-written line", at, nul)
            if value is None:
                return
        if isinstance(value, dict):
            yield from self._element(value, at)
        elif isinstance(value, list) and value:
            for position, inner in enumerate(value):
                yield from self._any(inner, f"message {position}")
        elif last and not line.endswith("\n") and line.strip()[:1] in ("{", "["):
            self.notes.fault("half-written line", at, line[:80])
        else:
            self.notes.found = self.notes.found or f"line {number} is no JSON object"
            self.notes.fault("unreadable line", at, line[:80])

    def _document(self, walker: Walker) -> Iterator[Entry]:
        """Yield the entries of one document, and then of lines that stand behind it."""
        head: dict[str, Any] = {}
        position = 0
        try:
            for key, value in walker.document():
                if key in STREAMED or not key:
                    if isinstance(head.get("input"), str):
                        yield from self._any(
                            {"role": "user", "content": head.pop("input")}, "input"
                        )
                    yield from self._any(value, f"message {position}")
                    position += 1
                else:
                    head[key] = value
        except Broken as error:
            place = f"character {walker.place:,}"
            self.notes.fault("broken document", place, f"read up to there; {error}"[:100])
            rest = ""
        else:
            rest = walker.rest()
        if head and not position:
            yield from self._element(head, "line 1")
        elif head:
            yield from self._around(head)
        if rest.strip():
            self._source.at = max(self._source.at, 1)
            yield from self._lines(rest.lstrip())

    def _any(self, value: Any, at: str) -> Iterator[Entry]:
        if isinstance(value, dict):
            yield from self._element(value, at)
        elif isinstance(value, list):
            for inner in value:
                yield from self._any(inner, at)
        elif isinstance(value, str) and value.strip() and self.notes.votes:
            yield from read_chat({"role": "user", "content": value}, at, self.notes)
        else:
            self.notes.fault("unreadable entry", at, one_line(str(value)))

    def _element(self, element: Element, at: str) -> Iterator[Entry]:
        """Yield the entries of one object, by its shape, and count those that say something."""
        entry = self._claude.is_entry(element)
        if not entry and self._is_whole(element):
            yield from self._whole(element, at)
            return
        payload = element.get("payload")
        if not entry and isinstance(payload, dict) and not is_event(element):
            yield from self._enveloped(element, payload, at)
            return
        if is_event(element):
            for each in self._own.read(element, at, self.notes):
                self.notes.said["main"] += not each.starts_window
                yield each
            return
        system = len(self.notes.system)
        chains: set[Chain] = set()
        found = self._claude.read(element, at, self.notes) if entry else self._message(element, at)
        for each in found:
            chains.add(each.chain)
            yield each
        if len(self.notes.system) > system:
            chains.add("main")
        for name in chains:
            self.notes.said[name] += 1

    def _enveloped(self, element: Element, payload: Element, at: str) -> Iterator[Entry]:
        """Yield what an envelope holds: some logs keep each item under "payload"."""
        notes = self.notes
        notes.model = str(payload.get("model") or notes.model)
        notes.add_system(texts_of(payload.get("instructions"), at, notes))
        info = payload.get("info")
        if isinstance(info, dict):
            notes.usage = read_usage(info.get("last_token_usage"), at, notes) or notes.usage
        if is_item(payload) or is_chat(payload):
            yield from self._element(payload, at)
        else:
            notes.skip(f"{element.get('type') or 'entry'} {payload.get('type') or ''}".strip())

    def _is_whole(self, element: Element) -> bool:
        """Return whether an object holds a conversation, and is no entry of one."""
        return (
            not is_event(element)
            and not is_item(element)
            and not is_langchain(element)
            and _is_request(element)
        )

    def _message(self, element: Element, at: str) -> Iterator[Entry]:
        """Return the entries of one message, by its shape."""
        if is_item(element):
            return read_item(element, at, self.notes)
        if is_langchain(element):
            return read_langchain(element, at, self.notes)
        if is_chat(element):
            return read_chat(element, at, self.notes)
        kind = element.get("type") or element.get("event") or element.get("kind")
        keys = ", ".join(list(map(str, element))[:6])
        self.notes.found = self.notes.found or f"{at} is an object with the keys {keys}"
        self.notes.skip(str(kind) if kind else f"object with the keys {keys}")
        return iter(())

    def _whole(self, element: Element, at: str) -> Iterator[Entry]:
        """Yield the entries of a request, a response, or both; a later request replaces it."""
        key = next((key for key in LISTS if isinstance(element.get(key), list | str)), None)
        if key is not None:
            self._request += 1
            starts = self._request > 1
            if starts:
                self.notes.skipped.pop(EARLIER, None)
                self.notes.skip(EARLIER, self._request - 1)
            values = element[key] if isinstance(element[key], list) else [element[key]]
            self.notes.votes.update({"OpenAI responses"} if key == "input" else ())
            for position, value in enumerate(values):
                inner = f"message {position}" if at == "line 1" else f"{at}, message {position}"
                value = {"role": "user", "content": value} if isinstance(value, str) else value
                for entry in self._any(value, inner):
                    yield replace(
                        entry, starts_window=starts, rewinds_to=EVERYTHING if starts else ""
                    )
                    starts = False
        yield from self._around(element)

    def _around(self, element: Element) -> Iterator[Entry]:
        """Read what stands beside the messages, and the answer where the file holds it."""
        notes = self.notes
        notes.model = str(element.get("model") or notes.model)
        for key in SYSTEM_KEYS:
            if element.get(key):
                said = element[key]
                said = said.get("parts", said) if isinstance(said, dict) else said
                notes.add_system(texts_of(said, key, notes))
                notes.votes.update({"Anthropic messages"} if key == "system" else ())
                notes.votes.update({"OpenAI responses"} if key == "instructions" else ())
        notes.add_tools(element.get("tools"))
        for key in WRAPPERS:
            inner = element.get(key)
            if isinstance(inner, dict) and _is_request(inner):
                yield from self._whole(inner, key)
            elif isinstance(inner, list) and inner and key != "data":
                yield from self._any(inner, key)
        usage = read_usage(element.get("usage") or element.get("usageMetadata"), "usage", notes)
        answers = _answers(element)
        for at, answer in answers:
            for entry in self._any(answer, at):
                yield replace(entry, usage=usage or entry.usage)
                usage = None
        if usage is not None:
            notes.usage = usage


EARLIER = "earlier request of the log"
OF_REQUESTS = frozenset((*LISTS, *ANSWERS, *WRAPPERS, "response"))


def _is_request(element: Element) -> bool:
    """Return whether an object holds a conversation, or what a model answered."""
    if OF_REQUESTS.isdisjoint(element):  # as of nearly every message, and each is asked
        return False
    if any(isinstance(element.get(key), list) for key in (*LISTS, *ANSWERS)):
        return True
    if isinstance(element.get("input"), str) and "model" in element:
        return True
    return any(
        isinstance(element.get(key), dict) and _is_request(element[key])
        for key in (*WRAPPERS, "response")
    )


def _answers(element: Element) -> list[tuple[str, Any]]:
    """Return the messages of a response, with their places."""
    found: list[tuple[str, Any]] = []
    output, choices, made = (element.get(key) for key in ANSWERS)
    response = element.get("response")
    while isinstance(made, list) and made:  # one list a prompt, one generation an answer
        made = made[0]
    if isinstance(made, dict) and isinstance(made.get("message"), dict):
        found.append(("generation 0", made["message"]))
    if isinstance(output, list):
        found += [(f"output {i}", item) for i, item in enumerate(output)]
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        found += [("choice 0", message)] if isinstance(message, dict) else []
    if isinstance(response, dict):
        found.append(("response", response))
    return found


def parsed(text: str) -> Any:
    """Return the value of a line of JSON, or None for anything else."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
