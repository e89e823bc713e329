"""Text at the border, and the words in it, for English and Chinese alike.

    "Two reports, 两份报告"  ──terms()──▶  two report 两份 份报 报告

A model's window, a tool's answer and a file may hold anything. `clean_text` makes it
valid and bounded before it goes on. `terms` cuts it into what two texts can share:
English words without their endings, Chinese in pairs of characters, since Chinese
writes no spaces (pairs beat a dictionary on every set we measured).

Read after: errors.py.     Read next: messages.py, tools.py.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

FORGOTTEN = "[forgotten]"  # what stands in the place of a forgotten sentence
MAX_TEXT_CHARS = 1_000_000  # over a pipe, a longer text takes time that grows with its square

_HAN = r"\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = r"\u3040-\u30ff"
HAN = re.compile(f"[{_HAN}{_KANA}]")
_PIECE = re.compile(f"[{_HAN}{_KANA}]+|[^\\W_{_HAN}{_KANA}]+(?:['’][^\\W_{_HAN}{_KANA}]+)?")
_ASCII_PIECE = re.compile(
    r"[a-z0-9]+(?:'[a-z0-9]+)?"
)  # the same for folded ASCII, four times faster

# C0, DEL, C1, separators of lines, and what turns the direction of writing.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

# Words of English that say how a sentence is built, not what it is about. Question words
# are among them: they match every other question and no answer.
STOP_WORDS = frozenset(
    "a about all also am an and any are as at be been being but by can could did do does for "
    "from had has have he her hers him his how i if in into is it its just let me might more "
    "most my no not of off on or our ours please shall she should so some such than that the "
    "their theirs them then there these they this those to too us very was we were what when "
    "where which who whom whose why will with would you your yours".split()
)
# The same for Chinese: single characters that carry no subject.
STOP_HAN = frozenset("的了吗呢吧啊呀么我你您他她它们是在有和与或就都也很把被给让对从到这那哪个什请")


def clean_text(text: str, *, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return valid Unicode of bounded size, as it may cross the border.

    Half an emoji (a lone surrogate) breaks or hangs a stdio connection, and a NUL
    cuts a text short in other programs: both become U+FFFD. A text over `max_chars`
    is cut, and the cut says how much is missing.
    """
    try:
        text.isascii() or text.encode()  # the first is known without a look at the text
    except UnicodeEncodeError:  # UTF-16 joins the halves that belong together, and only those
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = text.replace("\x00", "\ufffd")
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars]} … [{len(text) - max_chars} of {len(text)} characters cut]"


def clean_json(value: Any) -> Any:
    """Return a JSON value in which every string, keys included, is `clean_text`."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value


def printable(text: str, *, keep: str = "") -> str:
    """Return a text as a terminal may show it: one line, and no command to the terminal.

    A transcript and the name of a file may hold anything. ESC, as it begins a command to clear
    the screen or to set its title, becomes "␛"; a mark that turns the direction of what follows
    becomes U+FFFD, since it makes a line read otherwise than it is.

    Args:
        text: Of any origin.
        keep: Control characters that stay, e.g. "\n" where a text may have several lines.
    """
    if text.isascii() and text.isprintable():
        return text
    text = clean_text(text.replace("\r\n", "\n"), max_chars=len(text))
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] in keep else _shown(found[0]), text)


def _shown(control: str) -> str:
    code = ord(control)
    if code < 32:
        return chr(0x2400 + code)  # Unicode has a picture of each
    return "\u2421" if code == 127 else "\ufffd"


def fold(text: str) -> str:
    """Return the text with one form a character: half width, no case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def width(text: str) -> int:
    """Return the columns a text takes in a terminal: two for a Chinese character."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Return the text filled with spaces to a width in columns, as tables need it."""
    gap = " " * (columns - width(text))
    return gap + text if right else text + gap


def one_line(text: str, *, max_chars: int = 60) -> str:
    """Return a text as one line, cut at the end when it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return an English word without its ending: "reports", "report's" → "report"."""
    return str(_stemmer().stemWord(word.split("'")[0].split("’")[0]))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer  # slow to import, and needed only once a word is looked at

    return snowballstemmer.stemmer("english")


def terms(text: str, *, unigrams: bool = False) -> list[str]:
    """Return the terms of a text in order, repeated as often as they occur.

    English: stems, without `STOP_WORDS`. Chinese and Japanese: pairs of neighbouring
    characters; a character that stands alone, unless it is in `STOP_HAN`.

    Args:
        text: In any script.
        unigrams: Give the characters of a pair too, for an index: a long question
            shares few pairs with a short record.
    """
    found: list[str] = []
    folded = fold(text)
    for piece in (_ASCII_PIECE if folded.isascii() else _PIECE).findall(folded):
        if not piece.isascii() and HAN.match(piece):
            found.extend(_pairs(piece))
            if unigrams and len(piece) > 1:
                found.extend(character for character in piece if character not in STOP_HAN)
        elif piece not in STOP_WORDS:
            found.append(stem(piece))
    return found


def _pairs(run: str) -> list[str]:
    """Return the neighbouring pairs of a run of Chinese characters."""
    if len(run) == 1:
        return [] if run in STOP_HAN else [run]
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [pair for pair in pairs if not (pair[0] in STOP_HAN and pair[1] in STOP_HAN)]


def overlap(wanted: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return how much of what is wanted each text has: 0.0 nothing, 1.0 everything.

    A term counts by its rarity among the texts (idf as in BM25: Robertson and
    Zaragoza 2009, equation 3.3, kept positive), so a word that all texts have says
    little. The result has one number a text.
    """
    sets = [set(text) for text in texts]
    weight = {term: _rarity(sum(term in s for s in sets), len(sets)) for term in set(wanted)}
    total = sum(weight.values())
    if not total:
        return [0.0] * len(sets)
    return [sum(w for term, w in weight.items() if term in s) / total for s in sets]


def _rarity(holders: int, texts: int) -> float:
    return math.log(1 + (texts - holders + 0.5) / (holders + 0.5))
