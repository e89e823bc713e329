"""What a message is worth keeping: by what it holds, not by its age alone.

    "I am a paying customer."        ──▶ identity    9   ┐
    "Do not change the public API."  ──▶ constraint  8   │ kept from round 1 to round 200
    "以后都用中文回答。"                ──▶ preference  7   │
    "We go with PostgreSQL."         ──▶ decision    6   ┘
    the last three rounds            ──▶             5
    "We still need a test."          ──▶ open item   4
    "The depot opens at six."        ──▶ statement   3: told, and neither asked nor ordered
    the same beside a question       ──▶ aside       2
    "The page took 4 s just now."    ──▶ report      1: what happened, and is over
    questions, requests, answers     ──▶ talk        0, newer before older
    "thanks" · "谢谢"                 ──▶ small talk -1
    an error that was mended since   ──▶ error fixed -2

The rules are data: `value_rules.json`, regular expressions for English and Chinese, to
be edited or replaced. Rules read words and not meaning; where a model is at hand, let it
say the kinds: anything that returns one `Value` a message can stand in their place.

Read after: messages.py, sentences.py, patterns.py.     Read next: summary.py, context.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import get_args

from agentkit.messages import Message, Role
from agentkit.patterns import any_of
from agentkit.rules_file import Given, read_rules
from agentkit.sentences import split
from agentkit.text import HAN, fold

ROLES: tuple[str, ...] = get_args(Role)
RULES_FILE = Path(__file__).with_name("value_rules.json")
LASTING = 6.0  # from this weight on a message is worth keeping whatever its age
LONGEST_SENTENCE = 400  # characters; what is longer is a paste, and its ends say what it is
READ_CHARS = 6_000  # of a message, half from each end: a rule is said at one of them
MOST_KNOWN = 100_000  # texts whose value is remembered; a long conversation has a tenth of it
_BY_ITSELF = 3.0  # what weighs so little must be said by itself, not before a question
PLAIN, SMALL_TALK, ERROR, FIXED = "talk", "small talk", "error", "error fixed"

_LETTER = re.compile(r"[a-z]")
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)", re.IGNORECASE)
_QUESTION = re.compile(
    r"[?？]\s*$|[吗么呢]\s*[。.]?\s*$|^(?:what|why|how|when|where|which|who|whose|is|are|was|were|do|"
    r"does|did|has|have|am|should|shall)\b(?! (?:not|n't))"
)
_POLITE = re.compile(
    r"^(?:please|can|could|would|will) (?:you|we)?\b|^(?:请|麻烦|能否|能不能|可以)"
)
_SEMICOLON = re.compile(r"(?<=；)|(?<=;)(?=\s)")
_COMMA = re.compile(r"[,:;]\s*|\s[-–—]+\s")
_SUPPOSES = re.compile(
    r"^(?:and |but |so |ok |well )*(?:if|when|what|how|why|suppose|between|as for|for|in|is|are|do"
    r"|does|did|can|could|should|would|will|which|who|where)\b|如果|假如|要是|万一|的话|什么|怎么|哪|谁|为何"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence that is worth something.

    Attributes:
        kind: E.g. "constraint".
        weight: Of its kind, e.g. 8.0.
        sentence: As it was said.
    """

    kind: str
    weight: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Value:
    """What one message is worth.

    Attributes:
        kind: Of the finding that counts most; "talk" when nothing was found.
        weight: Of that kind. `LASTING` and above outlives any age.
        findings: All of them, in the order in which they were said.
    """

    kind: str = PLAIN
    weight: float = 0.0
    findings: tuple[Finding, ...] = ()


