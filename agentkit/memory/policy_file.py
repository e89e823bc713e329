"""A policy as data: the file that says what is worth remembering, read and checked.

    policy_rules.json ──load_policy()──▶ Policy (patterns ready to use)

Whoever wants another policy edits a copy of the file and no code.

Read after: privacy.py, ../value.py.     Read next: sentence.py, policy.py.
Built in:   notebooks/10_what_deserves_to_be_remembered.ipynb
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agentkit.memory.privacy import CHECKS, Hidden, Shape, hide
from agentkit.rules_file import Given, read_rules
from agentkit.text import fold
from agentkit.value import Rules, load_rules

POLICY_FILE = Path(__file__).with_name("policy_rules.json")
FORGET_GROUPS = ("this", "it", "clause", "about", "all")
NEEDS = ("", "reason", "standing", "entity")
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
    "lapses",
    "begs",
    "quotes",
    "wants forgotten",
    "says no",
    "says two things",
    "light words",
    "in a note",
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
        note_tools: Tools that write down what the user wants in a note.
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
    note_tools: frozenset[str]
    values: Rules

    def says(self, name: str, text: str) -> bool:
        """Say whether a text holds one of the patterns of this name."""
        return bool(self.patterns[name].search(plain(text).strip()))

    def hide(self, text: str) -> Hidden:
        """Return the text without secrets and private numbers."""
        return hide(text, self.private)


def plain(text: str) -> str:
    """Return a text as patterns read it: lower case, half width, simplified characters."""
    return simplified(fold(text))


def simplified(text: str) -> str:
    """Return a text with a simplified character for each traditional one of the value rules."""
    return text if text.isascii() else text.translate(load_rules().simplified)


def load_policy(path: str | Path | None = None) -> Policy:
    """Read a policy; without a path the one that ships.

    Raises:
        RecordError: The file is missing, or holds no policy; says what is wrong where.
    """
    if path is None:
        return _shipped()
    given = read_rules(
        path,
        what="policy",
        hint=f"Start from a copy of {POLICY_FILE.name}, which ships with the kit.",
    )
    policy = _policy(given)
    given.refuse_slow()
    return policy


@lru_cache(maxsize=1)
def _shipped() -> Policy:
    return _policy(read_rules(POLICY_FILE, what="policy", hint="Install agentkit again."))


def _policy(given: Given) -> Policy:
    names, tools = given["names"], given["tools"]
    return Policy(
        {name: given[name].together() for name in _PATTERNS},
        tuple(one.pattern(groups=FORGET_GROUPS) for one in given["forget"].each()),
        tuple(one.pattern(groups=("what",)) for one in given["remember"].each()),
        tuple(_rule(entry) for entry in given["kinds"].each()),
        _rule(given["asked"]),
        _rule(given["conclusion"]),
        tuple(_shape(entry) for entry in given["private"].each()),
        tuple(_subject(entry) for entry in given["subjects"].each()),
        {name: words.pattern().pattern for name, words in given["entities"].members()},
        frozenset(names["not"].text(may_be_empty=True).split()),
        names["acts"].pattern(),
        names["han"].pattern(),
        frozenset(tools["memory"].texts()),
        frozenset(tools["writes"].texts()),
        frozenset(tools["notes"].texts()),
        load_rules(),
    )


def _rule(entry: Given) -> KindRule:
    value, needs, ends = entry.get("value"), entry.get("needs"), entry.get("expires_days")
    return KindRule(
        entry["kind"].text(),
        entry["importance"].number(least=0, most=1),
        entry["reason"].text(),
        frozenset(value.texts()) if value is not None else frozenset(),
        needs.one_of(NEEDS) if needs is not None else "",
        ends.number(least=0) if ends is not None and ends.value is not None else None,
    )


def _shape(entry: Given) -> Shape:
    check, before = entry.get("check"), entry.get("not after")
    return Shape(
        entry["kind"].text(),
        entry["pattern"].pattern(),
        CHECKS[check.one_of(tuple(CHECKS))] if check is not None else None,
        before.pattern() if before is not None else None,
    )


def _subject(entry: Given) -> tuple[re.Pattern[str], str]:
    return entry["pattern"].pattern(), entry["subject"].text()
