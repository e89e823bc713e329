"""Counting a conversation as it grows: what does a turn cost?

    python tests/bench/counting.py

500 rounds of 4 messages of about 300 characters, in English and in Chinese. At each
round the size of the whole window is asked for:

    (a) every text is encoded again      (b) a Tally adds the new messages
    (c) a Counter remembers each text, and the sizes are added up again

CPU seconds; the ratios come from one run on one machine and mean more than the seconds.
Then 1,000,000 times one character, for a dozen characters. Goals: (b) at least 100 × less
than (a); every character in under a second.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from agentkit.messages import Message, assistant, user
from agentkit.tokens import Counter, Tally, message_size
from agentkit.vocabulary import load_vocabulary

ROUNDS, MESSAGES, CHARS = 500, 4, 300
ENGLISH = (
    "note report project week finish performance test meeting budget customer order late ship "
    "invoice priority answer question summary decision open item the of and to in is that for"
).split()
CHINESE = list(
    "下周要完成结项报告重点是性能测试部分请帮我记一下会议预算客户订单发货优先级回答问题决定，。"
)
CHARACTERS = ["a", "哈", " ", "\n", "\t", "7", "🙂", "-", "=", "é", "\u3000", "\x00"]


def conversation(words: list[str], between: str) -> list[list[Message]]:
    """Return 500 rounds of random words, the same in every run."""
    pick = random.Random(1)
    said = []
    for _ in range(ROUNDS):
        texts = []
        for _ in range(MESSAGES):
            text = ""
            while len(text) < CHARS:
                text += pick.choice(words) + between
            texts.append(text)
        said.append([user(texts[0]), assistant(texts[1]), user(texts[2]), assistant(texts[3])])
    return said


def encode_everything(rounds: list[list[Message]]) -> int:
    vocabulary, total, history = load_vocabulary(), 0, list[Message]()
    for messages in rounds:
        history += messages
        total = sum(message_size(message, vocabulary.count) for message in history)
    return total


def tally(rounds: list[list[Message]]) -> int:
    kept = Tally(Counter(load_vocabulary()))
    for messages in rounds:
        for message in messages:
            kept.add("history", message)
        assert kept.total
    return kept.total


def remember_and_add_up(rounds: list[list[Message]]) -> int:
    count, total, history = Counter(load_vocabulary()), 0, list[Message]()
    for messages in rounds:
        history += messages
        total = sum(count.message(message) for message in history)
    return total


def cpu(work: Callable[[Any], int], what: Any) -> tuple[float, int]:
    start = time.process_time()
    result = work(what)
    return time.process_time() - start, result


def main() -> None:
    load_vocabulary()
    print(f"{ROUNDS} rounds of {MESSAGES} messages of {CHARS} characters, CPU seconds")
    for language, words, between in (("English", ENGLISH, " "), ("Chinese", CHINESE, "")):
        rounds = conversation(words, between)
        (a, every), (b, tallied), (c, memo) = (
            cpu(way, rounds) for way in (encode_everything, tally, remember_and_add_up)
        )
        assert every == tallied == memo
        print(
            f"{language}: {every:,} tokens; (a) again and again {a:.2f}; (b) tally {b:.4f}, "
            f"{a / b:.0f} × less; (c) remembered {c:.3f}, {a / c:.0f} × less"
        )
        assert a / b >= 100, "the goal is 100 ×"
    print("1,000,000 times one character, CPU seconds")
    for character in CHARACTERS:
        seconds, tokens = cpu(Counter(load_vocabulary()), character * 1_000_000)
        print(f"  {character!r:>9}  {tokens:>9,} tokens  {seconds:.3f}")
        assert seconds < 1, "the goal is under a second"


if __name__ == "__main__":
    main()