Valuer = Callable[[Sequence[Message]], Sequence[Value]]  # one value a message, in order


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    weight: float
    roles: frozenset[str]
    questions: bool
    latin: re.Pattern[str]
    han: re.Pattern[str]
    exception: re.Pattern[str] | None
    alone: bool

    def matches(self, said: str) -> bool:
        """Return whether a sentence, in lower case, is of this kind."""
        found = _LETTER.search(said) is not None and self.latin.search(said)
        if not found and not said.isascii():  # half the work: a sentence is mostly in one language
            found = self.han.search(said)
        return bool(found) and not (self.exception is not None and self.exception.search(said))


@dataclass(frozen=True, slots=True)
class Rules:
    """A file of rules, ready to use. Call it with a history: one `Value` a message.

    Attributes:
        kinds: Highest weight first.
        recent_rounds: So many rounds at the end weigh at least `recent_weight`.
        recent_weight: Between what lasts and what does not.
    """

    kinds: tuple[_Kind, ...]
    recent_rounds: int
    recent_weight: float
    fixed_weight: float
    fixed: re.Pattern[str]
    not_fixed: re.Pattern[str]
    talk_weight: float
    talk_chars: int
    talk: re.Pattern[str]
    simplified: Mapping[int, int]
    forget: re.Pattern[str]
    _known: dict[tuple[str, str], Value] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, history: Sequence[Message]) -> list[Value]:
        """Return what each message is worth, in order; looks at a text once only."""
        found = [self.value(message.role, message.text) for message in history]
        for at in _mended_errors(history, found, self.says_fixed):
            found[at] = Value(FIXED, self.fixed_weight, found[at].findings)
        return found

    def value(self, role: Role, text: str) -> Value:
        """Return what a text is worth by itself. A tool's result says nothing by rules."""
        if role == "tool" or not text:
            return Value()
        known = self._known.get((role, text))
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[role, text] = self.look(role, text)
        return known

    def says_fixed(self, text: str) -> bool:
        """Return whether a text says that an error is gone."""
        short = self._plain(text[:READ_CHARS])
        return bool(self.fixed.search(short)) and not self.not_fixed.search(short)

    def look(self, role: Role, text: str) -> Value:
        """Return the same as `value`, and remember nothing: for a text that is seen once."""
        if role == "tool" or not text:
            return Value()
        if len(text) <= self.talk_chars and self.talk.fullmatch(self._plain(text)):
            return Value(SMALL_TALK, self.talk_weight)
        said = [(sentence, self._plain(sentence)) for sentence in sentences(text)]
        asks = any(_asks(plain) for _, plain in said)
        found = (self._finding(role, *both, asks=asks) for both in said)
        findings = tuple(finding for finding in found if finding is not None)
        if not findings:
            return Value()
        best = max(findings, key=lambda finding: finding.weight)
        return Value(best.kind, best.weight, findings)

    def _plain(self, text: str) -> str:
        """Return a text as the patterns are written: lower case, simplified characters."""
        plain = fold(text).strip()
        return plain if plain.isascii() else plain.translate(self.simplified)

    def _finding(self, role: Role, sentence: str, plain: str, *, asks: bool) -> Finding | None:
        """Return what a sentence holds.

        Args:
            role: Who says it.
            sentence: As it was said.
            plain: The same, as patterns read it.
            asks: Some sentence of its message is a question.
        """
        if role == "user" and self.forget.search(plain):
            return None  # an order to forget tells nothing that is to be kept
        question = asks and _asks(plain)
        told, says = (_told(plain), "") if question else (plain, plain)
        for kind in self.kinds:
            read = plain if kind.questions else told if kind.weight > _BY_ITSELF else says
            if role in kind.roles and read and not (kind.alone and asks) and kind.matches(read):
                return Finding(kind.name, kind.weight, sentence.strip())
        return None


def _asks(said: str) -> bool:
    return bool(_QUESTION.search(said)) and not _POLITE.search(said)


