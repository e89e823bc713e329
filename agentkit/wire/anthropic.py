"""Messages as Anthropic writes them: the system text apart, everything else in blocks.

    assistant("Let me look.", ToolCall("c1", ...)), tool(result), user("and?")
        ▼ to_anthropic                                ▲ from_anthropic
    {"role": "assistant", "content": [{"type": "text", ...}, {"type": "tool_use", ...}]}
    {"role": "user", "content": [{"type": "tool_result", ...}, {"type": "text", ...}]}

User and assistant take turns there, so neighbours of one role become one message.
A history that already takes turns, with one system message, comes back as it was.

Read after: parts.py.     Read next: models/__init__.py.
"""

from __future__ import annotations

import re
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

ALLOWED_ID = re.compile(r"[a-zA-Z0-9_-]+")
CONTINUED = "[The conversation began earlier.]"  # a user has to speak first


def to_anthropic(history: Sequence[Message]) -> tuple[str, list[Wire]]:
    """Return the system text and the messages as Anthropic takes them.

    Texts of neighbours of one role are put together, a blank line apart. Blank
    texts are refused there, and left out here.

    Raises:
        MessageError: The history is not sound; `mend` makes it so.
    """
    check_sound(history)
    rules: list[str] = []
    turns: list[Wire] = []
    for message in map(clean_message, history):
        if message.role == "system":
            rules.extend([message.text] if message.text.strip() else [])
            continue
        role = "assistant" if message.role == "assistant" else "user"
        for block in _write(message):
            if not turns or turns[-1]["role"] != role:
                turns.append({"role": role, "content": []})
            _append(turns[-1]["content"], block)
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": CONTINUED}]})
    return "\n\n".join(rules), turns


def _write(message: Message) -> Iterator[Wire]:
    if message.role == "tool":
        result: Wire = {"type": "tool_result", "tool_use_id": _allowed_id(message.call_id or "")}
        if message.text.strip():
            result["content"] = message.text
        yield {**result, "is_error": True} if message.is_error else result
        return
    if message.text.strip():
        yield {"type": "text", "text": message.text}
    for call in message.tool_calls:
        arguments = write_arguments(call)
        name, call_id = wire_name(call.name), _allowed_id(call.id)
        yield {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _append(blocks: list[Wire], block: Wire) -> None:
    if blocks and blocks[-1]["type"] == block["type"] == "text":
        blocks[-1] = {"type": "text", "text": f"{blocks[-1]['text']}\n\n{block['text']}"}
    else:
        blocks.append(block)


def _allowed_id(call_id: str) -> str:
    """Return the id in the letters that are allowed here; other providers use more."""
    return call_id if ALLOWED_ID.fullmatch(call_id) else wire_name(call_id)


def from_anthropic(
    system: Any, messages: Sequence[Any], *, names: Names | None = None
) -> list[Message]:
    """Read a system text (or its blocks) and messages.

    The results in a user message come before its text, where the calls wait for
    them. What a model thought is left out, as the provider leaves it out.

    Args:
        system: Text, blocks of text, or None.
        messages: As they came out of JSON.
        names: From wire names to tool names, as `wire_names` returns; a name that
            is not in it is left as it is.

    Raises:
        MessageError: Something is no message; says at which position.
    """
    rules = read_text(system, 0, "system")
    history = [Message("system", rules)] if rules else []
    for at, role, entry in read_entries(messages):
        content = entry.get("content")
        blocks = content if isinstance(content, list) else [content]
        results = [block for block in blocks if _kind(block) == "tool_result"]
        uses = [block for block in blocks if _kind(block) == "tool_use"]
        rest = [block for block in blocks if _kind(block) not in ("tool_result", "tool_use")]
        text = read_text(rest, at, role)
        history.extend(_read_result(block, at) for block in results)
        if at == 0 and role == "user" and text == CONTINUED:
            continue
        if text or uses or not results:
            calls = tuple(_read_use(block, at, i, names) for i, block in enumerate(uses))
            history.append(Message(role, text, calls))
    return history


def _kind(block: Any) -> Any:
    return block.get("type") if isinstance(block, Mapping) else None


def _read_result(block: Any, at: int) -> Message:
    if not block.get("tool_use_id"):
        raise malformed(at, "its tool_result names no tool_use_id")
    call_id = clean_text(str(block["tool_use_id"]))
    text = read_text(block.get("content"), at, "tool")
    return Message("tool", text, call_id=call_id, is_error=bool(block.get("is_error")))


def _read_use(block: Any, at: int, position: int, names: Names | None) -> ToolCall:
    if not isinstance(block.get("name"), str):
        raise malformed(at, f"its tool_use {position} has no name")
    call_id = block.get("id") or made_up_id(at, position)
    return read_call(call_id, block["name"], block.get("input"), names)
