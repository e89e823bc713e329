"""What is still in the window many rounds later: four ways of keeping a conversation short.

    python tests/bench/retention.py [--window 2000]

Each conversation is a customer's talk with a shop, made up here: questions and answers,
with 12 to 40 facts (`retention_facts.json`) said once in its first rounds, in plain words.
Two of the sets are said as people say it, in a talk that also has small talk, errors and
passing remarks. Retention is the share of facts said so far whose telling words the model
can still read at a round. No model takes part, so the
*free summary* stands for one by picking the sentences that share most words with the
rest (as extractive summarisers do), with the same 500 tokens as the structured one; it is
made anew, from itself and what fell out, each time the window overflows.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter as Bag
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentkit.context import Frame, lay_out
from agentkit.messages import Message, assistant, rounds, user
from agentkit.summary import Summary, summarise
from agentkit.text import terms
from agentkit.tokens import Counter
from agentkit.value import LASTING, load_rules, sentences
from agentkit.window import pack

Facts = Mapping[str, Sequence[tuple[str, str, str]]]  # language → kind, what is said, what tells
Window = Callable[[Sequence[Message], int], str]  # history, tokens → what the model reads
COUNT = Counter.for_model("reader")
SYSTEM = "You answer customers of a shop."
DATA = json.loads(Path(__file__).with_name("retention_facts.json").read_text(encoding="utf-8"))
SETS: Mapping[str, Facts] = DATA["facts"]
MIXED = ("everyday", "held out", "later")  # told among small talk, errors and passing remarks
TALK = {
    "en": (
        "Where is order {n}? It was due {d}.",
        "Order {n} left the warehouse on {d} and is with the carrier; it has {k} parcels.",
    ),
    "zh": ("订单 {n} 到哪里了？本来{d}该到的。", "订单 {n} {d}已出库，在运输途中，共 {k} 个包裹。"),
}
DAYS = {"en": ["Monday", "Tuesday", "Friday"], "zh": ["周一", "周二", "周五"]}


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation.

    Attributes:
        history: Two messages a round.
        tells: For each fact, its round from 1, and the words that tell it is there.
    """

    history: list[Message]
    tells: list[tuple[int, str]]


