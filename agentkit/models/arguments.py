"""Fills the arguments of a tool from a request, by the tool's JSON Schema.

    schema {title, text} + "note for next week: finish the report"
        ──fill()──▶ {"title": "finish the report", "text": "next week: finish the report"}

An argument is recognised by its type, its choices, its name and its description, in
that order. One that must be there and cannot be found is an open question: the reader
then asks the user instead of making something up.

Read after: language.py, values.py, intent.py, things.py.     Read next: reader.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit.models import values
from agentkit.models.intent import asks, content, headline
from agentkit.models.language import VERBS, concepts, gist, topic
from agentkit.models.things import named_thing
from agentkit.text import fold
from agentkit.tools import ToolSpec

_REFERS = re.compile(r"\b(?:id|title|name)\b")  # an argument that points at something there is
_DEFAULT = re.compile(r"\buse '([^']+)'[^.]*\bif no", re.IGNORECASE)
_FIRST = frozenset({"source", "from", "origin", "start", "departure"})
_LAST = frozenset({"target", "to", "destination", "end", "dest", "arrival"})
_CALLED = re.compile(r"\b(?:called|named|titled)\s+(\w[^\"“”,;:\n]*)(?=:\s)")
_AMOUNTS = frozenset({"limit", "count", "max", "top", "n", "number", "amount"})
_MANY_ZH = re.compile(r"(?:最近|最新|前|最多)\s*[\d零一二三四五六七八九十两]+\s*[条个篇份项]")
_NOT = re.compile(r"\b(?:not|no|without|non)\W+$|(?:不|没|别|非)[要用是]?$")

# What a string argument is for: the last word of its name, or a word of its description.
_KINDS: Mapping[str, frozenset[str]] = {
    "query": frozenset("query q question keyword keywords search topic term terms".split()),
    "title": frozenset("title heading headline label subject".split()),
    "text": frozenset("text body content contents note message fact memory description".split()),
    "zone": frozenset("timezone tz zone".split()),
    "place": frozenset("city place location town destination origin where region".split()),
    "time": frozenset("time hour clock".split()),
    "date": frozenset("date day when".split()),
    "id": frozenset("id identifier number code key uid".split()),
}
_LABELS: Mapping[str, frozenset[str]] = {  # by which name a request gives one
    "title": frozenset({"title", "titled", "heading", "标题", "题目", "名为"}),
    "text": frozenset({"text", "body", "content", "内容", "正文"}),
    "query": frozenset({"query", "关键词"}),
}


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
    found: dict[str, Any] = {}
    free = False
    for name, schema in tool.properties.items():
        value = _value(request, name, plain_schema(schema), tool)
        if value is not None:
            found[name] = value
            free = free or _takes_up(request, value, plain_schema(schema), tool)
    missing = tuple(name for name in tool.required if name not in found)
    return Filled(found, missing, free)


def _takes_up(request: str, value: Any, schema: Mapping[str, Any], tool: ToolSpec) -> bool:
    """Return whether this argument holds what the request is about."""
    if not isinstance(value, str | list) or "enum" in schema:
        return False
    return certain(gist(request)) if _points(schema, tool) else True


def _points(schema: Mapping[str, Any], tool: ToolSpec) -> bool:
    """Return whether an argument must name something that is there already."""
    return tool.tier != "write" and _REFERS.search(_described(schema)) is not None


def _value(request: str, name: str, schema: Mapping[str, Any], tool: ToolSpec) -> Any:
    """Return the value of one argument, or None where the request holds none."""
    needed = name in tool.required
    whole, request = request, gist(request)
    if "enum" in schema:
        return _choice(request, name, schema["enum"], needed=needed)
    match schema.get("type", "string"):
        case "integer" | "number":
            return _number(request, name, tool)
        case "boolean":
            return _yes_or_no(request, name)
        case "array":
            return _array(request, name, plain_schema(schema.get("items", {})), tool)
        case "string":
            return _string(request, name, schema, tool, whole) or _default(schema, needed=needed)
    return None


def plain_schema(schema: Any) -> Mapping[str, Any]:
    """Return the schema of a value that may also be null, without the null.

    Schemas come from servers: what is no schema stands for any value.
    """
    if not isinstance(schema, Mapping):
        return {}
    found = dict(schema)
    options = schema.get("anyOf")
    real = [o for o in options if isinstance(o, Mapping)] if isinstance(options, list) else []
    real = [option for option in real if option.get("type") != "null"]
    found.update(real[0] if real else {})
    if isinstance(found.get("type"), list):
        found["type"] = next((kind for kind in found["type"] if kind != "null"), "null")
    if not isinstance(found.get("enum", []), list):
        del found["enum"]
    return found


def _string(
    request: str, name: str, schema: Mapping[str, Any], tool: ToolSpec, whole: str
) -> str | None:
    """Return a string argument: an id, a place, a time, a title, a query or the content."""
    kind = kind_of(name, schema)
    needed = name in tool.required
    named = values.labelled(
        request, _LABELS.get(kind, frozenset()) | {name, name.replace("_", " ")}
    )
    if named is not None:
        return named
    if kind in ("text", "title", "other") and _points(schema, tool):
        return values.identifier(request) or values.quoted(request) or _called(request)
    match kind:
        case "id":
            return values.identifier(request) or (values.quoted(request) if needed else None)
        case "zone":
            return _from_or_to(name, _zones(request))
        case "place":
            return _from_or_to(name, values.places(request))
        case "time":
            return next(iter(values.times(request)), None)
        case "date":
            return next(iter(values.dates(request)), None)
        case "query":
            return values.quoted(request) or topic(request, _own_words(tool)) or None
        case "title" | "text":
            return _words(whole, kind, tool, needed=needed) if needed or _plainly(name) else None
    return (values.quoted(request) or content(whole) or None) if needed else None


def _called(request: str) -> str | None:
    """Return what a request calls something that is there: as it is said, else what it is about."""
    about = topic(request, VERBS)
    return (named_thing(request) or about) if about else None


def _words(request: str, kind: str, tool: ToolSpec, *, needed: bool) -> str | None:
    """Return the words that a request hands over, or their headline."""
    if tool.tier != "write":
        brief = gist(request)
        wanted = values.quoted(brief) or (_called(brief) if kind == "title" else "")
        return wanted or (content(request) if kind == "text" else None) if needed else None
    if not needed and asks(gist(request)):
        return None
    called = _CALLED.search(request)
    handed = values.labelled(request, _LABELS["text"]) or content(request)
    if called:
        if kind == "title":
            return called.group(1)
        handed = request[called.end() :].strip(" :")
    return (headline(handed) if kind == "title" else handed) or None


def kind_of(name: str, schema: Mapping[str, Any]) -> str:
    """Return what a string argument is for: by its name, else by its description."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    for kind, names in _KINDS.items():
        if words and words[-1] in names:
            return kind
    described = set(re.findall(r"[a-z]+", _described(schema))[:12])
    return next((kind for kind, names in _KINDS.items() if described & names), "other")


