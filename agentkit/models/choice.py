"""Which tool a request calls for: the one whose description fits it best.

    "do I need an umbrella tomorrow?"
        get_weather  "... rain, umbrella, what to wear ..."   umbrella is there   ──▶ this one
        write_note   "... the user wants something noted ..." nothing is there

A description is all that counts, as for any model: what it does not say, nobody finds.
A sentence that says when *not* to use a tool speaks for no tool.

Read after: arguments.py.     Read next: reader.py.
Built in:   notebooks/06_the_loop.ipynb
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from agentkit.models.arguments import Filled, certain, fill, plain_schema
from agentkit.models.intent import TIMES, asks, command_length, courtesy, personal, refuses, tells
from agentkit.models.language import VERBS, concepts, gist
from agentkit.models.values import identifier, without_quotes
from agentkit.sentences import sentences
from agentkit.tools import ToolSpec

IN_NAME = 1.5  # a word of the tool's name says more than one of its description
NEAR = 0.5  # for a word that is near in meaning, see _NEAR
TAKES_UP = 1.8  # for a tool whose arguments take up what the request is about
LEAVES_OUT = 0.5  # for one that has no place for it
MISSES = 0.5  # for one that cannot be called with what the request holds
LEAST_SCORE = 0.35  # below this, what is shared is chance

_NEAR = {
    "=remind": "=note",
    "=remember": "=note",
    "=forget": "=delete",
    "=show": "=read",
    "=read": "=show",
    "=recall": "=search",
    "=search": "=recall",
}
_AS_VERBS = frozenset({"=list", "=read", "=show"})  # what they mean at the beginning of a request
_REMOVES = frozenset({"=delete", "=forget", "=cancel"})
_LOOKS_UP = frozenset({"=recall", "=search"})
# Sentences of a description that tell when *not* to use it, or what comes back.
_ASIDE = re.compile(
    r"(?i)(?:do )?not?\b|never\b|otherwise\b|returns?\b|fails?\b|"
    r"(?:不要|不用|不能|勿|否则|返回|失败)"
)
_INSTEAD = re.compile(r"(?i)\binstead\b|\brather than\b|而不是|请用|改用")
_IN_NOTES = re.compile(r"(?i)\b(?:in|to|into|as) (?:(?:my|the|a|your) )?notes?\b|笔记|备忘|便签")
# Words that descriptions of tools share whatever the tool does.
_GENERIC = frozenset(
    concepts(
        "user asks use tool next best return value result results text string example call one "
        "given number optional default need limit fails error get set name data information used "
        "last first changed words subject know"
    )
)


def choose(
    request: str, tools: Sequence[ToolSpec], *, kept: bool = False
) -> tuple[ToolSpec, Filled] | None:
    """Return the tool whose description fits a request best, with its arguments.

    A shared word counts by its rarity among the tools, one in a tool's name more. A
    tool with a place for what the request is about counts more, one that lacks an
    argument less. Nothing is destroyed unless the request says so. Ties go to the
    tool that is listed first.

    Args:
        request: What the user wants.
        tools: Those that may be called.
        kept: Memory remembers by itself what it is asked to, so no note is made of that.
    """
    whole, request = request, gist(request)
    if courtesy(request) or tells(request) or (refuses(request) and not command_length(request)):
        return None
    names = [set(concepts(tool.name.rpartition(".")[2])) for tool in tools]
    if kept and _remembers(request) and not any("=remember" in name for name in names):
        return None
    wanted = _wanted(request, names)
    about = any(word not in VERBS for word in wanted)
    holds = [own | _words(tool, tools) for tool, own in zip(tools, names, strict=True)]
    best: tuple[float, ToolSpec, Filled] | None = None
    for tool, own, name in zip(tools, holds, names, strict=True):
        shares = {word: weight for word, weight in wanted.items() if word in own}
        if not tool.available or not _allowed(tool, request, shares):
            continue
        filled = fill(whole, tool)
        if max(shares.values()) < 1 and not (filled.explains and certain(request)):
            continue  # words that are only near in meaning need a thing that is named exactly
        score = sum(
            weight * rarity(sum(word in h for h in holds), len(holds)) * _in_name(word, name)
            for word, weight in shares.items()
        ) * _fit(tool, filled, about)
        if score >= LEAST_SCORE and (best is None or score > best[0]):
            best = (score, tool, filled)
    return best[1:] if best else None


def _remembers(request: str) -> bool:
    """Return whether a request is to remember something, and not to write it in a note."""
    order = concepts(request[: command_length(request)])
    return "=remember" in order and not _IN_NOTES.search(request)


def _wanted(request: str, names: Sequence[set[str]]) -> dict[str, float]:
    """Return what a request is about and what it wants, with how much each counts.

    What is to be remembered is a note where no tool is named for remembering.
    """
    said = concepts(without_quotes(request)) or concepts(request)
    wanted = {
        word: 1.0
        for at, word in enumerate(said)
        if not word.isdigit() and (word not in _AS_VERBS or at < 2)
    }
    order = request[: command_length(request)]
    memory = "=remember" in concepts(order) and any("=remember" in name for name in names)
    if order and (not memory or _IN_NOTES.search(request)):
        wanted = {"=write": 1.0, "=note": 1.0, **wanted}
    wanted.update(dict.fromkeys(_shapes([identifier(request) or ""]), 1.0))
    for word in list(wanted):
        if word in _NEAR:
            wanted.setdefault(_NEAR[word], NEAR)
    return wanted


def _words(tool: ToolSpec, tools: Sequence[ToolSpec]) -> set[str]:
    """Return what a description says a tool is for.

    Left out: sentences that say when not to use it, that name another tool, or (after
    the first) that say what comes back.
    """
    others = [other.name.rpartition(".")[2] for other in tools if other.name != tool.name]
    kept = [
        sentence
        for at, sentence in enumerate(sentences(tool.description))
        if not (at and _ASIDE.match(sentence))
        and not _INSTEAD.search(sentence)
        and not any("_" in other and other in sentence for other in others)
    ]
    schemas = [plain_schema(schema) for schema in tool.properties.values()]
    choices = [str(choice) for schema in schemas for choice in schema.get("enum", ())]
    said = {*concepts(" ".join(kept)), *(set(concepts(" ".join(choices))) - TIMES)}
    examples = [str(schema.get("description", "")) for schema in schemas]
    return {word for word in said if not word.isdigit()} - _GENERIC | _shapes(examples)


def _shapes(texts: Sequence[str]) -> set[str]:
    """Return what ids begin with: "#n" for one like "n0001", so that "n0042" finds its tool."""
    found = (identifier(text) for text in texts)
    return {"#" + re.split(r"[-_\d]", name)[0].lower() for name in found if name}


def _allowed(tool: ToolSpec, request: str, shares: Mapping[str, float]) -> bool:
    """Return whether a request goes as far as the tool does, and no further."""
    removes = bool(_REMOVES & set(concepts(request))) and not asks(request)
    if not shares:
        return False
    if command_length(request):
        return tool.tier == "write"
    if tool.tier == "destructive":
        return removes and bool(_REMOVES & set(shares))
    if tool.tier == "read":
        return not removes
    return not removes and not asks(request) and any(word not in VERBS for word in shares)


def _fit(tool: ToolSpec, filled: Filled, about: bool) -> float:
    """Return by how much the shape of a tool speaks for it or against it."""
    fit = MISSES if filled.missing else 1.0
    if not about:
        return fit * (LEAVES_OUT if tool.required and not filled.explains else 1.0)
    return fit * (TAKES_UP if filled.explains else LEAVES_OUT)


def _in_name(word: str, name: set[str]) -> float:
    return IN_NAME if word in name else 1.0


def look_it_up(request: str, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, Filled] | None:
    """Return a tool that searches, for a question about the user that nothing answered.

    What recalls memories comes before what searches anything else.
    """
    if not asks(gist(request)) or not personal(gist(request)):
        return None
    said = {tool.name: concepts(tool.name) for tool in tools}
    for tool in sorted(tools, key=lambda tool: "=recall" not in said[tool.name]):
        searches = not _LOOKS_UP.isdisjoint(said[tool.name])
        if tool.available and tool.tier == "read" and searches:
            filled = fill(request, tool)
            if filled.explains and not filled.missing:
                return tool, filled
    return None


def rarity(holders: int, tools: int) -> float:
    return 0.3 + math.log(1 + (tools - holders + 0.5) / (holders + 0.5))
