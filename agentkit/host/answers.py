"""Puts what a server says into the kit's own words.

    mcp Tool            ──▶ ToolSpec       with the tier its annotations give it
    mcp CallToolResult  ──▶ ToolResult     text for the model, data for programs
    mcp PromptMessage   ──▶ Message

Every text comes from outside, so it is made valid Unicode of bounded size here: a
server's words are data, whatever they say.

Read after: tools.py, messages.py.     Read next: link.py.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp import types

from agentkit.messages import Message, ToolCall, ToolResult
from agentkit.text import clean_json, clean_text
from agentkit.tools import Tier, ToolSpec

FIELDS_KEY = "agentkit/fields"  # in the `_meta` of a tool
MAX_DESCRIPTION_CHARS = 4_000  # about 1,000 tokens; the model reads it in every round
# What a tool is called that takes something away, whatever else it says of itself.
REMOVES = re.compile(
    r"(^|[_\W])(delete|remove|drop|forget|clear|purge|erase|wipe|destroy|truncate|reset)([_\W]|$)"
)


@dataclass(frozen=True, slots=True)
class Resource:
    """Something to read on a server.

    Attributes:
        server: Where it is, e.g. "notes".
        uri: What to ask for, e.g. "note://{id}"; braces stand for a part to fill in.
        name: For people.
        description: What it holds.
        mime_type: Its form, e.g. "application/json"; empty when the server is silent.
    """

    server: str
    uri: str
    name: str
    description: str = ""
    mime_type: str = ""

    @property
    def is_template(self) -> bool:
        """The uri has parts to fill in."""
        return "{" in self.uri


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that a server offers to people, to start a conversation with.

    Attributes:
        name: Qualified by its server, e.g. "notes.review_week".
        description: What it is for.
        arguments: The names of what can be filled in, e.g. ("tag",).
        required: Those of them that must be.
    """

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


def tier_of(name: str, hints: types.ToolAnnotations | None) -> Tier:
    """Return what a call of this tool may do.

    - It says that it only reads: "read".
    - It says that it destroys: "destructive", which asks a person first. One exception:
      destructive *and* idempotent is how a tool says that it replaces one value by
      another (writing a note over an old one), and that is a "write", unless its name
      says that it removes (some servers call a delete idempotent too).
    - It says nothing: "write", or "destructive" when its name says that it removes. The
      protocol would have every silent tool destructive; but most servers are silent,
      and people who are asked before each call learn to answer yes.
    """
    if hints is not None and hints.read_only_hint:
        return "read"
    removes = REMOVES.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) is not None
    if hints is None or hints.destructive_hint is None:
        return "destructive" if removes else "write"
    if not hints.destructive_hint or (hints.idempotent_hint and not removes):
        return "write"
    return "destructive"


def to_spec(server: str, tool: types.Tool) -> ToolSpec:
    """Return a server's tool as the model sees it."""
    hints = tool.annotations
    tier = tier_of(tool.name, hints)
    schema = clean_json(tool.input_schema)
    return ToolSpec(
        name=f"{server}.{clean_text(tool.name)}",
        description=clean_text(
            tool.description or tool.title or "", max_chars=MAX_DESCRIPTION_CHARS
        ),
        schema=schema if isinstance(schema, Mapping) else {"type": "object"},
        tier=tier,
        idempotent=tier == "read" or bool(hints and hints.idempotent_hint),
        fields=_fields(tool.meta),
    )


def _fields(meta: Any) -> dict[str, str]:
    """Return the fields of a result that a server declares: `_meta: {"agentkit/fields": ...}`.

    A list of names, or an object from a name to the one that the model should read.
    """
    declared = clean_json((meta or {}).get(FIELDS_KEY))
    if isinstance(declared, list):
        return {str(name): str(name) for name in declared}
    return {k: str(v) for k, v in declared.items()} if isinstance(declared, dict) else {}


def to_result(call: ToolCall, name: str, answer: types.CallToolResult) -> ToolResult:
    """Return what a tool answered, an error it reports included."""
    data = clean_json(answer.structured_content)
    return ToolResult(
        call_id=call.id,
        name=name,
        text=clean_text("\n".join(content_text(block) for block in answer.content)),
        is_error=bool(answer.is_error),
        data=data if isinstance(data, Mapping) else None,
    )


def content_text(block: types.ContentBlock) -> str:
    """Return a block of content as text; what is no text is described."""
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            return f"[{block.type}, {block.mime_type}, {_size_bytes(block.data)} bytes]"
        case types.ResourceLink():
            about = f": {block.description}" if block.description else ""
            return f"[resource {block.uri} ({block.title or block.name}){about}]"
        case types.EmbeddedResource():
            return contents_text(block.resource)
    return f"[{getattr(block, 'type', 'content')} that this host cannot read]"


def contents_text(contents: types.TextResourceContents | types.BlobResourceContents) -> str:
    """Return what a resource holds as text; what is no text is described."""
    if isinstance(contents, types.TextResourceContents):
        return contents.text
    kind = contents.mime_type or "application/octet-stream"
    return f"[{contents.uri}, {kind}, {_size_bytes(contents.blob)} bytes]"


def _size_bytes(base64: str) -> int:
    """Return how many bytes a base64 text stands for."""
    return len(base64) * 3 // 4 - base64[-2:].count("=")


def to_resource(server: str, found: types.Resource | types.ResourceTemplate) -> Resource:
    """Return a resource or a template of resources."""
    uri = found.uri if isinstance(found, types.Resource) else found.uri_template
    return Resource(
        server=server,
        uri=clean_text(uri),
        name=clean_text(found.title or found.name),
        description=clean_text(found.description or "", max_chars=MAX_DESCRIPTION_CHARS),
        mime_type=clean_text(found.mime_type or ""),
    )


def to_prompt(server: str, found: types.Prompt) -> Prompt:
    """Return a prompt of a server."""
    arguments = found.arguments or []
    return Prompt(
        name=f"{server}.{clean_text(found.name)}",
        description=clean_text(found.description or "", max_chars=MAX_DESCRIPTION_CHARS),
        arguments=tuple(clean_text(argument.name) for argument in arguments),
        required=tuple(clean_text(argument.name) for argument in arguments if argument.required),
    )


def to_messages(answer: types.GetPromptResult) -> list[Message]:
    """Return the messages of a prompt, filled in."""
    return [Message(m.role, clean_text(content_text(m.content))) for m in answer.messages]


def to_json(value: Any) -> dict[str, Any]:
    """Return a message of the wire as it is written there."""
    found: dict[str, Any] = value.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return found
