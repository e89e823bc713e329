"""Finds notes by their words, in English and in Chinese, and cuts out the part that matched.

    query ──terms()──▶ report, 性能, 能测, 测试 ──rank()──▶ hits, best first

English is compared by word, without case and plural; a longer word may also begin with
the term ("report" finds "reporting"). Chinese, Japanese and Korean have no spaces to
split at, so there every two neighbouring characters are a term. Rare terms count more.

Read after: nothing.     Read next: _note_store.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

EXCERPT_CHARS = 160  # about 40 tokens of English: enough to choose a note by
PREFIX_CHARS = 4  # a shorter beginning matches too much: "tea" would find "teach"
IN_TEXT, IN_TITLE = 0.8, 1.0  # a title says what a note is about
AS_PREFIX = 0.5  # a longer word is a weaker sign than the word itself

# Thai to Khmer, kana, Chinese characters, Korean syllables: written without spaces, or
# (Korean) with endings that a bigram steps over.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_FILLERS = re.compile(
    "有没有|什么|怎么|哪些|关于|是不是|我们|你们|帮我|请帮|一下|[的了吗呢吧啊嘛我你您这那]"
)
_STOP_WORDS = frozenset(
    "a about all an and any anything are as at be been by can could did do does find for from get "
    "had has have how i in into is it its know look me my no not note noted notes of on or our "
    "please s search show some something t tell that the their them there these they this to up us "
    "was we were what when where which who why will with would you your".split()
)


class Searchable(Protocol):
    """What can be searched: an id that breaks ties, a title and a text."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...


Found = TypeVar("Found", bound=Searchable)


@dataclass(frozen=True, slots=True)
class Hit(Generic[Found]):
    """One note that matches.

    Attributes:
        note: What was found.
        score: Share of the query that was found, e.g. 0.8; 1.0 is every term in the title.
        matched: The terms that were found, in the order of the query, e.g. ("report",).
    """

    note: Found
    score: float
    matched: tuple[str, ...]


def rank(query: str, notes: Sequence[Found]) -> list[Hit[Found]]:
    """Return the notes that share a term with the query, by `(-score, id)`.

    A term weighs `ln(1 + N/n)`, with N notes of which n hold it (n at least 1), the usual
    inverse document frequency. A query without a letter or digit finds nothing.
    """
    wanted = terms(query)
    pages = [(_Page(note.title), _Page(note.text)) for note in notes]
    found = [
        [max(IN_TITLE * title.holds(t), IN_TEXT * text.holds(t)) for t in wanted]
        for title, text in pages
    ]
    holders = [sum(row[i] > 0 for row in found) for i in range(len(wanted))]
    weights = [math.log(1 + len(notes) / max(1, n)) for n in holders]
    hits = []
    for note, row in zip(notes, found, strict=True):
        matched = tuple(term for term, value in zip(wanted, row, strict=True) if value)
        if matched:
            share = sum(w * value for w, value in zip(weights, row, strict=True)) / sum(weights)
            hits.append(Hit(note, round(share, 3), matched))
    return sorted(hits, key=lambda hit: (-hit.score, hit.note.id))


def terms(query: str) -> list[str]:
    """Return what a query asks for, once each, in order; question words only if nothing else."""
    found: list[str] = []
    runs = _RUN.findall(normal(query))
    for run in runs:
        if not _IS_UNSPACED.match(run):
            found += [] if run in _STOP_WORDS else [stem(run)]
        else:
            found += [gram for part in _FILLERS.split(run) if part for gram in bigrams(part)]
    if not found:
        found = [g for r in runs for g in (bigrams(r) if _IS_UNSPACED.match(r) else [stem(r)])]
    return list(dict.fromkeys(found))


def bigrams(run: str) -> list[str]:
    """Return every two neighbouring characters, or the one character there is."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def normal(text: str) -> str:
    """Return text for comparing: full-width forms and case do not count."""
    return unicodedata.normalize("NFKC", text).casefold()


def stem(word: str) -> str:
    """Return an English word without plural, -ing and -ed. Rough, but the same both ways."""
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= PREFIX_CHARS:
            return word.removesuffix(ending)
    return word


class _Page:
    """One text, split once, that says how well it holds a term."""

    def __init__(self, text: str) -> None:
        self._text = normal(text)
        self._words = {stem(run) for run in _RUN.findall(self._text)}

    def holds(self, term: str) -> float:
        """Return 1.0 for the term itself, `AS_PREFIX` for a longer word, 0.0 for neither."""
        if _IS_UNSPACED.match(term):
            return 1.0 if term in self._text else 0.0
        if term in self._words:
            return 1.0
        long_enough = len(term) >= PREFIX_CHARS
        return AS_PREFIX if long_enough and any(w.startswith(term) for w in self._words) else 0.0


def excerpt(text: str, matched: Sequence[str], *, max_chars: int = EXCERPT_CHARS) -> str:
    """Return the stretch of `text` that holds most of the terms; the first of equals."""
    flat = " ".join(text.split())
    starts = range(0, max(1, len(flat) - max_chars // 2), max_chars // 2)

    def held(start: int) -> float:
        page = _Page(flat[start : start + max_chars])
        return sum(page.holds(term) for term in matched)

    start = max(starts, key=lambda start: (held(start), -start))
    end = start + max_chars
    return ("…" if start else "") + flat[start:end] + ("…" if end < len(flat) else "")