def _told(question: str) -> str:
    """Return what a question says before it asks: "we are on gold, so who helps us?"."""
    *told, _ = _COMMA.split(question)
    said = ", ".join(told)
    return "" if not said or _SUPPOSES.search(said) or _asks(said) else said


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; of a long one, those near its two ends."""
    if len(text) <= READ_CHARS:
        said = split(text)
    else:  # what the cut goes through is half a sentence, and left out
        half = READ_CHARS // 2
        said = [*split(text[:half])[:-1], *split(text[-half:])[1:]]
    said = [part for whole in said for part in _of_readable_length(whole)]
    found = (sentence.strip().removeprefix("- ") for sentence in said)
    return [sentence for sentence in found if sentence and len(sentence) <= LONGEST_SENTENCE]


def _of_readable_length(sentence: str) -> list[str]:
    """Return a sentence, or what stands between the semicolons of one that is very long."""
    return [sentence] if len(sentence) <= LONGEST_SENTENCE else _SEMICOLON.split(sentence)


def _mended_errors(
    history: Sequence[Message], values: Sequence[Value], says_fixed: Callable[[str], bool]
) -> list[int]:
    """Return where errors stand that were mended later: the tool worked, or somebody says so."""
    names = {call.id: call.name for message in history for call in message.tool_calls}
    broken: dict[str, list[int]] = {}
    mended: list[int] = []
    for at, message in enumerate(history):
        name = names.get(message.call_id or "", "")
        if message.role == "tool":
            if message.is_error:
                broken.setdefault(name, []).append(at)
            else:
                mended.extend(broken.pop(name, ()))
        elif values[at].kind == ERROR:
            broken.setdefault("", []).append(at)
        elif broken and message.text and says_fixed(message.text):
            mended.extend(at for places in broken.values() for at in places)
            broken.clear()
    return mended


def load_rules(path: str | Path | None = None) -> Rules:
    """Read a file of rules; without a path those that ship.

    Raises:
        RecordError: The file is missing, or holds no rules; says what is wrong where.
    """
    if path is None:
        return _shipped()
    given = read_rules(
        path,
        what="rules",
        hint=f"Start from a copy of {RULES_FILE.name}, which ships with the kit.",
    )
    rules = _rules(given)
    given.refuse_slow()
    return rules


@lru_cache(maxsize=1)
def _shipped() -> Rules:
    return _rules(read_rules(RULES_FILE, what="rules", hint="Install agentkit again."))


def _rules(given: Given) -> Rules:
    kinds = [_kind(entry) for entry in given["kinds"].each()]
    fixed, talk, recent = given["fixed"], given["small talk"], given["recent"]
    forget = given.get("orders to forget")
    words = sorted(map(fold, talk["words"].texts()), key=len, reverse=True)
    small = "|".join(map(re.escape, words)) or "(?!)"
    return Rules(
        tuple(sorted(kinds, key=lambda kind: -kind.weight)),
        recent["rounds"].whole(),
        recent["weight"].number(),
        fixed["weight"].number(),
        fixed["any"].together(any_of),
        fixed["not"].together(any_of),
        talk["weight"].number(),
        talk["max_chars"].whole(),
        re.compile(rf"(?:(?:{small})(?:[\W_]+|(?<=[^\x00-\x7f])|$))+"),
        _simpler(given.get("traditional")),
        re.compile("(?!)") if forget is None else forget.together(any_of),
    )


def _simpler(given: Given | None) -> Mapping[int, int]:
    """Return which character stands for which."""
    if given is None:
        return {}
    traditional = given["from"].text(may_be_empty=True)
    simple = given["to"].text(may_be_empty=True)
    if len(traditional) != len(simple):
        raise given.error(
            f"{given.where}.from has {len(traditional)} characters and to has {len(simple)}."
        )
    return str.maketrans(traditional, simple)


def _kind(entry: Given) -> _Kind:
    """Read one kind. A pattern without letters of either script may match in both."""
    entry["any"].together()
    patterns: list[str] = entry["any"].value
    plain = {pattern: _ESCAPE.sub("", pattern) for pattern in patterns}
    latin = {pattern: _LETTER.search(plain[pattern]) is not None for pattern in patterns}
    han = {p: HAN.search(p) is not None or "\\u" in p for p in patterns}
    exceptions, alone = entry.get("not"), entry.get("alone")
    return _Kind(
        entry["kind"].text(),
        entry["weight"].number(),
        frozenset(role.one_of(ROLES) for role in entry["roles"].each()),
        entry["questions"].truth(),
        any_of([p for p in patterns if latin[p] or not han[p]]),
        any_of([p for p in patterns if han[p] or not latin[p]]),
        exceptions.together(any_of) if exceptions is not None else None,
        alone.truth() if alone is not None else False,
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a round that is kept or dropped by itself.

    Attributes:
        start: Position of its first message in the round.
        end: Position behind its last one.
        kind: What it holds, e.g. "constraint".
        weight: Of that kind; 0 for plain talk.
    """

    start: int
    end: int
    kind: str = PLAIN
    weight: float = 0.0


