"""A policy as data: the file that says what is worth remembering, read and checked.

    policy_rules.json ──load_policy()──▶ Policy (patterns ready to use)

Whoever wants another policy edits a copy of the file and no code.

Read after: privacy.py, ../value.py.     Read next: sentence.py, policy.py.
Built in:   notebooks/10_what_deserves_to_be_remembered.ipynb
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentkit.errors import RecordError
from agentkit.memory.privacy import Hidden, Shape, hide, shapes_of
from agentkit.text import fold
from agentkit.value import Rules, load_rules

POLICY_FILE = Path(__file__).with_name("policy_rules.json")
_PATTERNS = (
    "instructions",
    "off the record",
    "remember the last",
    "questions",
    "greetings",
    "decided",
    "requests",
    "of the moment",
    "first person",
    "pronouns",
    "nothing found",
    "actions",
    "repeats",
    "reasons",
    "standing",
    "statement",
    "openings",
    "closings",
    "wants forgotten",
    "says no",
    "says two things",
    "light words",
)


@dataclass(frozen=True, slots=True)
class KindRule:
    """What is written of one kind.

    Attributes:
        kind: Of the record, e.g. "preference".
        importance: Of the record.
        reason: Why it is written, e.g. "a stated preference".
        value: The kinds of `value_rules.json` that it covers.
        needs: "reason", "standing" or "entity": what the sentence must hold too.
        expires_days: When the record ends, or None.
    """

    kind: str
    importance: float
    reason: str
    value: frozenset[str] = frozenset()
    needs: str = ""
    expires_days: float | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """A file of rules, ready to use.

    Attributes:
        patterns: By the name they have in the file, e.g. "off the record".
        forget: Requests to forget, without "please" and the like around them. Groups: `this`
            or `it` for what was written last, `clause` for what a record states, `about` for
            a topic, `all` for everything that a topic comes up in.
        remember: Requests to remember, with a group `what`.
        kinds: In order; the first that fits counts.
        asked: For what the user asks to remember.
        conclusion: For what tool results came to.
        private: Shapes of numbers that never reach the disk.
        subjects: What a sentence gives the value of: a pattern, and a name with "{what}".
        entities: The words before an identifier that name its field.
        not_names: Words that begin with a capital and name nobody.
        acts: What somebody named does at the beginning of a sentence.
        han_names: Names in Chinese.
        memory_tools: Tools whose results are recalled and never written back.
        write_tools: Tools that remember by themselves.
        values: Say which kind a sentence is.
    """

    patterns: Mapping[str, re.Pattern[str]]
    forget: tuple[re.Pattern[str], ...]
    remember: tuple[re.Pattern[str], ...]
    kinds: tuple[KindRule, ...]
    asked: KindRule
    conclusion: KindRule
    private: tuple[Shape, ...]
    subjects: tuple[tuple[re.Pattern[str], str], ...]
    entities: Mapping[str, str]
    not_names: frozenset[str]
    acts: re.Pattern[str]
    han_names: re.Pattern[str]
    memory_tools: frozenset[str]
    write_tools: frozenset[str]
    values: Rules

    def says(self, name: str, text: str) -> bool:
        """Say whether a text holds one of the patterns of this name."""
        return bool(self.patterns[name].search(fold(text).strip()))

    def hide(self, text: str) -> Hidden:
        """Return the text without secrets and private numbers."""
        return hide(text, self.private)


def load_policy(path: Path | None = None) -> Policy:
    """Read a policy; without a path the one that ships.

    Raises:
        RecordError: The file is missing, or holds no policy; says what is wrong.
    """
    return _shipped() if path is None else _read(path)


@lru_cache(maxsize=1)
def _shipped() -> Policy:
    return _read(POLICY_FILE)


def _read(path: Path) -> Policy:
    hint = f"Start from a copy of {POLICY_FILE.name}, which ships with the kit."
    try:
        return _policy(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise RecordError(f"The policy {path.name} cannot be read: {error}.", hint=hint) from error
    except (ValueError, KeyError, TypeError, re.error) as error:
        raise RecordError(
            f"{path.name} holds no policy: {type(error).__name__} {error}.", hint=hint
        ) from error


def _policy(data: Mapping[str, Any]) -> Policy:
    names = data["names"]
    return Policy(
        {name: re.compile("|".join(f"(?:{p})" for p in data[name])) for name in _PATTERNS},
        _all(data["forget"]),
        _all(data["remember"]),
        tuple(_rule(entry) for entry in data["kinds"]),
        _rule(data["asked"]),
        _rule(data["conclusion"]),
        shapes_of(data["private"]),
        tuple((re.compile(one["pattern"]), str(one["subject"])) for one in data["subjects"]),
        {str(name): str(words) for name, words in data["entities"].items()},
        frozenset(names["not"].split()),
        re.compile(names["acts"]),
        re.compile(names["han"]),
        frozenset(data["tools"]["memory"]),
        frozenset(data["tools"]["writes"]),
        load_rules(),
    )


def _all(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


def _rule(entry: Mapping[str, Any]) -> KindRule:
    needs = str(entry.get("needs", ""))
    if needs not in ("", "reason", "standing", "entity"):
        raise ValueError(f"a kind needs {needs!r}, not reason, standing or entity")
    return KindRule(
        str(entry["kind"]),
        float(entry["importance"]),
        str(entry["reason"]),
        frozenset(entry.get("value", ())),
        needs,
        entry.get("expires_days"),
    )
