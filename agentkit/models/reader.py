"""The offline model: deterministic, and able to say only what is in its window.

    packed messages ─▶ question + what else is there ─┬─ a tool fits the question ─▶ call
                                                      ├─ results came back ─▶ say them
                                                      └─ a sentence answers ─▶ quote it

The reader knows nothing. It picks tools by their descriptions, fills arguments from
their schemas, and answers with sentences it was given. A fact that was not packed
cannot be said, so a memory that fails shows as a wrong answer and not as a lucky guess.

Read after: language.py, arguments.py.     Read next: ../loop.py.
Built in:   notebooks/06_the_loop.ipynb
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from agentkit.messages import LOST_RESULT, Message, ModelSaid, ToolCall, Usage
from agentkit.models.arguments import VERBS, Filled, fill
from agentkit.models.language import (
    acknowledges,
    asks,
    command_length,
    concepts,
    personal,
    sentences,
)
from agentkit.models.phrases import phrase, say
from agentkit.tokens import Counter
from agentkit.tools import ToolSpec
from agentkit.window import Packed

NEEDED_SHARE = 0.5  # of what a question is about, by weight, for a sentence to answer it
WRONG_TIER = 0.4  # "list my notes" hardly means a tool that writes
TAKES_UP = 0.8  # for a tool whose arguments take up what the request is about
LEAVES_OUT = 0.6  # for one that has no place for it
LEAST_SCORE = 0.35  # below this, what is shared is chance

_LOOKS = frozenset({"=list", "=search", "=read", "=recall"})
# Words that descriptions of tools share whatever the tool does.
_GENERIC = frozenset(
    concepts(
        "user asks use tool next best return returns value result results text string example call one given "
        "number optional default need number limit fails error get set name data information used"
    )
)


@dataclass(frozen=True, slots=True)
class View:
    """What the reader makes of its window.

    Attributes:
        question: The last thing the user said.
        results: Each call since then that has its result here.
        passages: Everything else, as (who said it, text), oldest first.
    """

    question: str
    results: tuple[tuple[ToolCall, Message], ...]
    passages: tuple[tuple[str, str], ...]


class ReaderModel:
    """The default model. It has no settings, no state and no network.

    The same window and tools give the same answer, on every machine.
    """

    name = "reader"

    def __init__(self) -> None:
        self._count = Counter.for_model("reader")

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        """Call the tool that fits, say what a tool brought, or quote what answers."""
        view = look(packed.messages())
        calls: tuple[ToolCall, ...] = ()
        text = ""
        if view.results:
            text = phrase(view.results, question=view.question)
        else:
            found = choose(view.question, tools)
            if found is None:
                text = answer(view) or ""
            if not text and found is None:
                found = look_it_up(view.question, tools)
            if found is None:
                text = text or say("unknown", view.question)
            elif found[1].missing:
                text = say("ask", view.question, tool=found[0].name, names=found[1].missing)
            else:
                calls = (_call(view, *found),)
        output = self._count(text) + sum(self._count(call.arguments_json()) for call in calls)
        return ModelSaid(text, calls, Usage(packed.tokens, output), self.name)


def look(messages: Sequence[Message]) -> View:
    """Sort a window into the question, what tools brought for it, and the rest."""
    at = max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    question = messages[at].text if at >= 0 else ""
    asked = {call.id: call for m in messages[at + 1 :] for call in m.tool_calls}
    results = tuple(
        (asked[m.call_id], m)
        for m in messages[at + 1 :]
        if m.role == "tool" and m.call_id in asked and m.text != LOST_RESULT
    )
    passages: list[tuple[str, str]] = []
    for message in messages[: max(at, 0)]:
        if message.role == "system":
            passages.extend(("given", part) for part in _given(message.text))
        elif message.text:
            passages.append((message.role, message.text))
    return View(question, results, tuple(passages))


def _given(text: str) -> list[str]:
    """Return the headed parts of a system message; the prompt itself answers nothing."""
    return [part.partition("\n")[2] for part in f"\n{text}".split("\n## ")[1:]]


def choose(request: str, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, Filled] | None:
    """Return the tool whose description fits a request best, with its arguments.

    A shared word counts by its rarity among the tools. A tool of the wrong tier
    counts less, one with a place for what the request is about counts more. Nothing
    is destroyed unless the request says so. Ties go to the tool that is listed first.
    """
    wanted = list(dict.fromkeys(concepts(request)))
    holds = [set(concepts(f"{tool.name} {tool.description}")) - _GENERIC for tool in tools]
    holds = [{word for word in own if not word.isdigit()} for own in holds]
    about = [word for word in wanted if word not in VERBS]
    if acknowledges(request):
        return None
    best: tuple[float, ToolSpec, Filled] | None = None
    for tool, own in zip(tools, holds, strict=True):
        shared = [word for word in wanted if word in own]
        if not tool.available or not shared or not _allowed(tool, request, wanted):
            continue
        filled = fill(request, tool)
        score = sum(_rarity(sum(word in h for h in holds), len(holds)) for word in shared)
        score *= _fit(tool, filled, bool(about), request)
        if score >= LEAST_SCORE and (best is None or score > best[0]):
            best = (score, tool, filled)
    return best[1:] if best else None


def _allowed(tool: ToolSpec, request: str, wanted: Sequence[str]) -> bool:
    """Return whether a request goes as far as the tool does, and no further."""
    if tool.tier == "destructive":
        return bool({"=delete", "=forget"} & set(wanted))
    return not asks(request) if tool.tier == "write" else not command_length(request)


def _fit(tool: ToolSpec, filled: Filled, about: bool, request: str) -> float:
    """Return by how much the shape of a tool speaks for it or against it."""
    looks = not asks(request) and bool(_LOOKS & set(concepts(request)[:2]))
    tier = WRONG_TIER if looks and tool.tier == "write" else 1.0
    if not about:
        return tier * (LEAVES_OUT if tool.required else 1.0)
    return tier * (1 + TAKES_UP if filled.explains else LEAVES_OUT)


def look_it_up(request: str, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, Filled] | None:
    """Return a tool that searches, for a question about the user that nothing answered."""
    if not asks(request) or not personal(request):
        return None
    for tool in tools:
        if tool.available and tool.tier == "read" and "=search" in concepts(tool.name):
            filled = fill(request, tool)
            if filled.explains and not filled.missing:
                return tool, filled
    return None


def _rarity(holders: int, tools: int) -> float:
    return 0.3 + math.log(1 + (tools - holders + 0.5) / (holders + 0.5))


def _call(view: View, tool: ToolSpec, filled: Filled) -> ToolCall:
    """Return the call; its id is the same for the same window, and another for another."""
    seed = f"{len(view.passages)}|{view.question}|{tool.name}|{sorted(filled.values.items())}"
    return ToolCall(
        f"call_{hashlib.sha256(seed.encode()).hexdigest()[:8]}", tool.name, filled.values
    )


def answer(view: View) -> str | None:
    """Return the sentence of the window that answers best, None where none does."""
    wanted = [word for word in dict.fromkeys(concepts(view.question)) if word not in VERBS]
    if not wanted or acknowledges(view.question):
        return say("hello" if not asks(view.question) else "unknown", view.question)
    if not asks(view.question):
        return say("heard", view.question)
    candidates = [(who, s) for who, text in view.passages for s in sentences(text) if not asks(s)]
    holds = [set(concepts(sentence)) for _, sentence in candidates]
    weights = {w: _rarity(sum(w in h for h in holds), len(holds)) for w in wanted}
    total = sum(weights.values())
    scores = [sum(weights[w] for w in wanted if w in h) / total for h in holds]
    best = max(range(len(scores)), key=lambda i: (scores[i], i), default=-1)
    if best < 0 or scores[best] < NEEDED_SHARE:
        return None
    return say(candidates[best][0], view.question, quote=candidates[best][1])