def named_pieces(
    number: int, roles: Sequence[Role], calls: Sequence[bool], values: Sequence[Value]
) -> list[tuple[str, Piece]]:
    """Return the pieces of a round with names: "round 3", "round 3: constraint", "round 3 (2)"."""
    found: list[tuple[str, Piece]] = []
    taken: set[str] = set()
    for piece in pieces(roles, calls, values):
        name = f"round {number}"
        name += f": {piece.kind}" if _tier(piece.weight) else ""
        copy = 1
        while (unique := name if copy == 1 else f"{name} ({copy})") in taken:
            copy += 1
        taken.add(unique)
        found.append((unique, piece))
    return found


def pieces(roles: Sequence[Role], calls: Sequence[bool], values: Sequence[Value]) -> list[Piece]:
    """Cut a round where its worth changes: a rule can stay when the talk around it goes.

    A message that lasts is a piece of its own, and so is a step (calls with their
    results) whose errors are mended; all else stays together. A call and its results
    are never cut apart.

    Args:
        roles: Of the messages of one round, in order.
        calls: Whether each asks for tools.
        values: What each is worth.
    """
    found: list[Piece] = []
    at = 0
    while at < len(roles):
        end = at + 1
        while end < len(roles) and roles[end] == "tool":
            end += 1
        step = end > at + 1 or calls[at]
        piece = _piece(at, end, values, step=step)
        joins = found and _tier(found[-1].weight) == 0 == _tier(piece.weight)
        found = [*found[:-1], _joined(found[-1], piece)] if joins else [*found, piece]
        at = end
    return found


def _piece(start: int, end: int, values: Sequence[Value], *, step: bool) -> Piece:
    inside = values[start:end]
    if step and any(v.kind == FIXED for v in inside[1:]):
        worst = min(inside, key=lambda value: value.weight)
        if all(value.weight < LASTING for value in inside):
            return Piece(start, end, worst.kind, worst.weight)
    best = max(inside, key=lambda value: value.weight)
    return Piece(start, end, best.kind, best.weight)


def _tier(weight: float) -> int:
    return 1 if weight >= LASTING else -1 if weight <= -2 else 0


def _joined(first: Piece, second: Piece) -> Piece:
    """Return two neighbours as one, worth what the better of them is worth."""
    best = first if first.weight >= second.weight else second
    return Piece(first.start, second.end, best.kind, best.weight)


def worth(piece: Piece, *, index: int, rounds: int, rules: Rules | None = None) -> float:
    """Return the value of a piece for `pack`: its weight, and of equals the newer more.

    Args:
        piece: Of the round.
        index: Of the round, from 0.
        rounds: In the whole history.
        rules: Say how much being recent weighs; by default those that ship.
    """
    rules = rules or load_rules()
    recent = index >= rounds - rules.recent_rounds
    weight = max(piece.weight, rules.recent_weight) if recent else piece.weight
    return weight + (index + 1) / (rounds + 1)
