"""What both formats have in common: content in parts, calls, and what is refused.

    "hi" | None | [{"type": "text", "text": "hi"}, {"type": "image_url", ...}]
                  ──read_text()──▶ "hi\\n[image]"

Read after: names.py.     Read next: openai.py, anthropic.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentkit.errors import MessageError
from agentkit.messages import NO_JSON, Message, Role, ToolCall, faults
from agentkit.text import clean_json, clean_text

Wire = dict[str, Any]
Names = Mapping[str, str]

UNREAD = "unread_arguments"  # servers parse the arguments in a history, and fail on what is no JSON
MAX_DEPTH = 100  # Pythons differ in how deep they can follow; no real arguments come near this
ROLE_OF: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
TEXT_PARTS = ("text", "input_text", "output_text")
SILENT_PARTS = ("thinking", "redacted_thinking", "reasoning")  # providers leave these out too
NOTES = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "input_file": "file",
}


def check_sound(history: Sequence[Message]) -> None:
    """Refuse a history that a model's server would refuse with less of an explanation.

    Raises:
        MessageError: Names the first three faults and their positions.
    """
    found = [fault for fault in faults(history) if fault.kind != "unread arguments"]
    if not found:
        return
    named = "; ".join(
        f"message {fault.at}: {fault.kind}" + (f" of {fault.call_id!r}" if fault.call_id else "")
        for fault in found[:3]
    )
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    raise MessageError(
        f"A model would refuse this history of {len(history)} messages. {named}{more}.",
        hint="Pass mend(history) instead: it adds lost results and leaves out lost calls.",
    )


def write_arguments(call: ToolCall) -> Wire:
    """Return a JSON object even where the model wrote none, so that a server can read it."""
    return {UNREAD: clean_text(call.unread)} if call.unread is not None else dict(call.arguments)


def read_call(call_id: object, name: str, arguments: Any, names: Names | None) -> ToolCall:
    """Read one call; what could not go back onto the wire as JSON counts as unread."""
    call = ToolCall(clean_text(str(call_id)), clean_text((names or {}).get(name, name)))
    if not isinstance(arguments, str | Mapping | None):
        return ToolCall(call.id, call.name, unread=clean_text(repr(arguments)))
    parsed = ToolCall.parse(call.id, call.name, arguments)
    if parsed.unread is not None:
        return ToolCall(call.id, call.name, unread=clean_text(parsed.unread))
    try:
        _check_depth(parsed.arguments)
        cleaned = clean_json(parsed.arguments)
        json.dumps(cleaned, allow_nan=False)
    except (ValueError, TypeError, RecursionError):  # NaN, no JSON type, nested too deep
        unread = arguments if isinstance(arguments, str) else NO_JSON
        return ToolCall(call.id, call.name, unread=clean_text(unread))
    if list(cleaned) == [UNREAD] and isinstance(cleaned[UNREAD], str):
        return ToolCall(call.id, call.name, unread=cleaned[UNREAD])
    return ToolCall(call.id, call.name, cleaned)


def _check_depth(value: Any) -> None:
    """Raise ValueError for what is nested too deep to be read alike by every Python."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, Mapping | list | tuple)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
        ]
        if not level:
            return
    raise ValueError(f"nested over {MAX_DEPTH} deep")


def read_entries(messages: Any) -> Iterator[tuple[int, Role, Wire]]:
    """Yield position, role and content of each message.

    Raises:
        MessageError: No list, no object, or a role that nobody knows.
    """
    if not isinstance(messages, list | tuple):
        raise MessageError(
            f"A {type(messages).__name__} is no history.", hint="Pass a list of messages."
        )
    for at, entry in enumerate(messages):
        if not isinstance(entry, Mapping):
            raise malformed(at, f"it is a {type(entry).__name__}, not an object")
        role = ROLE_OF.get(str(entry.get("role")))
        if role is None:
            raise malformed(at, f"its role is {str(entry.get('role'))[:40]!r}")
        yield at, role, dict(entry)


def read_text(content: Any, at: int, role: Role) -> str:
    """Return content as text: a string, null, or a list of parts.

    A provider cuts an assistant's answer into parts anywhere, so those are put
    together as they are; the parts of others get a line each.
    """
    parts = content if isinstance(content, list) else [content]
    texts = [_part_text(part, at) for part in parts]
    return clean_text(("" if role == "assistant" else "\n").join(text for text in texts if text))


def _part_text(part: Any, at: int) -> str:
    if part is None or isinstance(part, str):
        return part or ""
    if not isinstance(part, Mapping):
        raise malformed(at, f"its content holds a {type(part).__name__}")
    kind = part.get("type", "text")
    words = part.get("refusal" if kind == "refusal" else "text")
    if kind in (*TEXT_PARTS, "refusal") and isinstance(words, str):
        return words
    if kind in SILENT_PARTS:
        return ""
    return f"[{NOTES.get(str(kind), str(kind)[:40])}]"


def malformed(at: int, why: str) -> MessageError:
    """Return the error for a message that is none."""
    return MessageError(
        f"Message {at} cannot be read: {why}.",
        hint=f"A message is an object with a role ({', '.join(ROLE_OF)}) and content.",
    )
