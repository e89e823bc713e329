"""Reads a trace back into what a model read: messages, and the texts of sections.

    Trace ──history_before("t3")──▶ the messages of turns 1 and 2, compressed if they were
          ──texts_at("t3")────────▶ system prompt, tools, pinned rules of each window

Read after: trace.py.     Read next: replay.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentkit.compress import is_summary
from agentkit.messages import Message, ToolCall, mend, rounds
from agentkit.trace import Entry, Trace


def history_before(trace: Trace, turn: str) -> list[Message]:
    """Return what was said before a turn, as the model would read it then."""
    messages: list[Message] = []
    for each in dict.fromkeys(entry.turn for entry in trace if entry.turn):
        if each == turn:
            break
        entries = trace.of_turn(each)
        said = _messages(entries)
        messages.extend(mend(said) if len(said) > 1 else ())
        for entry in _compressions(entries):
            messages = _compressed(messages, entry.data)
    return messages


def gone_before(trace: Trace, turn: str) -> int:
    """Return how many rounds a summary stood for before a turn."""
    gone = 0
    for entry in trace:
        if entry.turn == turn:
            break
        gone += sum(each.data["rounds"] for each in _compressions([entry]))
    return gone


def _compressions(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.kind == "Compressed" and entry.data["rounds"]]


def _compressed(messages: Sequence[Message], data: Mapping[str, Any]) -> list[Message]:
    """Return a history after a compression; an earlier summary is part of the new one."""
    summary = [Message("user", data["text"])] if data["text"] else []
    past = [each for each in rounds(messages) if not is_summary(each.messages[0])]
    return [*summary, *(m for each in past[data["rounds"] :] for m in each.messages)]


def calls_of(said: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the tool calls of a recorded ModelSaid."""
    return tuple(
        ToolCall(call["id"], call["name"], call["arguments"], call["unread"])
        for call in said["tool_calls"]
    )


def _messages(entries: Sequence[Entry]) -> list[Message]:
    """Return what a turn added to the history."""
    made = {entry.data["call_id"] for entry in entries if entry.kind == "ToolCalled"}
    short = {e.data["call_id"]: e.data["text"] for e in entries if e.kind == "Slimmed"}
    messages: list[Message] = []
    for entry in entries:
        data = entry.data
        match entry.kind:
            case "UserSaid":
                messages.append(Message("user", data["text"]))
            case "ModelSaid" if made & {call["id"] for call in data["tool_calls"]}:
                messages.append(Message("assistant", data["text"], calls_of(data)))
            case "ToolReturned":
                text = short.get(data["call_id"], data["text"])
                messages.append(
                    Message("tool", text, call_id=data["call_id"], is_error=data["is_error"])
                )
            case "Answered":
                messages.append(Message("assistant", data["text"]))
    return messages


def texts_at(trace: Trace, turn: str) -> list[dict[str, str]]:
    """Return for each window of a turn the latest text of each section that has one."""
    texts: dict[str, str] = {}
    windows: list[dict[str, str]] = []
    for entry in trace:
        if entry.kind == "Packed":
            texts = {**texts, **entry.data["new"]}
            windows.extend([texts] if entry.turn == turn else [])
    return windows
