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
from agentkit.transcript.pictures import Picture, picture_of
from agentkit.wire import made_up_id
from agentkit.wire.parts import read_call

KEYS = (  # what a block without a type is, by what it holds: Gemini's, Bedrock's
    ("text", "text"),
    ("tool_use_id", "tool_result"),
    ("inlineData", "image"),
    ("inline_data", "image"),
    ("image", "image"),
    ("functionCall", "tool_use"),
    ("function_call", "tool_use"),
    ("toolUse", "tool_use"),
    ("functionResponse", "tool_result"),
    ("function_response", "tool_result"),
    ("toolResult", "tool_result"),
)
IDS = ("tool_use_id", "toolUseId", "toolCallId", "tool_call_id")
MOST_WORD = 200  # characters; a longer word is packed data, and no address either
MAX_DEPTH = 8  # blocks inside results inside blocks
TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "refusal", "markdown"})
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_text"})
PICTURES = frozenset({"image", "image_url", "input_image", "image_file", "computer_screenshot"})
FILES = frozenset({"file", "input_file", "input_audio", "audio", "video", "media"})
RESULTS = ("content", "result", "output", "response")
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "function_call"})


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool returned, as a message, and the pictures in it."""

    message: Message
    images: tuple[Picture, ...] = ()


@dataclass(slots=True)
class Content:
    """What one content holds.

    Attributes:
        texts: In order.
        calls: Tools that are asked for.
        results: What tools returned; the id is "" where none was given.
        images: Pictures beside the results.
        inside: It is itself what a tool returned: what has no name there is read too.
    """

    texts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    images: list[Picture] = field(default_factory=list)
    inside: bool = False

    def text(self, *, joined: str = "\n") -> str:
        """Return the texts as one."""
        return joined.join(text for text in self.texts if text)


def read_content(content: Any, at: str, notes: Notes, *, of_a_tool: bool = False) -> Content:
    """Return what a content holds; what cannot be read is noted by name."""
    found = Content(inside=of_a_tool)
    _read(content, at, notes, found, 0)
    return found


def _read(content: Any, at: str, notes: Notes, found: Content, depth: int) -> None:
    if content is None:
        return
    if isinstance(content, str):
        found.texts.append(clean_text(content, max_chars=len(content)))
    elif isinstance(content, dict) and depth < MAX_DEPTH:
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
        words = words.get("value") if isinstance(words, dict) else words  # of an assistant's thread
        _read(words, at, notes, found, depth + 1)
    elif kind in THOUGHTS:
        notes.skip(f"{kind} block")
    elif kind in PICTURES:
        found.images.append(picture_of(block))
        found.texts.append("[image]")
    elif kind in CALLS:
        found.calls.append(read_use(block, at, len(found.calls)))
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        notes.votes.update({"Anthropic messages"} if "tool_use_id" in block else ())
        found.results.append(_result(block, at, notes, depth))
    elif kind == "document":
        _document(block, at, notes, found, depth)
    elif kind in FILES:
        notes.skip(f"{kind} block (not counted)")
        found.texts.append("[file]")
    elif found.inside:
        _of_a_tool(block, kind, notes, found)
    else:
        notes.skip(f"{kind} block")


def _of_a_tool(block: Mapping[str, Any], kind: str, notes: Notes, found: Content) -> None:
    """Read a block of a tool's own: its words, and none of what only programs can read."""
    words = {key: value for key, value in block.items() if not _is_packed(value)}
    if len(words) < len(block):
        notes.skip(f"packed data of a {kind} block (not counted)")
    words.pop("type", None)
    found.texts.append(clean_text(json.dumps(words, ensure_ascii=False)))


def _is_packed(value: Any) -> bool:
    """Return whether a value is encrypted or base64: long, and without a space."""
    return isinstance(value, str) and len(value) > MOST_WORD and len(value.split(None, 1)) == 1


def _kind_without_type(block: Mapping[str, Any]) -> str:
    """Return the kind of a block that does not say it."""
    for key, kind in KEYS:
        if key in block:
            return kind
    return "nameless"


def _inner(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a call or a result says, where it stands one object deeper."""
    deeper = (block[key] for key, kind in KEYS if kind.startswith("tool_") and key in block)
    return next((inner for inner in deeper if isinstance(inner, dict)), block)


def read_use(block: Mapping[str, Any], at: str, position: int) -> ToolCall:
    """Read a call, in the blocks of any provider."""
    block = _inner(block)
    call_id = next((block[key] for key in ("id", *IDS) if block.get(key)), None)
    name = str(block.get("name") or block.get("toolName") or "tool")
    arguments = next((block[k] for k in ("input", "args", "arguments") if k in block), None)
    return read_call(call_id or made_up_id(at, position), name, arguments, None)


def _result(block: Mapping[str, Any], at: str, notes: Notes, depth: int) -> Result:
    """Read a result: its content is a string, blocks, or JSON of the tool's own."""
    block = _inner(block)
    inner = Content(inside=True)
    content = next((block[k] for k in RESULTS if k in block), None)
    if isinstance(content, dict) and "type" not in content:
        inner.texts.append(clean_text(json.dumps(content, ensure_ascii=False)))
    else:
        _read(content, at, notes, inner, depth + 1)
    texts = [*inner.texts, *(nested.message.text for nested in inner.results)]
    images = [*inner.images, *(image for nested in inner.results for image in nested.images)]
    call_id = next((block[key] for key in IDS if block.get(key)), None)
    failed = block.get("is_error") is True or block.get("isError") is True
    is_error = failed or block.get("status") == "error"
    text = "\n".join(text for text in texts if text)
    message = Message("tool", text, call_id=clean_text(str(call_id or "")), is_error=is_error)
    return Result(message, tuple(images))


def _document(block: Mapping[str, Any], at: str, notes: Notes, found: Content, depth: int) -> None:
    """Read a document: one of text is text, any other is named and not counted."""
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
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
