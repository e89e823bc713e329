"""Reads a trace back into what a model read: messages, and the texts of sections.

    Trace ──history_before("t3")──▶ the messages of turns 1 and 2, less those that left
          ──besides_before("t3")──▶ what stood for those: pinned constraints, a summary
          ──texts_at("t3")────────▶ system prompt, tools, pinned rules of each window

Read after: trace.py.     Read next: replay.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentkit.compress import CONSTRAINTS, SUMMARY, is_summary, pinned_text, standing
from agentkit.errors import TraceError
from agentkit.messages import Message, ToolCall, mend, rounds
from agentkit.trace import Entry, Trace
from agentkit.window import Section

STANDING = (CONSTRAINTS, SUMMARY)


def history_before(trace: Trace, turn: str) -> list[Message]:
    """Return what was said before a turn, as the model would read it then."""
    messages: list[Message] = []
    for each in dict.fromkeys(entry.turn for entry in trace if entry.turn):
        if each == turn:
            break
        entries = trace.of_turn(each)
        said = _messages(entries)
        messages.extend(mend(said) if len(said) > 1 else ())
        for entry in _shortened(entries):
            messages = _compressed(messages, entry)
    return messages


def gone_before(trace: Trace, turn: str) -> int:
    """Return how many rounds had left the history before a turn."""
    gone = 0
    for entry in trace:
        if entry.turn == turn:
            break
        gone += sum(each.data["rounds"] for each in _shortened([entry]))
    return gone


def besides_before(trace: Trace, turn: str) -> list[Section]:
    """Return what stood before the rounds of a turn for those that had left.

    Raises:
        TraceError: The window had no room for it, and no event says what it was.
    """
    read: dict[str, str] = {}  # of windows
    told: dict[str, str] | None = None  # when rounds left
    for entry in trace:
        if entry.kind == "Condensed":
            told = _told(entry.data)
        elif entry.kind == "Packed":
            read |= entry.data["new"]
            if entry.turn == turn:
                return standing(*(_stood(name, entry, read, told) for name in STANDING))
    return []


def _told(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what short-term memory left standing; older traces do not say."""
    if "text" not in data:
        return {}
    return {CONSTRAINTS: pinned_text(data["pinned"]), SUMMARY: data["text"]}


def _stood(
    name: str, packed: Entry, read: Mapping[str, str], told: Mapping[str, str] | None
) -> str:  # fmt: skip
    """Return the text of a section that stood before a window, "" when there was none."""
    if name in [kept for kept, _ in packed.data["kept"]]:
        return read[name]
    if name not in [dropped for dropped, _, _ in packed.data["dropped"]]:
        return ""
    known = read if told is None else told
    if name not in known:
        raise TraceError(
            f"The window of {packed.turn} had no room for its {name!r}, and the trace does not "
            "hold it: it was recorded before traces did.",
            hint="Replay a turn whose window held it, or record the turn anew.",
        )
    return known[name]


def _shortened(entries: Sequence[Entry]) -> list[Entry]:
    kinds = ("Compressed", "Condensed")
    return [entry for entry in entries if entry.kind in kinds and entry.data["rounds"]]


def _compressed(messages: Sequence[Message], entry: Entry) -> list[Message]:
    """Return a history after it got shorter; an earlier summary is part of the new one.

    That of short-term memory is no message; see `besides_before`.
    """
    data = entry.data
    told = data["text"] if entry.kind == "Compressed" else ""
    summary = [Message("user", told)] if told else []
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
