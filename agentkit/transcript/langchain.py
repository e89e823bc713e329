"""Reads messages as LangChain dumps them, in its three ways.

    {"type": "ai", "data": {"content": ..., "tool_calls": [...]}}           messages_to_dict
    {"type": "ai", "content": ..., "tool_calls": [...]}                     model_dump
    {"lc": 1, "id": [..., "AIMessage"], "kwargs": {"content": ...}}         dumps

Read after: chat.py.     Read next: claude_code.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentkit.messages import Role
from agentkit.transcript.chat import Element, read_chat
from agentkit.transcript.notes import Entry, Notes
from agentkit.transcript.usage import read_usage

ROLE_OF: Mapping[str, Role] = {
    "system": "system",
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}
OTHER_TYPES = ("chat", "remove")


def is_langchain(element: Element) -> bool:
    """Return whether this is a dumped message."""
    return bool(_fields(element)[0])


def _fields(element: Element) -> tuple[str, Mapping[str, Any]]:
    """Return the type of a dumped message, in lower case, and its fields; "" for none."""
    names = element.get("id")
    kwargs = element.get("kwargs")
    if "lc" in element and isinstance(names, list) and names and isinstance(kwargs, dict):
        name = str(names[-1])
        return (_plain(name), kwargs) if "Message" in name else ("", {})
    kind = element.get("type")
    if not isinstance(kind, str) or "message" in element:
        return "", {}
    data = element.get("data")
    if isinstance(data, dict) and _plain(kind) in (*ROLE_OF, *OTHER_TYPES):
        return _plain(kind), data
    if "role" not in element and "content" in element and _plain(kind) in ROLE_OF:
        return _plain(kind), element
    return "", {}


def _plain(name: str) -> str:
    """Return "ai" for "ai", "AIMessage" and "AIMessageChunk"."""
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def read_langchain(element: Element, at: str, notes: Notes) -> Iterator[Entry]:
    """Yield the entry of one dumped message."""
    kind, fields = _fields(element)
    notes.votes.add("LangChain messages")
    role: str | None = ROLE_OF.get(kind)
    if kind == "chat":
        role = str(fields.get("role"))
    if role is None:
        notes.skip(f"{kind} message")
        return
    said = {
        "role": role,
        "content": fields.get("content"),
        "tool_calls": _calls(fields),
        "tool_call_id": fields.get("tool_call_id"),
        "status": fields.get("status"),
    }
    usage = read_usage(fields.get("usage_metadata"), at, notes)
    response = fields.get("response_metadata")
    response = response if isinstance(response, dict) else {}
    usage = usage or read_usage(response.get("token_usage") or response.get("usage"), at, notes)
    model = str(response.get("model_name") or response.get("model") or "")
    for entry in read_chat(said, at, notes):
        yield Entry(entry.message, at, "", usage, model, images=entry.images)


def _calls(fields: Mapping[str, Any]) -> list[Any]:
    """Return the calls of a message, those with arguments that are no JSON among them."""
    extra = fields.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    calls: list[Any] = []
    for found in (fields.get("tool_calls"), fields.get("invalid_tool_calls")):
        calls += found if isinstance(found, list) else []
    content = fields.get("content")
    if any(isinstance(b, dict) and b.get("type") == "tool_use" for b in _blocks(content)):
        return []  # the same calls stand in the content
    raw = extra.get("tool_calls")
    return calls or (raw if isinstance(raw, list) else [])


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []
