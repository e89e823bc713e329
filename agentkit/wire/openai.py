"""Messages as chat completions write them.

    assistant(ToolCall("c1", "notes.write_note", {...})), tool(result)
        ▼ to_openai                                   ▲ from_openai
    {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", ...}]}
    {"role": "tool", "tool_call_id": "c1", "content": "..."}

The format has no field for a tool that said no, so `is_error` does not come back:
the text of the result has to say it. All else of a sound history does.

Read after: parts.py.     Read next: anthropic.py, models/openai.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentkit.messages import Message, ToolCall, clean_message
from agentkit.text import clean_text
from agentkit.wire.names import made_up_id, wire_name
from agentkit.wire.parts import (
    Names,
    Wire,
    check_sound,
    malformed,
    read_call,
    read_entries,
    read_text,
    write_arguments,
)


def to_openai(history: Sequence[Message]) -> list[Wire]:
    """Return the history as chat completions take it.

    A message that only calls tools has `content` null: some servers refuse an empty
    string there, others a missing field, and null is what the format's owner sends.

    Raises:
        MessageError: The history is not sound; `mend` makes it so.
    """
    check_sound(history)
    return [_write(clean_message(message)) for message in history]


def _write(message: Message) -> Wire:
    if message.role == "tool":
        call_id = clean_text(message.call_id or "")
        return {"role": "tool", "tool_call_id": call_id, "content": message.text}
    if not message.tool_calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {
            "id": clean_text(call.id),
            "type": "function",
            "function": {
                "name": wire_name(call.name),
                "arguments": json.dumps(write_arguments(call), ensure_ascii=False),
            },
        }
        for call in message.tool_calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def from_openai(
    messages: Sequence[Any], *, names: Names | None = None, seed: str = ""
) -> list[Message]:
    """Read a history of chat completions, today's form or that of before tools.

    Args:
        messages: As they came out of JSON.
        names: From wire names to tool names, as `wire_names` returns; a name that
            is not in it is left as it is.
        seed: Makes made-up ids differ from those of another history.

    Raises:
        MessageError: Something is no message; says at which position.
    """
    history: list[Message] = []
    for at, role, entry in read_entries(messages):
        text = read_text(entry.get("content"), at, role)
        text = text or read_text(entry.get("refusal"), at, role)
        call_id = _answered_id(entry, at, history) if role == "tool" else None
        calls = tuple(_read_calls(entry, at, names, seed)) if role == "assistant" else ()
        history.append(Message(role, text, calls, call_id))
    return history


def _read_calls(entry: Wire, at: int, names: Names | None, seed: str) -> Iterator[ToolCall]:
    calls = entry.get("tool_calls") or []
    if not calls and entry.get("function_call"):
        calls = [{"function": entry["function_call"]}]
    if not isinstance(calls, list):
        raise malformed(at, f"its tool_calls are a {type(calls).__name__}, not a list")
    for position, call in enumerate(calls):
        call = call if isinstance(call, Mapping) else {}
        function = call.get("function") or call.get("custom")
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise malformed(at, f"its tool call {position} names no function")
        call_id = call.get("id") or made_up_id(seed, at, position)
        arguments = function.get("arguments", function.get("input"))
        yield read_call(call_id, function["name"], arguments, names)


def _answered_id(entry: Wire, at: int, history: Sequence[Message]) -> str:
    """Return which call a tool message answers: the first unanswered one if it does not say."""
    if entry.get("tool_call_id"):
        return clean_text(str(entry["tool_call_id"]))
    answered: set[str | None] = set()
    for message in reversed(history):
        if message.role != "tool":
            waiting = [call.id for call in message.tool_calls if call.id not in answered]
            if waiting:
                return waiting[0]
            break
        answered.add(message.call_id)
    raise malformed(at, "it has no tool_call_id, and no call waits for a result")
