"""What a record is looked up by: its words, its exact identifiers, its speaker.

    "设备 ＸＪＨ－２３０９ failed twice"  ──▶  words  设备 fail twice xjh 2309 …
                                        ids    xjh2309
                                        same   device text without case and commas

Vectors blur "XJH-2309" into "some device", and word search splits it in two, so an
identifier is a key of its own: one form whatever its width, case and hyphens. A query
is read more generously than a record ("xjh 2309"), for a wrong guess finds nothing.

Every key becomes a number (a keyed hash). The store keeps the numbers and no word
lists, so a forgotten sentence leaves no words behind.

Read after: text.py, records.py.     Read next: postings.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from agentkit.memory.records import Draft
from agentkit.text import HAN, STOP_WORDS, fold, terms

MAX_IDS = 200  # identifiers of one text; a query may be a whole tool result
CODES = np.dtype([("code", "<i8"), ("count", "u1")])  # how keys lie on disk, 9 bytes each

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−﹣_", "-"))
_RUN = re.compile(r"[A-Za-z0-9]+(?:(?:-|(?<=\d)[./](?=\d))[A-Za-z0-9]+)*")
_DIGIT = re.compile(r"\d")
_PHONE = re.compile(r"(?<![A-Za-z0-9./-])(\+?)\(?(\d[\d\-. ()]{5,18}\d)(?![A-Za-z0-9])")
_QUANTITY = re.compile(r"\d+[a-z]{1,2}|\d{1,3}-[a-z]{3,}.*")  # 5km, 2nd, 10-year-old
_YEAR = re.compile(r"(19|20)\d\d")
_WORD = re.compile(r"\w+(?:['’]\w+)?")
# Words that change how a sentence sounds and not what it says. "not" is no such word.
_LIGHT = frozenset("a an the just really very quite so please oh well".split())
_LIGHT_HAN = re.compile("[的了吧啊呀呢嘛哦]")


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one record, as numbers.

    Attributes:
        words: (n,) of `CODES`, in order of appearance; what BM25 counts.
        exact: (m,) of `CODES`; identifiers, entities and the speaker.
        same: Equal for two texts that differ in case, width, commas and light words.
        subject: Equal for two records of one subject; 0 for none.
        talk: Equal for two records of one conversation; 0 for none.
    """

    words: npt.NDArray[np.void]
    exact: npt.NDArray[np.void]
    same: int
    subject: int
    talk: int


@lru_cache(maxsize=50_000)
def code(key: str, secret: bytes) -> int:
    """Return a key's number: 63 bits, the same in every process that has the secret."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8, key=secret).digest(), "big") >> 1


def record_keys(draft: Draft, secret: bytes) -> Keys:
    """Return what a record can be found by."""
    values = " \n ".join(draft.entities.values())
    words = terms(f"{draft.text} \n {values}", unigrams=True)
    exact = [f"id:{one}" for one in identifiers(f"{draft.text} \n {values}")]
    exact += [entity_key(name, value) for name, value in draft.entities.items()]
    if draft.speaker:
        full = fold(draft.speaker).strip()
        exact += [f"by:{name}" for name in (full, *full.split()[:1])]
    turn = draft.turn
    return Keys(
        _counted(words, secret),
        _counted(list(dict.fromkeys(exact)), secret),
        code(f"same:{sameness(draft.text)}", secret),
        code(f"subject:{fold(draft.subject).strip()}", secret) if draft.subject.strip() else 0,
        code(f"talk:{turn[0]}", secret) if turn else 0,
    )


def _counted(keys: Iterable[str], secret: bytes) -> npt.NDArray[np.void]:
    flat: list[int] = []
    for key, count in Counter(keys).items():
        flat += (code(key, secret), min(count, 255))
    return np.frombuffer(struct.pack("<" + "qB" * (len(flat) // 2), *flat), CODES)


def entity_key(name: str, value: str) -> str:
    """Return the key of an exact field, e.g. order = "A-1001"."""
    folded = fold(value).translate(_DASHES)
    return f"is:{fold(name).strip()}={re.sub(r'[-/ ]+', '', folded)}"


def sameness(text: str) -> str:
    """Return what two near-duplicates share: their words in order, light ones left out.

    Negations, numbers and names all count: "I eat nuts" is not "I do not eat nuts".
    """
    folded = fold(text)
    words = _WORD.findall(folded if folded.isascii() else _LIGHT_HAN.sub("", folded))
    kept = [word for word in words if word not in _LIGHT]
    return " ".join(kept) or fold(text).strip()


def speakers(query: str) -> set[str]:
    """Return every key under which a speaker that the query names could stand."""
    found: set[str] = set()
    for word in _WORD.findall(fold(query)):
        stem = re.sub(r"['’]s$", "", word)
        found.add(stem)
        if HAN.search(word):
            found.update(word[i : i + n] for n in (2, 3, 4) for i in range(len(word) - n + 1))
    return {f"by:{name}" for name in found}


def identifiers(text: str, *, asked: bool = False) -> list[str]:
    """Return the identifiers in a text, each in its one form, in order, at most `MAX_IDS`.

    An identifier is a run of ASCII letters and digits with at least one digit, joined
    by hyphens, slashes or (between digits) dots: "XJH-2309", "v2.3.1", "138-0013-8000".
    Quantities ("5km"), years and numbers of up to three digits are none.

    Args:
        text: In any script, width and case.
        asked: Read it as a query: two words with a space between may be one identifier.
    """
    if not _DIGIT.search(text):
        return []
    plain = unicodedata.normalize("NFKC", text).translate(_DASHES)
    runs = list(_RUN.finditer(plain))
    found = [_identifier(run[0]) for run in runs if _DIGIT.search(run[0])]
    for left, right in pairwise(runs):
        gap = plain[left.end() : right.start()]
        if gap == " " and _may_join(left[0], right[0], asked):
            found.append(_identifier(f"{left[0]}-{right[0]}"))
    for plus, digits in _PHONE.findall(plain):
        found.extend(_phones(plus, re.sub(r"\D", "", digits)))
    return [one for one in dict.fromkeys(found) if one][:MAX_IDS]


def _identifier(run: str) -> str:
    """Return the one form of a run, or "" when it identifies nothing."""
    run = run.casefold()
    form = re.sub(r"[-/]", "", run)
    form = form[1:] if re.match(r"v\d", form) else form
    size = len(form.replace(".", ""))
    if _QUANTITY.fullmatch(run) or _YEAR.fullmatch(form):
        return ""
    if "." in form and form.replace(".", "").isdigit():
        return form if size >= 2 else ""
    return form if size >= (4 if form.isdigit() or form == run else 3) else ""


def _may_join(left: str, right: str, asked: bool) -> bool:
    """Say whether "XJH 2309" may be one identifier: a name and then a number."""
    if not left.isalpha() or not _DIGIT.search(right) or _YEAR.fullmatch(right):
        return False
    if asked:
        return left.casefold() not in STOP_WORDS
    return left.isupper() and 2 <= len(left) <= 5


def _phones(plus: str, digits: str) -> Iterator[str]:
    """Yield the forms of a phone number: whole, and without a country code."""
    if 7 <= len(digits) <= 15:
        yield digits
        if plus and len(digits) >= 10:
            yield from (digits[n:] for n in (1, 2, 3))


def filter_codes(entities: Mapping[str, str], secret: bytes) -> list[int]:
    """Return the numbers of the exact fields that a record must have."""
    return [code(entity_key(name, value), secret) for name, value in entities.items()]
