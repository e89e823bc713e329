"""Reads messages that have a role: OpenAI chat, Anthropic, Chinese or English plain lists.

    {"role": "assistant", "content": null, "tool_calls": [...]}       OpenAI chat
    {"role": "user", "content": [{"type": "tool_result", ...}]}       Anthropic
    {"角色": "用户", "内容": "你好"} · {"from": "human", "value": "hi"}   plain

Read after: blocks.py, usage.py.     Read next: responses.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentkit.messages import Message, Role, ToolCall
from agentkit.text import clean_text
from agentkit.transcript.blocks import Content, read_content, read_use
from agentkit.transcript.notes import Chain, Entry, Notes
from agentkit.transcript.usage import read_usage
from agentkit.wire import made_up_id
from agentkit.wire.parts import read_call

Element = Mapping[str, Any]  # always a dict: JSON has no other, and to ask for that is fast

ROLE_OF: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "customer": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "bot": "assistant",
    "agent": "assistant",
    "tool": "tool",
    "function": "tool",
    "系统": "system",
    "用户": "user",
    "客户": "user",
    "助手": "assistant",
    "助理": "assistant",
    "客服": "assistant",
    "机器人": "assistant",
    "工具": "tool",
}
ROLE_KEYS = ("role", "from", "speaker", "author", "sender", "角色")
CONTENT_KEYS = ("content", "parts", "value", "text", "message", "内容", "文本")


def role_of(element: Element) -> tuple[str, Role | None]:
    """Return a message's role as it is written, and as the kit calls it."""
    for key in ROLE_KEYS:
        value = element.get(key)
        if isinstance(value, dict):  # {"author": {"role": "user"}}
            value = value.get("role")
        if isinstance(value, str):
            return value, ROLE_OF.get(value.strip().lower())
    return "", None


def is_chat(element: Element) -> bool:
    """Return whether this is a message with a role and something it says or calls."""
    written, _ = role_of(element)
    return bool(written) and any(
        key in element for key in (*CONTENT_KEYS, "tool_calls", "function_call")
    )


def read_chat(
    element: Element, at: str, notes: Notes, *, chain: Chain = "main", group: str = ""
) -> Iterator[Entry]:
    """Yield the entries of one message: results first, then what it says itself.

    What a provider's own tools returned stands in the answer that called them: there the
    calls come first.
    """
    written, role = role_of(element)
    if role is None:
        notes.skip(f"role {written}")
        return
    raw = next((element[k] for k in CONTENT_KEYS if element.get(k) is not None), None)
    content = read_content(raw if raw is not None else element.get("refusal"), at, notes)
    usage = read_usage(element.get("usage"), at, notes)
    model = str(element.get("model") or "")
    if "stop_reason" in element:
        notes.votes.add("Anthropic messages")
    if role == "tool" and not content.results:
        images = tuple(content.images)
        yield Entry(_tool_message(element, content), at, images=images, chain=chain)
        notes.votes.add("OpenAI chat")
        return
    results = [Entry(r.message, at, chain=chain, images=r.images) for r in content.results]
    if role != "assistant":
        yield from results
    calls = (*content.calls, *_calls(element, at, notes)) if role == "assistant" else ()
    text = content.text(joined="" if role == "assistant" else "\n")
    if any(block_call.id.startswith("toolu_") for block_call in content.calls):
        notes.votes.add("Anthropic messages")
    if role == "system":
        notes.add_system(text)
    elif text or calls or not content.results:
        message = Message(role, text, calls) if role != "tool" else Message("user", text)
        yield Entry(message, at, "", usage, model, chain, tuple(content.images), group)
    if role == "assistant":
        yield from results
    notes.votes.add("plain messages")


def _tool_message(element: Element, content: Content) -> Message:
    call_id = next(
        (
            element[k]
            for k in ("tool_call_id", "toolCallId", "call_id", "tool_use_id", "id")
            if element.get(k)
        ),
        "",
    )
    is_error = element.get("is_error") is True or element.get("status") == "error"
    return Message("tool", content.text(), call_id=clean_text(str(call_id)), is_error=is_error)


def _calls(element: Element, at: str, notes: Notes) -> Iterator[ToolCall]:
    """Yield the calls that stand beside the content, in today's form or that of before tools."""
    calls = element.get("tool_calls")
    if isinstance(calls, str | Mapping):
        notes.skip("tool_calls that are no list")
    if not isinstance(calls, Sequence) or isinstance(calls, str) or not calls:
        old = element.get("function_call")
        calls = [{"function": old}] if isinstance(old, dict) else []
    for position, call in enumerate(calls):
        if not isinstance(call, dict):
            notes.skip("tool call that is no object")
            continue
        function = call.get("function") or call.get("custom")
        if not isinstance(function, dict):
            yield read_use(call, at, position)
            continue
        notes.votes.add("OpenAI chat")
        call_id = call.get("id") or made_up_id(at, position)
        free = "custom" in call and isinstance(function.get("input"), str)
        arguments = {"input": function["input"]} if free else function.get("arguments")
        yield read_call(call_id, str(function.get("name") or "tool"), arguments, None)
