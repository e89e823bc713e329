"""What memory holds: one sentence that can be read alone, and where it came from.

    Draft (what to remember) ──LongTermMemory.add()──▶ Written(record, what became of it)

A `Draft` is what a caller asks to be remembered. A `Record` is what the store made of
it: an id, the time, and what happened since. Neither changes; a change gives a new one.

Read after: errors.py, clock.py, text.py.     Read next: keys.py, long.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Literal, cast

from agentkit.errors import RecordError
from agentkit.sentences import beginning
from agentkit.text import clean_text

SENTENCE_CHARS = 200  # about 40 English words: what one sentence needs to be read alone
MAX_RECORD_CHARS = 2_000  # a long turn of a conversation; embedders read no further
MAX_RAW_CHARS = 100_000  # the source of a record: a page or a tool result, not a book
MAX_NAME_CHARS = 200  # of tenants, kinds, subjects, sources, and names and values of entities
MOST_RECORDS = 2**62  # of one answer; a file of SQLite has no more rows
MAX_ENTITIES = 32  # one sentence names no more

Outcome = Literal["added", "merged", "superseded"]
_TURN = re.compile(r"(?P<talk>.*)/\D{0,8}(?P<turn>\d{1,9})$", re.DOTALL)
_SAID = re.compile(r"\s*(?P<who>[^\W\d_][^:：\n]{0,39}?)\s*[:：]\s*\S")


@dataclass(frozen=True, slots=True)
class Draft:
    """One thing to remember.

    Attributes:
        text: One sentence that can be read alone: no "she", no "yesterday".
        raw: What was really said, when the text is a short form of it.
        entities: Exact fields by name, e.g. {"order": "A-1001"}.
        kind: What sort of thing it is, e.g. "preference", "fact", "decision".
        subject: What it gives the value of, e.g. "ada/home town". A record of the
            same subject is superseded by this one. Empty: it replaces nothing.
        source: The turn it came from: a conversation, a slash, a number ("s1/t7").
        speaker: Who said it, e.g. "Ada".
        importance: From 0.0 (may go) to 1.0 (must stay).
        confidence: From 0.0 (a guess) to 1.0 (certain).
        expires: When it stops being true, or None.

    Raises:
        RecordError: A field is empty, too long, out of range or of a wrong type.
    """

    text: str
    raw: str = ""
    entities: Mapping[str, str] = field(default_factory=dict)
    kind: str = "fact"
    subject: str = ""
    source: str = ""
    speaker: str = ""
    importance: float = 0.5
    confidence: float = 1.0
    expires: datetime | None = None

    def __post_init__(self) -> None:
        text = _checked("text", self.text, MAX_RECORD_CHARS, "Split it into sentences.")
        if not text.strip():
            raise RecordError("The text is empty.", hint="Give one sentence to remember.")
        raw = _checked("raw source", self.raw, MAX_RAW_CHARS, "Keep the part that matters.")
        object.__setattr__(self, "text", text.strip())
        object.__setattr__(self, "raw", "" if raw.strip() == self.text else raw)
        object.__setattr__(self, "entities", _entities(self.entities))
        for name in ("kind", "subject", "source", "speaker"):
            object.__setattr__(self, name, _checked(name, getattr(self, name), MAX_NAME_CHARS))
        for name in ("importance", "confidence"):
            object.__setattr__(self, name, check_share(name, getattr(self, name)))
        check_moment("expires", self.expires)

    @property
    def turn(self) -> tuple[str, int] | None:
        """The conversation and the number of the turn, where `source` names both."""
        found = _TURN.fullmatch(self.source)
        return (found["talk"], int(found["turn"])) if found else None


@dataclass(frozen=True, slots=True)
class Record:
    """One remembered thing.

    Attributes:
        id: Unique in its tenant, e.g. "m3f9a1c20b7de".
        tenant: Whose it is.
        draft: What was asked to be remembered.
        created: When it was written, in UTC.
        last_used: When recall last gave it to somebody, or None.
        superseded_by: The id of the record that took its place, or None.
    """

    id: str
    tenant: str
    draft: Draft
    created: datetime
    last_used: datetime | None = None
    superseded_by: str | None = None

    @property
    def text(self) -> str:
        """The sentence."""
        return self.draft.text

    @property
    def source(self) -> str:
        """The turn it came from."""
        return self.draft.source

    @property
    def current(self) -> bool:
        """Whether no newer record took its place."""
        return self.superseded_by is None


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a draft.

    Attributes:
        record: What the store holds now.
        outcome: "added"; "merged" into a record that says the same; or "superseded":
            added, and the records of the same subject gave way.
        others: The ids of the records that gave way.
    """

    record: Record
    outcome: Outcome
    others: tuple[str, ...] = ()


