"""What may, must and must not be done: how people ask about it, and how a rule says it.

    "what must I not change?"         asked_about(): =update      about_rules(), denies()
    "Do not change the public API."   binds(), denies()

The words by which one asks for a rule ("must I", "is it allowed", "可以……吗") stand in few
rules, so they find none; but they tell which of two sentences is the rule.

Read after: language.py, intent.py.     Read next: reader.py.
"""

from __future__ import annotations

import re

from agentkit.models.language import VERBS, concepts
from agentkit.text import fold

_MAY = r"(?<!in )(?<!of )may(?!\s*[\d?,.]|$)"  # and not the month
_ASKED = re.compile(
    rf"\b(?:must|{_MAY}|might|should|shall|ought|need|allowed?|permit(?:ted)?|permission|"
    r"forbid(?:den|s)?|prohibit(?:ed)?|supposed|required?|rules?|constraints?|ok|okay|possible|"
    r"can (?=i\b|we\b|you\b|\w+ be\b))\b|"
    r"不可以|可不可以|能不能|可以|不能|不要|不许|不准|不得|不应该?|应该|必须|务必|需要|允许|准许|许可|"
    r"禁止|规则|规定|约束|要求|不用|(?<![功性智技])能(?![力源量])|(?<!也)许(?!多)|(?<![特区类级])别(?![人的])"
)
_WHEN = re.compile(r"什么时候|啥时候|哪一?天|几月|几号|几点钟?|多少钱")
_BINDS = re.compile(
    rf"\b(?:must|{_MAY}|should|shall|never|always|only|not|cannot|no|needs?|has to|have to|"
    r"forbidden|prohibited|allowed|required)\b|n['’]t\b|"
    r"不|别|勿|禁止|必须|务必|应该|只能|一律|总是|永远|可以|允许|需要"
)
_DENIES = re.compile(
    r"\b(?:not|never|cannot|no|nobody|without|forbidden|prohibited)\b|n['’]t\b|"
    r"不(?!错|过|仅|同)|别|勿|禁止|没"
)
_DEEDS = frozenset({"=update", "=delete", "=create"})  # verbs that say what a rule is about


def about_rules(question: str) -> bool:
    """Return whether a question is what may, must or must not be done."""
    return _ASKED.search(fold(question)) is not None


def binds(sentence: str) -> bool:
    """Return whether a sentence says what may, must or must not be done."""
    return _BINDS.search(fold(sentence)) is not None


def denies(sentence: str) -> bool:
    """Return whether a sentence says no."""
    return _DENIES.search(fold(sentence)) is not None


def asked_about(question: str) -> list[str]:
    """Return the concepts that an answer should hold, each once.

    Words that only make it a question are left out. What is done ("change", "delete")
    counts where nothing else is named.
    """
    bare = _ASKED.sub(" ", _WHEN.sub(" ", fold(question)))
    found = list(dict.fromkeys(concepts(bare)))
    return [word for word in found if word not in VERBS] or [w for w in found if w in _DEEDS]
