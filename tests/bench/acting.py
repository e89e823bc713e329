"""What it gives that a session compresses, against leaving out by value: tokens, cache, facts.

    python tests/bench/acting.py

Sixty turns in two languages, in two windows: twelve facts in the first twenty-four turns,
talk of about 60 tokens in all others. Counted over all calls: what the model read, how much
of that was a repetition of the beginning of the call before (which a provider can cache),
how many of the facts stand in the last window word for word, and how many of the
user's messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import takewhile

from agentkit.clock import FixedClock
from agentkit.memory.short import ShortTermMemory
from agentkit.messages import Message, ModelSaid
from agentkit.session import Session
from agentkit.tokens import Counter
from agentkit.tools import ToolSpec
from agentkit.window import Packed

TURNS = 60
COUNT = Counter.for_model("reader")
LASTING = {
    "en": (
        "I am a paying customer, so my tickets come first.",
        "Do not change the public API.",
        "Please answer in short sentences from now on.",
        "We decided to use PostgreSQL for the reports.",
        "The budget must not exceed 5,000 dollars.",
        "We agreed on port 8443.",
    ),
    "zh": (
        "我是付费客户，工单要优先处理。",
        "请不要修改公共接口。",
        "以后都用简短的句子回答。",
        "我们决定报表用PostgreSQL。",
        "预算不能超过五千元。",
        "我们约定用8443端口。",
    ),
}
TOLD = {
    "en": tuple(f"The depot number {n} opens at six." for n in range(6)),
    "zh": tuple(f"第{n}号仓库六点开门。" for n in range(6)),
}
TALK = {
    "en": "What is in picture {0} of the catalogue, and which colours does it have? " * 3,
    "zh": "目录里第{0}张图片上有什么？都有哪些颜色？" * 3,
}


class Listener:
    """A model that answers the same length each time and keeps what it read."""

    name = "reader"

    def __init__(self) -> None:
        self.read: list[list[Message]] = []

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        self.read.append(packed.messages())
        return ModelSaid(f"Answer {len(self.read)}: blue, a little green, and a bicycle.")


def said(lang: str) -> list[str]:
    """Return what the user says: every other turn a fact, as long as there are any."""
    facts = [one for pair in zip(LASTING[lang], TOLD[lang], strict=True) for one in pair]
    return [
        facts[n // 2] if n % 2 == 0 and n // 2 < len(facts) else TALK[lang].format(n)
        for n in range(TURNS)
    ]


def repeated(before: Sequence[Message], now: Sequence[Message]) -> int:
    """Return the tokens of the messages at the beginning that are those of the call before."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False))
    return sum(COUNT.message(message) for message, _ in same)


def run(lang: str, window: int, way: str) -> None:
    model = Listener()
    short = ShortTermMemory(count=COUNT) if way == "short=" else None
    session = Session(
        model=model, budget=window, clock=FixedClock(), compress=way == "compress", short=short
    )
    for text in said(lang):
        asyncio.run(session.ask(text))
    sizes = [sum(map(COUNT.message, each)) for each in model.read]
    cached = sum(map(repeated, model.read, model.read[1:]))
    last = "\n".join(message.text for message in model.read[-1])
    kept = [sum(fact in last for fact in facts[lang]) for facts in (LASTING, TOLD)]
    whole = sum(message.role == "user" for message in model.read[-1]) - 1
    fullest = max(s.share for s in session.monitor.report().snapshots)
    print(
        f"{lang} {window:>5}  {way:<9} {sum(sizes):>7,} read, {cached / sum(sizes):.0%} repeated; "
        f"fullest {fullest:.0%}; kept {kept[0]} of 6 that last, {kept[1]} of 6 told; "
        f"{whole} messages of the user"
    )


if __name__ == "__main__":
    for lang in ("en", "zh"):
        for window in (1_500, 4_000):
            for way in ("by value", "compress", "short="):
                run(lang, window, way)
