"""What the offline reader says: a few sentences, in the language of the question.

    [(call, result), …]  ──phrase()──▶  "Done: title “finish the report”, id n0001."

Everything between quotation marks comes from the window; the rest is a fixed frame.

Read after: language.py, reasons.py.     Read next: reader.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentkit.guard import is_empty
from agentkit.messages import Message, ToolCall, ToolResult
from agentkit.models.language import concepts, is_chinese
from agentkit.models.reasons import in_chinese
from agentkit.sentences import sentences

MOST_ITEMS = 5  # of a list; a person asks for more if they want more
MOST_FIELDS = 6  # of one object
MOST_CHARS = 300  # of one quotation
_EMPTY = (
    "hello",
    "heard",
    "welcome",
    "bye",
    "unknown",
    "nothing",
    "cannot",
)  # frames that tell nothing
_CHANGES = frozenset({"=write", "=create", "=update", "=delete", "=forget", "=remember"})

_FRAMES: Mapping[str, tuple[str, str]] = {
    "hello": ("Hello. What shall I look at?", "你好，需要我看什么？"),
    "heard": ("I have read that.", "我读到了。"),
    "cannot": (
        "I was given nothing that can do that; nothing was removed.",
        "我没有可以做这件事的工具，什么也没有删掉。",
    ),
    "welcome": ("You are welcome.", "不客气。"),
    "bye": ("Goodbye.", "再见。"),
    "unknown": (
        "I do not find that in what I was given to read.",
        "在我读到的内容里没有找到这一点。",
    ),
    "user": ("You told me: “{quote}”", "你告诉过我：“{quote}”"),
    "assistant": ("Earlier I said: “{quote}”", "我之前说过：“{quote}”"),
    "tool": ("A tool brought this earlier: “{quote}”", "之前工具查到：“{quote}”"),
    "given": ("From what I was given: “{quote}”", "根据我读到的内容：“{quote}”"),
    "ask": ("For {tool} I still need: {names}.", "要使用 {tool}，我还需要：{names}。"),
    "failed": ("That did not work: {text}", "没有成功：{text}"),
    "nothing": ("I looked, and found nothing.", "我查过了，没有找到。"),
    "found": ("I found this: {text}", "我查到：{text}"),
    "found some": ("I found {n}: {text}", "我找到 {n} 条：{text}"),
    "done": ("Done: {text}", "好的，已完成：{text}"),
    "more": (" … and {n} more", " ……另有 {n} 条"),
}


WAS_ASKED = re.compile(  # what an open question of the reader looks like
    "|".join(
        re.escape(text).replace(r"\{tool\}", ".+").replace(r"\{names\}", ".+")
        for text in _FRAMES["ask"]
    )
)


def say(frame: str, question: str, **parts: Any) -> str:
    """Return a sentence in the language of the question."""
    chinese = is_chinese(question)
    shown = {
        name: ("、" if chinese else ", ").join(part) if isinstance(part, tuple) else part
        for name, part in parts.items()
    }
    return _FRAMES[frame][chinese].format(**shown)


def says_nothing(text: str) -> bool:
    """Return whether a text is one of the reader's own that tells nothing of the matter."""
    return any(text in _FRAMES[name] for name in _EMPTY)


def found_nothing(result: Message) -> bool:
    """Return whether a result says that there is nothing."""
    value = _parse(result.text)
    data = value if isinstance(value, Mapping) else None
    came = ToolResult(result.call_id or "", "", result.text, result.is_error, data)
    return is_empty(came) or "Empty is the answer" in result.text


def told(text: str, arguments: Mapping[str, Any] | None = None) -> list[str]:
    """Return what a result says in words: the texts in its JSON, in order, or itself.

    Args:
        text: The result.
        arguments: Of its call; a field that only repeats one of them says nothing.
    """
    value = _parse(text)
    if not isinstance(value, Mapping | list):
        return [text]
    if isinstance(value, Mapping):
        value = {k: v for k, v in value.items() if (arguments or {}).get(k) != v}
    found: list[str] = []
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, str) and part:
            found.append(part)
        elif isinstance(part, Mapping | list):
            left.extend(reversed(list(part.values() if isinstance(part, Mapping) else part)))
    return found


def phrase(results: Sequence[tuple[ToolCall, Message]], *, question: str) -> str:
    """Return what the last results say. Earlier ones of the turn led to them."""
    call, last = results[-1]
    if last.is_error:
        why = in_chinese(last.text) if is_chinese(question) else last.text
        return say("failed", question, text=_short(why))
    value = _parse(last.text)
    if isinstance(value, Mapping | list):
        named = concepts(call.name.rpartition(".")[2])  # "memory.recall" changes nothing
        return _structured(value, question, changed=bool(_CHANGES & set(named)))
    if found_nothing(last):
        return say("nothing", question)
    return say("found", question, text=_best(last.text, question))


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _structured(value: Any, question: str, *, changed: bool) -> str:
    """Say a structured result: its list if it has one, else its fields."""
    if changed and isinstance(value, Mapping):
        return say("done", question, text=_named(value))
    items = value if isinstance(value, list) else _list_of(value)
    if items is None:
        fields = _fields(value)
        return say("found", question, text=fields) if fields else say("nothing", question)
    if not items:
        return say("nothing", question)
    shown = ("；" if is_chinese(question) else "; ").join(
        _item(item) for item in items[:MOST_ITEMS]
    )
    more = say("more", question, n=len(items) - MOST_ITEMS) if len(items) > MOST_ITEMS else ""
    return say("found some", question, n=len(items), text=shown + more)


def _list_of(value: Mapping[str, Any]) -> list[Any] | None:
    return next((item for item in value.values() if isinstance(item, list)), None)


def _named(value: Mapping[str, Any]) -> str:
    """Return an object by its title, with its other short texts behind: “title” (id, …)."""
    texts = {name: item for name, item in value.items() if isinstance(item, str) and item}
    title = next((texts.pop(name) for name in ("title", "name", "text") if name in texts), None)
    rest = ", ".join(_short(text) for text in list(texts.values())[:MOST_FIELDS])
    if title is None:
        return rest or "ok"
    return f"“{_short(title)}” ({rest})" if rest else f"“{_short(title)}”"


def _fields(value: Mapping[str, Any]) -> str:
    """Return the plain fields of an object, texts quoted."""
    plain = [
        (name, item)
        for name, item in value.items()
        if isinstance(item, str | int | float) and item != "" and not isinstance(item, bool)
    ]
    return ", ".join(
        f"{name} “{_short(item)}”"
        if isinstance(item, str) and (" " in item or is_chinese(item))
        else f"{name} {item}"
        for name, item in plain[:MOST_FIELDS]
    )


def _item(item: Any) -> str:
    """Return one entry of a list: its longest texts, else what it is."""
    if not isinstance(item, Mapping):
        return f"“{_short(str(item))}”"
    names = ("title", "name", "text", "excerpt", "snippet", "summary", "content", "value")
    texts = [item[name] for name in names if isinstance(item.get(name), str) and item[name]]
    return " — ".join(f"“{_short(text)}”" for text in texts[:2]) or _fields(item)


def _best(text: str, question: str) -> str:
    """Return a short text whole, and of a long one the sentence nearest the question."""
    if len(text) <= MOST_CHARS:
        return text
    wanted = set(concepts(question))
    parts = sentences(text)
    return _short(max(parts, key=lambda part: len(wanted & set(concepts(part)))))


def _short(text: str) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= MOST_CHARS else line[: MOST_CHARS - 1] + "…"
