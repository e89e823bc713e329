"""The offline model: deterministic, and able to say only what is in its window.

    packed messages ─▶ question + what else is there ─┬─ a tool fits the question ─▶ call
                                                      ├─ results came back ─▶ say them
                                                      └─ a sentence answers ─▶ quote it

The reader knows nothing. It picks tools by their descriptions, fills arguments from
their schemas, and answers with sentences it was given. A fact that was not packed
cannot be said, so a memory that fails shows as a wrong answer and not as a lucky guess.

Read after: choice.py, norms.py, things.py, phrases.py.     Read next: ../loop.py.
Built in:   notebooks/06_the_loop.ipynb
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.messages import LOST_RESULT, Message, ModelSaid, ToolCall, Usage
from agentkit.models.arguments import Filled
from agentkit.models.choice import choose, look_it_up, rarity
from agentkit.models.intent import asks, command_length, courtesy, tells, without_courtesy
from agentkit.models.language import concepts, gist, plain
from agentkit.models.norms import about_rules, asked_about, binds, denies
from agentkit.models.phrases import WAS_ASKED, found_nothing, phrase, say, says_nothing, told
from agentkit.models.things import the_one_near
from agentkit.sentences import sentences
from agentkit.tokens import Counter
from agentkit.tools import ToolSpec
from agentkit.window import Packed

NEEDED_SHARE = 0.5  # of what a question is about, by weight, for a sentence to answer it
_FENCE = "<recalled-memory>"  # how memory marks what it brought; see memory/fence.py
_DONE = "done by memory"  # how it heads what it did already; see memory/brought.py
_RECALLED = re.compile(r"^- \[[^\]\n]*\] (.+)$", re.MULTILINE)
_FORGETTING = re.compile(r"(?<!never )\bforg[eo]t(?:s|ten|ting)?\b|忘", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_TRUST = {"user": 3, "given": 2, "tool": 1, "assistant": 0}  # whom to quote of those who say it


@dataclass(frozen=True, slots=True)
class View:
    """What the reader makes of its window.

    Attributes:
        question: The last thing the user said.
        results: Each call since then that has its result here.
        passages: Everything else, as (who said it, text), oldest first.
        done: What memory says that it did about the question, e.g. that it forgot.
    """

    question: str
    results: tuple[tuple[ToolCall, Message], ...]
    passages: tuple[tuple[str, str], ...]
    done: str = ""


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
        again = _again(view)
        if again is not None:
            calls = (again,)
        elif view.results:
            text = phrase(view.results, question=view.question)
        else:
            found = choose(view.question, tools, kept=bool(view.done))
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
    question = _whole_question(messages, at)
    asked = {call.id: call for m in messages for call in m.tool_calls}
    now = {call.id for m in messages[at + 1 :] for call in m.tool_calls}
    results = tuple(
        (asked[m.call_id], m)
        for m in messages[at + 1 :]
        if m.role == "tool" and m.call_id in now and m.text != LOST_RESULT
    )
    passages: list[tuple[str, str]] = []
    done = ""
    for message in messages[: max(at, 0)]:
        if message.role == "system":
            for name, part in _parts(message.text):
                if name == _DONE:
                    done = part.strip()
                else:
                    passages.append(("given", part))
        elif message.role == "tool":
            passages.extend(("tool", text) for text in evidence(message, asked))
        elif message.text and not (message.role == "assistant" and says_nothing(message.text)):
            passages.append((message.role, message.text))
    return View(question, results, tuple(passages), done)


def evidence(result: Message, asked: Mapping[str, ToolCall]) -> list[str]:
    """Return what a tool found: not what it was asked with, and nothing where it found nothing."""
    call = asked.get(result.call_id or "")
    if found_nothing(result):
        return []
    return told(result.text, {} if call is None else call.arguments)


def _whole_question(messages: Sequence[Message], at: int) -> str:
    """Return what the user said last; an answer to an open question with what it completes."""
    if at < 0:
        return ""
    said = messages[at].text
    if at < 2 or messages[at - 1].role != "assistant" or messages[at - 2].role != "user":
        return said
    if not WAS_ASKED.fullmatch(messages[at - 1].text) or asks(gist(said)) or courtesy(gist(said)):
        return said
    return said if command_length(said) else f"{messages[at - 2].text}: {said}"


def _parts(text: str) -> list[tuple[str, str]]:
    """Return the headed parts of a system message; the prompt itself answers nothing."""
    found = [part.partition("\n") for part in f"\n{text}".split("\n## ")[1:]]
    return [(name, _told(part) if part.startswith(_FENCE) else part) for name, _, part in found]


def _told(recalled: str) -> str:
    """Return what recalled lines say, best first, without the fence and its facts."""
    lines = _RECALLED.findall(recalled)
    return "\n".join(reversed(lines))  # of equals the last is quoted: let it be the best


def _call(view: View, tool: ToolSpec, filled: Filled) -> ToolCall:
    """Return the call; its id is the same for the same window, and another for another."""
    seed = f"{len(view.passages)}|{view.question}|{tool.name}|{sorted(filled.values.items())}"
    return ToolCall(
        f"call_{hashlib.sha256(seed.encode()).hexdigest()[:8]}", tool.name, filled.values
    )


def _again(view: View) -> ToolCall | None:
    """Return the call once more with the one name that its error offers, or None."""
    if len(view.results) != 1 or not view.results[0][1].is_error:
        return None
    call, error = view.results[0]
    for name, value in call.arguments.items():
        near = the_one_near(value, error.text) if isinstance(value, str) else None
        if near:
            return replace(call, id=f"{call.id}_2", arguments={**call.arguments, name: near})
    return None


def answer(view: View) -> str | None:
    """Return the sentence of the window that answers best, None where none does."""
    if view.done:
        return view.done
    question = gist(view.question)
    polite = courtesy(question)
    if polite:
        return say(polite, view.question)
    if not asks(question):
        first = concepts(without_courtesy(question))[:1]
        if first in (["=delete"], ["=forget"]) and not tells(question):
            return say("cannot", view.question)
        return say("heard" if first else "hello", view.question)
    wanted = asked_about(question)
    if not wanted and not about_rules(question):
        return say("unknown", view.question)
    texts = [(who, s) for who, text in view.passages for s in sentences(text)]
    found = [(who, s) for who, s in texts if not asks(s) and not _of_forgetting(s, question)]
    scores = _scores(wanted, [sentence for _, sentence in found])
    ranks = [
        (score, _suits(question, sentence), _TRUST[who], at)
        for at, (score, (who, sentence)) in enumerate(zip(scores, found, strict=True))
    ]
    score, suits, _, best = max(ranks, default=(0.0, 0, 0, -1))
    if score < NEEDED_SHARE or (not wanted and not suits):
        return None
    return say(found[best][0], view.question, quote=_BULLET.sub("", found[best][1]))


def _of_forgetting(sentence: str, question: str) -> bool:
    """Return whether a sentence says that a thing is or shall be forgotten, so not what it is."""
    return bool(_FORGETTING.search(plain(sentence))) and not _FORGETTING.search(question)


def _scores(wanted: Sequence[str], texts: Sequence[str]) -> list[float]:
    """Return how much of what is wanted each text holds, by weight: 1.0 is all of it."""
    if not wanted:
        return [1.0] * len(texts)
    holds = [set(concepts(text)) for text in texts]
    # a word that no sentence holds counts like one that a single sentence holds
    weights = {w: rarity(max(1, sum(w in h for h in holds)), len(holds)) for w in wanted}
    total = sum(weights.values())
    return [sum(weights[w] for w in wanted if w in h) / total for h in holds]


def _suits(question: str, sentence: str) -> int:
    """Return how well a sentence suits a question about what may and must not be done."""
    if not about_rules(question) or not binds(sentence):
        return 0
    return 1 + (denies(question) == denies(sentence))