def conversation(name: str, lang: str, length: int, seed: int) -> Talk:
    """Return a talk of so many rounds, with the facts of a set in its first three fifths."""
    random_ = random.Random(f"{lang}{seed}")
    facts = SETS[name][lang]
    places = random_.sample(range(1, min(3 * len(facts), 3 * length // 5) + 1), len(facts))
    told = {place: fact[1] for place, fact in zip(places, facts, strict=True)}
    ask, answer = TALK[lang]
    idle = [*DATA["idle"][lang], *DATA["passing"][lang]] if name in MIXED else []
    history: list[Message] = []
    for n in range(1, length + 1):
        words = {"n": f"A-{1000 + n}", "d": random_.choice(DAYS[lang]), "k": random_.randint(1, 6)}
        said = random_.choice([*idle, ask.format(**words)]) if n % 2 else ask.format(**words)
        history += [user(told.get(n, said)), assistant(answer.format(**words))]
    return Talk(history, [(p, fact[2]) for p, fact in zip(places, facts, strict=True)])


def _fitting(history: Sequence[Message], budget: int, left: int = 0) -> list[Message]:
    """Return the newest whole rounds that fit."""
    kept: list[Message] = []
    for each in reversed(rounds(history)):
        size = sum(COUNT.message(message) for message in each.messages)
        if size > budget - left:
            break
        left += size
        kept = [*each.messages, *kept]
    return kept


def last_rounds(history: Sequence[Message], budget: int) -> str:
    return _read(_fitting(history, budget, COUNT(SYSTEM)))


def _read(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)


def overflows(history: Sequence[Message], budget: int) -> Iterator[list[Message]]:
    """Yield what falls out, each time the window with a summary in it overflows: half of it."""
    room = budget - COUNT(SYSTEM) - 500
    inside: list[Message] = []
    for each in rounds(history):
        inside += each.messages
        if sum(COUNT.message(message) for message in inside) > room:
            kept = _fitting(inside, room // 2)
            yield inside[: len(inside) - len(kept)]
            inside = kept
    yield []
    yield inside


def free_summary(history: Sequence[Message], budget: int) -> str:
    *fallen, _, inside = overflows(history, budget)
    summary: list[str] = []
    for old in fallen:
        said = [*summary, *(s for message in old for s in sentences(message.text))]
        summary = _central(said)
    return "\n".join([*summary, _read(inside)])


def _central(said: list[str]) -> list[str]:
    """Return the sentences that share most with the others, in order, in 500 tokens."""
    bags = [set(terms(sentence)) for sentence in said]
    common = Bag(term for bag in bags for term in bag)
    score = [sum(common[t] for t in bag) / (len(bag) + 1) for bag in bags]
    kept: set[int] = set()
    used, seen = 0, set[str]()
    for at in sorted(range(len(said)), key=lambda i: (-score[i], i)):
        size = COUNT(said[at])
        if said[at] not in seen and used + size <= 500:
            kept.add(at)
            seen.add(said[at])
            used += size
    return [said[at] for at in sorted(kept)]


def structured_summary(history: Sequence[Message], budget: int) -> str:
    *fallen, _, inside = overflows(history, budget)
    summary: Summary | None = None
    for old in fallen:
        summary = summarise(old, count=COUNT, earlier=summary)
    return "\n".join([summary.text if summary else "", _read(inside)])


def by_value(history: Sequence[Message], budget: int) -> str:
    frame = Frame(budget, 0, COUNT, SYSTEM)
    sections = lay_out(frame, history[:-2], history[-2:], [])
    return _read(pack(sections, budget=budget, count=COUNT).messages())


WAYS: dict[str, Window] = {
    "last rounds": last_rounds,
    "free summary": free_summary,
    "structured summary": structured_summary,
    "by value": by_value,
}


@dataclass(frozen=True, slots=True)
class Row:
    """Retention of one way in one language, at each of some rounds."""

    lang: str
    way: str
    shares: tuple[float, ...]


def table(name: str, window: int, at: Sequence[int], seeds: int = 5) -> list[Row]:
    """Return the share of facts that are still readable, over some conversations."""
    rows = []
    for lang in SETS[name]:
        talks = [conversation(name, lang, max(at), seed) for seed in range(seeds)]
        for way, keep in WAYS.items():
            shares = []
            for n in at:
                read = [keep(talk.history[: 2 * n], window) for talk in talks]
                said = [[tell for place, tell in talk.tells if place <= n] for talk in talks]
                found = sum(
                    t in text for text, tells in zip(read, said, strict=True) for t in tells
                )
                shares.append(found / sum(map(len, said)))
            rows.append(Row(lang, way, tuple(shares)))
    return rows


def named(name: str, lang: str) -> str:
    """Return how many facts the rules know for what they are, and what they keep at all."""
    rules = load_rules()
    values = [rules.value("user", text) for _, text, _ in SETS[name][lang]]
    lasting = sum(v.weight >= LASTING or v.kind == "open item" for v in values)
    return (
        f"{lasting} known for what they are, {sum(v.weight > 0 for v in values)} of {len(values)}"
    )


def high(lang: str) -> str:
    """Return how much of what may go is held for a fact: precision."""
    rules, idle = load_rules(), DATA["idle"][lang]
    values = [rules.value("user", text) for text in idle]
    lasting = sum(v.weight >= LASTING for v in values)
    told = sum(v.kind in ("statement", "aside", "open item") for v in values)
    return f"{lasting} of {len(idle)} idle messages lasting, {told} told"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--window", type=int, default=2_000)
    options = parser.parse_args()
    at = (40, 60, 80, 120, 160, 200)
    print(*(f"{lang}: {high(lang)}" for lang in TALK), sep="\n")
    for name, facts in SETS.items():
        print(f"{name}: window {options.window:,} tokens; facts still readable at round")
        print(f"{'':<24}" + "".join(f"{n:>7}" for n in at))
        for row in table(name, options.window, at):
            print(f"{row.lang} {row.way:<21}" + "".join(f"{s * 100:>6.0f}%" for s in row.shares))
        for lang in facts:
            talk = conversation(name, lang, 200, 0)
            read = by_value(talk.history, options.window)
            print(f"{lang}: {named(name, lang)}")
            print(f"{lang}: by value misses {[tell for _, tell in talk.tells if tell not in read]}")


if __name__ == "__main__":
    main()