def said(line: str, *, source: str = "") -> Draft:
    """Return the draft of one line of a dialogue: "Ada: I moved to Lund."

    What stands before the first colon, up to four words, is the speaker.
    """
    found = _SAID.match(line[:100])
    who = found["who"] if found and len(found["who"].split()) <= 4 else ""
    return Draft(line, source=source, speaker=who)


def one_sentence(text: str, *, limit: int = SENTENCE_CHARS) -> str:
    """Return as many whole sentences from the start of a text as fit the limit.

    When not even the first fits, it is cut behind a word and ends in "…".
    """
    return beginning(text, max_chars=limit)


def check_tenant(tenant: str) -> str:
    """Return the name of a tenant; there is no call without one.

    Raises:
        RecordError: It is no text, empty, too long, or not the same once it is clean.
    """
    name = _checked("tenant", tenant, MAX_NAME_CHARS)
    if name != tenant:  # clean, two names could be one, and one would read the other's memory
        raise RecordError(
            f"The tenant {tenant!r} holds a NUL or half a character.",
            hint="Leave it out of the name; a tenant has one name and no other.",
        )
    if not name.strip():
        raise RecordError(
            "The tenant is empty.",
            hint='Say whose memory it is: tenant="ada". There is no default.',
        )
    return name


def check_id(id: str) -> str:  # noqa: A002
    """Return the id of a record.

    Raises:
        RecordError: It is no text.
    """
    if not isinstance(id, str):
        raise RecordError(
            f"The id of a record is {type(id).__name__} {id!r:.40}, not text.",
            hint='Give one id of a hit or of records(), e.g. "m3f9a1c20b7de".',
        )
    return clean_text(id)


def check_ids(ids: str | Iterable[str]) -> list[str]:
    """Return the ids of records, of one or of several.

    Raises:
        RecordError: One of them is no text.
    """
    several = isinstance(ids, Iterable) and not isinstance(ids, str | bytes | Mapping)
    return [check_id(one) for one in ids] if several else [check_id(cast(str, ids))]


def check_limit(limit: int | None) -> int | None:
    """Return how many records are wanted; None for all.

    Raises:
        RecordError: It is no whole number.
    """
    if limit is None:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise RecordError(f"limit is {limit!r}.", hint="Use a whole number, or None for all.")
    return min(max(limit, 0), MOST_RECORDS)


def check_share(name: str, value: float) -> float:
    """Return a number from 0 to 1.

    Raises:
        RecordError: It is no number, or outside.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= 1:
        raise RecordError(f"{name} is {value!r}.", hint="Use a number from 0.0 to 1.0.")
    return float(value)


def check_moment(name: str, moment: datetime | None) -> None:
    """Refuse a time that does not say its zone.

    Raises:
        RecordError: It is no datetime, or has no time zone.
    """
    if moment is not None and (not isinstance(moment, datetime) or moment.tzinfo is None):
        raise RecordError(
            f"{name} is {moment!r}, which names no moment.",
            hint="Use a datetime with a time zone: datetime(2026, 3, 1, tzinfo=UTC).",
        )


def _checked(name: str, text: str, limit: int, advice: str = "Shorten it.") -> str:
    if not isinstance(text, str):
        raise RecordError(
            f"The {name} is {type(text).__name__}, not text.",
            hint="Decode bytes first; write numbers and objects as a sentence.",
        )
    if not text:
        return text
    if len(text) > limit:
        raise RecordError(
            f"The {name} has {len(text)} characters; at most {limit} are kept.", hint=advice
        )
    return clean_text(text)


def _entities(entities: Mapping[str, str]) -> Mapping[str, str]:
    """Return the entities, checked, in the order of their names, and read-only."""
    if not isinstance(entities, Mapping):
        raise RecordError(
            f"The entities are {type(entities).__name__}, not a mapping.",
            hint='Name each: {"order": "A-1001", "device": "XJH-2309"}.',
        )
    if len(entities) > MAX_ENTITIES:
        raise RecordError(
            f"There are {len(entities)} entities; at most {MAX_ENTITIES} are kept.",
            hint="Keep those that the sentence is about.",
        )
    checked = {
        _checked("name of an entity", name, MAX_NAME_CHARS): _checked(
            f"entity {name}", value, MAX_NAME_CHARS
        )
        for name, value in sorted(entities.items())
    }
    return MappingProxyType(checked)