def _plainly(name: str) -> bool:
    """Return whether a name alone says that an argument takes what a request hands over.

    What need not be there is not guessed from a description, and a subject is one that
    the user names: "kind" and "subject" of a memory are none of its text.
    """
    return name != "subject" and kind_of(name, {}) in ("title", "text")


def _described(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", "")).lower()


def _default(schema: Mapping[str, Any], *, needed: bool) -> str | None:
    """Return what a description says to send where the user names nothing."""
    found = _DEFAULT.search(str(schema.get("description", ""))) if needed else None
    return found.group(1) if found else None


def certain(request: str) -> bool:
    """Return whether a request names one thing exactly: by an id or between quotes."""
    return bool(values.identifier(request) or values.quoted(request))


def _own_words(tool: ToolSpec) -> frozenset[str]:
    """Return the concepts by which one asks for a tool, which are no part of the question."""
    return VERBS | frozenset(concepts(tool.name))


def _choice(request: str, name: str, choices: Sequence[Any], *, needed: bool) -> Any:
    """Return the choice that a request names; of several, the one in this argument's place."""
    named = _named_choices(request, choices)
    words = set(re.findall(r"[a-z]+", name.lower()))
    if named:
        return named[-1] if words & _LAST and len(named) > 1 else named[0]
    return choices[0] if needed and len(choices) == 1 else None


def _named_choices(request: str, choices: Sequence[Any]) -> list[Any]:
    """Return the choices that a request names, in either language, in its order."""
    wanted, text = concepts(request), fold(request)
    found: list[tuple[int, Any]] = []
    for choice in choices:
        word = re.escape(fold(str(choice)).replace("_", " "))
        meant = concepts(str(choice))
        written = re.search(rf"(?<![a-z0-9]){word}(?![a-z0-9])", text)
        if written:
            found.append((written.start(), choice))
        elif meant and set(meant) <= set(wanted):
            found.append((len(text) + wanted.index(meant[0]), choice))
    return [choice for _, choice in sorted(found, key=lambda pair: pair[0])]


def _number(request: str, name: str, tool: ToolSpec) -> int | float | None:
    """Return the number that this argument stands for; of several, the one in its place."""
    kinds = {n: plain_schema(s).get("type") for n, s in tool.properties.items()}
    whole = kinds[name] == "integer"
    named = values.labelled(request, {name, name.replace("_", " ")})
    found = values.numbers(named or request, whole=whole)
    if named is not None:
        return found[0] if found else None
    needed = [n for n in tool.required if kinds.get(n) in ("integer", "number")]
    if name in needed:
        return found[needed.index(name)] if needed.index(name) < len(found) else None
    spoken_of = set(concepts(name)) & set(concepts(request))
    return found[0] if found and (spoken_of or _so_many(request, name, tool)) else None


def _so_many(request: str, name: str, tool: ToolSpec) -> bool:
    """Return whether a request asks for so many things: "the last 3 notes", "最近三条"."""
    if name.split("_")[-1] not in _AMOUNTS:
        return False
    things = set(concepts(tool.name)) - (VERBS - {"=note"})
    many = re.search(
        r"\b(?:last|next|first|latest|newest|top|best)\s+\w+\s+([a-z]+)", fold(request)
    )
    return bool(many and things & set(concepts(many.group(1)))) or bool(_MANY_ZH.search(request))


def _yes_or_no(request: str, name: str) -> bool | None:
    """Return True where the request speaks of it, False where it says not to, else None."""
    for word in re.finditer(r"[a-z']+|[\u4e00-\u9fff]+", fold(request)):
        shared = set(concepts(word.group())) & set(concepts(name))
        if shared:
            before = fold(request)[: word.end()]
            said = before[: word.start()] if word.group().isascii() else before
            return not (_NOT.search(said) or re.search("不|没|别", word.group()))
    return None


def _array(request: str, name: str, items: Mapping[str, Any], tool: ToolSpec) -> list[Any] | None:
    """Return the parts of an enumeration: behind the argument's name, or behind a colon."""
    kind = items.get("type", "string")
    if kind in ("integer", "number"):
        return values.numbers(request, whole=kind == "integer") or None
    if "enum" in items:
        return _named_choices(request, items["enum"]) or None
    named = re.search(rf"(?i)\b{re.escape(name)}\s*(?:are\s|[=:：])\s*(.+)$", request)
    if named:
        return values.listed(named.group(1))
    if kind != "string" or name not in tool.required:
        return None
    colon = re.search(r"[:：]\s*(.+)$", request)
    others = {word for other in tool.properties if other != name for word in concepts(other)}
    parts = values.listed(colon.group(1) if colon else content(request))
    return [part for part in parts if not others & set(concepts(part))] or None


def _zones(request: str) -> list[tuple[str, str]]:
    """Return time zones: as they are written, else those of the cities that are named."""
    written = re.findall(r"\b[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+\b|\bUTC\b", request)
    named = [(word, values.zone(place)) for word, place in values.places(request)]
    return [("", zone) for zone in written] or [(word, zone) for word, zone in named if zone]


def _from_or_to(name: str, found: Sequence[tuple[str, str]]) -> str | None:
    """Return the place for an argument: "source" and the like leave, "target" arrives."""
    words = set(re.findall(r"[a-z]+", name.lower()))
    leaves = [place for word, place in found if word in ("from", "从")]
    others = [place for word, place in found if word not in ("from", "从")]
    fitting = others or leaves
    if words & _FIRST:
        fitting = leaves or others[:-1]
    elif words & _LAST:
        fitting = others[-1:]
    return fitting[0] if fitting else None
