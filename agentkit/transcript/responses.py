"""Reads the items of OpenAI's responses: messages, calls and their outputs apart.

    {"type": "function_call", "call_id": "fc_1", ...}    ┐ neighbours of one answer
    {"type": "function_call", "call_id": "fc_2", ...}    ┘ become one assistant message
    {"type": "function_call_output", "call_id": "fc_1"}

Read after: chat.py.     Read next: langchain.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentkit.messages import Message, ToolCall
from agentkit.text import clean_text
from agentkit.transcript.blocks import read_content
from agentkit.transcript.chat import Element, read_chat
from agentkit.transcript.notes import Entry, Notes
from agentkit.wire import made_up_id
from agentkit.wire.parts import read_call

CALLS = (
    "function_call",
    "custom_tool_call",
    "mcp_call",
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
)
OUTPUTS = tuple(f"{call}_output" for call in CALLS)
WORDS = (
    "arguments",
    "input",
    "action",
    "operation",
)  # under one of these a call says what it wants
GROUP = "one answer"  # until something else comes, all of it is one message
OTHER_ITEMS = (
    "reasoning",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "item_reference",
    "compaction",
)
ITEMS = frozenset({*CALLS, *OUTPUTS, *OTHER_ITEMS})


def is_item(element: Element) -> bool:
    """Return whether this is an item of responses."""
    kind = element.get("type")
    whole_answer = "stop_reason" in element or "usage" in element  # Anthropic's
    return kind in ITEMS or (kind == "message" and "role" in element and not whole_answer)


def read_item(element: Element, at: str, notes: Notes) -> Iterator[Entry]:
    """Yield the entries of one item; one that is no message or call is skipped by name."""
    kind = str(element.get("type"))
    notes.votes.add("OpenAI responses")
    if kind == "message":
        group = GROUP if element.get("role") == "assistant" else ""
        yield from read_chat(element, at, notes, group=group)
    elif kind in CALLS:
        call_id = element.get("call_id") or element.get("id") or made_up_id(at)
        yield Entry(Message("assistant", "", (_call(element, kind, call_id),)), at, group=GROUP)
        if kind == "mcp_call" and "output" in element:
            yield _output(element, str(call_id), at, notes)
    elif kind in OUTPUTS:
        call_id = element.get("call_id") or element.get("id") or ""
        yield _output(element, str(call_id), at, notes)
    else:
        notes.skip(f"{kind} item")


def _call(element: Element, kind: str, call_id: object) -> ToolCall:
    """Return a call; what a tool of free text gets is text, and no broken JSON."""
    name = str(element.get("name") or kind.removesuffix("_call"))
    words: Any = next((element[key] for key in WORDS if key in element), None)
    if kind == "custom_tool_call" and isinstance(words, str):
        words = {"input": words}
    return read_call(call_id, name, words, None)


def _output(element: Element, call_id: str, at: str, notes: Notes) -> Entry:
    output: Any = element.get("output")
    failed = bool(element.get("error")) or element.get("status") == "failed"
    found = read_content(output, at, notes, of_a_tool=True)
    message = Message("tool", found.text(), call_id=clean_text(call_id), is_error=failed)
    return Entry(message, at, images=tuple(found.images))
