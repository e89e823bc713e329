"""Reads the content of a message: a string, or blocks of a dozen kinds.

    "text" | None | [{"type": "text"}, {"type": "tool_use"}, {"type": "tool_result"}, ...]
        ──read_content()──▶ Content(text, calls, results, images)

A picture is counted as a picture, never as its letters; what a model thought is named
and left out, as providers leave it out of the next request.

Read after: notes.py, wire/parts.py.     Read next: chat.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentkit.messages import Message, ToolCall
from agentkit.text import clean_text
from agentkit.transcript.notes import Notes
from agentkit.wire import made_up_id
from agentkit.wire.parts import read_call

MAX_DEPTH = 8  # blocks inside results inside blocks
TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "refusal", "markdown"})
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_text"})
PICTURES = frozenset({"image", "image_url", "input_image", "image_file"})
FILES = frozenset({"file", "input_file", "input_audio", "audio", "video", "media"})
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "function_call"})


@dataclass(slots=True)
class Content:
    """What one content holds.

    Attributes:
        texts: In order.
        calls: Tools that are asked for.
        results: Messages with what tools returned; the id is "" where none was given.
        images: Pictures.
    """

    texts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[Message] = field(default_factory=list)
    images: int = 0

    def text(self, *, joined: str = "\n") -> str:
        """Return the texts as one."""
        return joined.join(text for text in self.texts if text)


def read_content(content: Any, at: str, notes: Notes) -> Content:
    """Return what a content holds; what cannot be read is noted by name."""
    found = Content()
    _read(content, at, notes, found, 0)
    return found


def _read(content: Any, at: str, notes: Notes, found: Content, depth: int) -> None:
    if content is None:
        return
    if isinstance(content, str):
        found.texts.append(clean_text(content, max_chars=len(content)))
    elif isinstance(content, Mapping) and depth < MAX_DEPTH:
        _block(content, at, notes, found, depth)
    elif isinstance(content, list) and depth < MAX_DEPTH:
        for block in content:
            _read(block, at, notes, found, depth + 1)
    elif isinstance(content, bool | int | float):
        found.texts.append(json.dumps(content))
    else:
        notes.skip("content nested too deep")


def _block(block: Mapping[str, Any], at: str, notes: Notes, found: Content, depth: int) -> None:
    kind = str(block.get("type") or _kind_without_type(block)).replace("-", "_")
    if kind in TEXTS:
        words = block.get("text", block.get("refusal"))
        _read(words, at, notes, found, depth + 1)
    elif kind in THOUGHTS:
        notes.skip(f"{kind} block")
    elif kind in PICTURES:
        found.images += 1
        found.texts.append("[image]")
    elif kind in CALLS:
        found.calls.append(read_use(block, at, len(found.calls)))
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        notes.votes.update({"Anthropic messages"} if "tool_use_id" in block else ())
        found.results.append(_result(block, at, notes, found, depth))
    elif kind == "document":
        _document(block, at, notes, found, depth)
    elif kind in FILES:
        notes.skip(f"{kind} block (not counted)")
        found.texts.append("[file]")
    else:
        notes.skip(f"{kind} block")


def _kind_without_type(block: Mapping[str, Any]) -> str:
    """Return the kind of a block that does not say it."""
    for key, kind in (("text", "text"), ("tool_use_id", "tool_result"), ("inlineData", "image")):
        if key in block:
            return kind
    return "nameless"


def read_use(block: Mapping[str, Any], at: str, position: int) -> ToolCall:
    """Read a call, in the blocks of any provider."""
    call_id = block.get("id") or block.get("toolCallId") or block.get("tool_call_id")
    name = str(block.get("name") or block.get("toolName") or "tool")
    arguments = next((block[k] for k in ("input", "args", "arguments") if k in block), None)
    return read_call(call_id or made_up_id(at, position), name, arguments, None)


def _result(block: Mapping[str, Any], at: str, notes: Notes, found: Content, depth: int) -> Message:
    """Read a result: its content is a string, blocks, or JSON of the tool's own."""
    inner = Content()
    content = next((block[k] for k in ("content", "result", "output") if k in block), None)
    if isinstance(content, Mapping) and "type" not in content:
        inner.texts.append(clean_text(json.dumps(content, ensure_ascii=False)))
    else:
        _read(content, at, notes, inner, depth + 1)
    found.images += inner.images
    texts = [*inner.texts, *(nested.text for nested in inner.results)]
    call_id = block.get("tool_use_id") or block.get("toolCallId") or block.get("tool_call_id")
    is_error = block.get("is_error") is True or block.get("isError") is True
    text = "\n".join(text for text in texts if text)
    return Message("tool", text, call_id=clean_text(str(call_id or "")), is_error=is_error)


def _document(block: Mapping[str, Any], at: str, notes: Notes, found: Content, depth: int) -> None:
    """Read a document: one of text is text, any other is named and not counted."""
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    if source.get("type") == "text" and isinstance(source.get("data"), str):
        _read(source["data"], at, notes, found, depth + 1)
    elif source.get("type") == "content":
        _read(source.get("content"), at, notes, found, depth + 1)
    else:
        notes.skip("document block (not counted)")
        found.texts.append("[document]")


def label(call: ToolCall) -> str:
    """Return a call in a few words: its name and its first argument that is a text."""
    first = next((v for v in call.arguments.values() if isinstance(v, str) and v.strip()), "")
    words = " ".join(f"{call.name} {first[:200]}".split())
    return words if len(words) <= 60 else f"{words[:59]}…"


def texts_of(blocks: Sequence[Any] | str | None, at: str, notes: Notes) -> str:
    """Return the text of a content of which nothing else is wanted."""
    return read_content(blocks, at, notes).text()
