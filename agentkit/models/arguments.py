"""Fills the arguments of a tool from a request, by the tool's JSON Schema.

    schema {title, text} + "note for next week: finish the report"
        ──fill()──▶ {"title": "finish the report", "text": "next week: finish the report"}

An argument is recognised by its type, its choices, its name and its description, in
that order. One that must be there and cannot be found is an open question: the reader
then asks the user instead of making something up.

Read after: language.py.     Read next: reader.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit.models.language import asks, concepts, content, headline, topic
from agentkit.text import fold
from agentkit.tools import ToolSpec

VERBS = frozenset(
    f"={verb}"
    for verb in "note write remember recall remind search list read delete forget update create".split()
)
_QUOTED = re.compile(r"[\"“”「『《](.+?)[\"“”」』》]|(?<!\w)'([^']{2,})'(?!\w)")
_REFERS = re.compile(r"\b(?:id|title|name)\b")  # an argument that points at something there is
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")
_ID = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{1,12}[-_]?\d[\w-]*")
_PLACE_EN = re.compile(
    r"\b(?:in|at|near|for|to|from)\s+((?:[A-Z][\w'’-]+)(?:\s+(?:[A-Z][\w'’-]+))*)"
)
_PLACE_ZH = re.compile(
    r"(北京|上海|广州|深圳|杭州|南京|成都|重庆|武汉|西安|天津|苏州|长沙|青岛|厦门|香港|台北|"
    r"东京|纽约|伦敦|巴黎|柏林|新加坡|[\u4e00-\u9fff]{2,3}(?=市))"
)
_NUMBERS_ZH = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2}
_NUMBERS_EN = {
    word: n
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}

_KINDS: tuple[tuple[str, frozenset[str]], ...] = (
    (
        "query",
        frozenset("query q question keyword keywords search topic term terms subject".split()),
    ),
    ("title", frozenset("title heading headline label summary".split())),
    ("text", frozenset("text body content contents note message fact memory description".split())),
    ("place", frozenset("city place location town destination where region".split())),
    ("id", frozenset("id identifier number code key uid".split())),
)


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments for one tool.

    Attributes:
        values: By name; only what was found.
        missing: Required ones that the request does not hold.
        explains: Whether an argument takes up what the request is about; one that must
            point at something takes it up only when the request names it exactly.
    """

    values: Mapping[str, Any]
    missing: tuple[str, ...]
    explains: bool


def fill(request: str, tool: ToolSpec) -> Filled:
    """Return what a request gives for each argument of a tool."""
    values: dict[str, Any] = {}
    free = False
    for name, schema in tool.properties.items():
        needed = name in tool.required
        value = _value(request, name, schema, needed=needed, tool=tool)
        if value is not None:
            values[name] = value
            free = free or _takes_up(request, value, _plain(schema), tool)
    missing = tuple(name for name in tool.required if name not in values)
    return Filled(values, missing, free)


def _takes_up(request: str, value: Any, schema: Mapping[str, Any], tool: ToolSpec) -> bool:
    """Return whether this argument holds what the request is about."""
    if not isinstance(value, str) or "enum" in schema:
        return False
    points = tool.tier != "write" and _REFERS.search(_described(schema))
    return certain(request) if points else True


def _value(
    request: str, name: str, schema: Mapping[str, Any], *, needed: bool, tool: ToolSpec
) -> Any:
    """Return the value of one argument, or None where the request holds none."""
    plain = _plain(schema)
    if "enum" in plain:
        return _choice(request, plain["enum"], needed=needed)
    kind = plain.get("type", "string")
    if kind in ("integer", "number"):
        return (
            _number(request, whole=kind == "integer") if needed or _named(name, request) else None
        )
    if kind == "array" and needed and _plain(plain.get("items", {})).get("type") == "string":
        found = _value(request, name, plain.get("items", {}), needed=True, tool=tool)
        return None if found is None else [found]
    if kind != "string":
        return None
    return _string(request, name, plain, needed=needed, tool=tool)


def _plain(schema: Any) -> Mapping[str, Any]:
    """Return the schema of a value that may also be null, without the null."""
    if not isinstance(schema, Mapping):
        return {}
    options = [o for o in schema.get("anyOf", ()) if isinstance(o, Mapping)]
    real = [o for o in options if o.get("type") != "null"]
    return {**schema, **real[0]} if real else schema


def _string(
    request: str, name: str, schema: Mapping[str, Any], *, needed: bool, tool: ToolSpec
) -> str | None:
    """Return a string argument: an id, a place, a title, a query or the content itself."""
    kind = kind_of(name, schema)
    if kind == "text" and tool.tier != "write" and _REFERS.search(_described(schema)):
        kind = "reference"
    quoted = next((a or b for a, b in _QUOTED.findall(request)), None)
    match kind:
        case "id":
            found = _ID.search(request)
            return found.group() if found else quoted if needed else None
        case "reference":
            named = _ID.search(request)
            return named.group() if named else quoted or topic(request, VERBS) or None
        case "place":
            found = _PLACE_ZH.search(request) or _PLACE_EN.search(request)
            return found.group(1) if found else None
        case "title":
            if tool.tier == "write":
                return headline(content(request))
            return quoted or (topic(request, VERBS) or None if needed else None)
        case "text":
            return content(request) if needed or not asks(request) else None
        case "query":
            return quoted or topic(request, _own_words(tool)) or None
    return content(request) if needed else None


def kind_of(name: str, schema: Mapping[str, Any]) -> str:
    """Return what a string argument is for: by its name, else by its description."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    for kind, names in _KINDS:
        if words and words[-1] in names:
            return kind
    described = set(re.findall(r"[a-z]+", _described(schema))[:12])
    return next((kind for kind, names in _KINDS if described & names), "other")


def _described(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", "")).lower()


def certain(request: str) -> bool:
    """Return whether a request names one thing exactly: by an id or between quotes."""
    return bool(_ID.search(request) or _QUOTED.search(request))


def _own_words(tool: ToolSpec) -> frozenset[str]:
    """Return the concepts by which one asks for a tool, which are no part of the question."""
    return VERBS | frozenset(concepts(tool.name))


def _choice(request: str, choices: Sequence[Any], *, needed: bool) -> Any:
    """Return the choice that the request names, in either language."""
    wanted, text = set(concepts(request)), fold(request)
    for choice in choices:
        if fold(str(choice)) in text or set(concepts(str(choice))) & wanted:
            return choice
    return choices[0] if needed and len(choices) == 1 else None


def _named(name: str, request: str) -> bool:
    """Return whether a request speaks of an optional number, e.g. "limit" or "days"."""
    words = set(concepts(name))
    return bool(words & set(concepts(request)))


def _number(request: str, *, whole: bool) -> int | float | None:
    """Return the first number of a request, written in digits or in words."""
    text = fold(request)
    found = _NUMBER.search(text)
    if found:
        return int(float(found.group())) if whole else float(found.group())
    for word in re.findall(r"[a-z]+", text):
        if word in _NUMBERS_EN:
            return _NUMBERS_EN[word]
    spoken = re.search(r"([零一二三四五六七八九十两])(?=[条个天篇项份次])", text)
    return _NUMBERS_ZH[spoken.group(1)] if spoken else None
