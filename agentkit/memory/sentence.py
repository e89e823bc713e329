"""What a sentence says of itself: whom it names, what it gives the value of, who said it.

    "My home town is Lund."   ──▶ subject "user/home town"
    "Order A-1001 is late."   ──▶ names order = A-1001

Rules read words and not meaning: a name is what is written like one. They err towards
skipping, for what is wrongly remembered comes back.

Read after: policy_file.py, keys.py.     Read next: policy.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentkit.memory.keys import identifiers, sameness
from agentkit.memory.policy_file import Policy, plain
from agentkit.text import HAN, terms

SAID = ("User said: ", "用户说：")  # English, Chinese: so that "I" can be read alone
_CAPITAL = re.compile(r"[A-Z][\w'’&-]*")
_ID = r"[A-Za-z]*[-#]?\d[\w./-]*|[A-Za-z]+-\d[\w-]*"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def names_something(sentence: str, policy: Policy) -> bool:
    """Say whether a sentence holds an identifier or a name."""
    if identifiers(sentence) or policy.han_names.search(sentence):
        return True
    for found in _CAPITAL.finditer(sentence):
        word = found[0].lower().split("'")[0].split("’")[0]
        if word in policy.not_names or len(word) < 2:
            continue
        rest = sentence[found.end() :].lstrip()
        first = not sentence[: found.start()].strip(" \"'“‘(")
        if not first or policy.acts.match(rest) or _CAPITAL.match(rest) or found[0].isupper():
            return True
    return False


def entities(sentence: str, policy: Policy) -> dict[str, str]:
    """Return the exact fields of a sentence: {"order": "A-1001"}."""
    found: dict[str, str] = {}
    for name, words in policy.entities.items():
        between = r"(?: ?(?:number|no\.?|id|号|编号))?\s*[:：#]?\s*"
        match = re.search(rf"(?i)(?:{words}){between}(?P<id>{_ID})", sentence)
        if match:
            found[name] = match["id"].rstrip(".,-/")
    return found


def subject(sentence: str, policy: Policy) -> str:
    """Return what a sentence gives the value of, or "" when nothing says so."""
    said = plain(sentence)
    for pattern, name in policy.subjects:
        match = pattern.search(said)
        if match:
            what = match.groupdict().get("what") or ""
            return name.replace("{what}", " ".join(what.split()))
    return ""


def readable_alone(sentence: str, policy: Policy) -> str:
    """Return a sentence with who says "I" in it."""
    if not policy.says("first person", sentence):
        return sentence
    return SAID[HAN.search(sentence) is not None] + sentence


def bare(text: str) -> str:
    """Return the text of a record without who said it."""
    return text.removeprefix(SAID[0]).removeprefix(SAID[1])


def says_the_same(sentence: str, known: Iterable[str]) -> bool:
    """Say whether one of the known texts says the same; a negation or a number counts."""
    form = sameness(bare(sentence))
    return any(sameness(bare(text)) == form for text in known)


def covered(sentence: str, known: Iterable[str]) -> float:
    """Return the share of a sentence's words that one known text holds, at most 1.0.

    It is 0.0 for a text that lacks a number of the sentence: "by May 5" is not "by May 7".
    """
    wanted = set(terms(bare(sentence), unigrams=True))
    numbers = set(_NUMBER.findall(sentence))
    best = 0.0
    for text in known:
        if wanted and numbers <= set(_NUMBER.findall(text)):
            best = max(best, len(wanted & set(terms(text, unigrams=True))) / len(wanted))
    return best
