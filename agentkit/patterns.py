"""Makes one regular expression of many, so that a text is looked through once.

    ["call me", "my name|allerg", "过敏"], each at a word  ──any_of()──▶  one pattern

What begins at a word is gathered behind one `\\b`: inside a word, all of it is passed by in
one step. With 200 patterns this halves the time that a sentence takes.

Read after: errors.py.     Read next: value.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = r"\b"
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)  # a class counts as one


def any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that matches where one of these does; never, for none.

    Raises:
        re.error: One of them is no regular expression.
    """
    parts = [part for pattern in patterns for part in alternatives(pattern)]
    if not parts:
        return re.compile(r"(?!)")
    at_words = [part.removeprefix(_WORD) for part in parts if part.startswith(_WORD)]
    joined = [part for part in parts if not part.startswith(_WORD)]
    if at_words:
        joined.insert(0, rf"\b(?:{_either(at_words)})")
    return re.compile(_either(joined))


def _either(parts: Sequence[str]) -> str:
    return "|".join(f"(?:{part})" for part in parts)


def alternatives(pattern: str) -> list[str]:
    """Return what stands between the bars of a pattern, those inside brackets left alone.

    Raises:
        re.error: A bracket closes that never opened.
    """
    found, depth = [""], 0
    for token in _TOKEN.findall(pattern):
        depth += (token == "(") - (token == ")")
        if depth < 0:  # two halves would be one expression together
            raise re.error("unbalanced parenthesis", pattern)
        if token == "|" and not depth:
            found.append("")
        else:
            found[-1] += token
    return found
