"""Takes what was forgotten out of what a conversation still says of it.

    "I am Ada. My dentist is Dr Lee. Thanks."
        ──Erasure(["My dentist is Dr Lee."])──▶ "I am Ada. [forgotten] Thanks."

What is forgotten was said before it was remembered, repeated in answers and brought into
windows. So each sentence goes that has most of its words, or nothing but its words
("Dr Lee."), wherever it stands: messages, short-term memory, events. A number may be
written otherwise ("1,250", "1250", "１２５０"), and a sentence that has only other numbers
is about something else. Rules compare words and not meanings, so a paraphrase stays. They
err towards erasing, but a word or two in common say nothing in a long sentence, unless
they stand side by side in a part of it that speaks of the user; what is said of somebody
else stays.

Read after: sentence.py, forgetting.py.     Read next: ../session.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

from agentkit.memory.meant import NAMED, OTHERS, share_named
from agentkit.memory.policy import named_to_forget
from agentkit.memory.policy_file import load_policy, plain
from agentkit.memory.sentence import bare
from agentkit.messages import Message
from agentkit.sentences import sentences, split
from agentkit.text import FORGOTTEN, HAN, STOP_HAN, stem, terms

MOST = 0.6  # of the words of what was forgotten, in any order
MOST_SIGNS = 0.8  # of its Chinese characters, of which two texts share more by chance
SOME = 0.3  # in a sentence that has no other words, such as an answer of one name
LEAST_TERMS = 2  # words; fewer are common to many sentences, so they must be most of one
FEW_TERMS = 3  # fewer are common by chance to long sentences, so they must be a third of one
LONG_CHARS = 300  # of a sentence; in a longer one, such as a line of JSON, only a part goes

_PART = re.compile(r"[^,，;；、|{}\[\]\t\n]*[,，;；、|{}\[\]\t\n]*")
_CUTS = " ,，;；、|{}[]\t\n"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?P<mark>[.,])\d{3}(?:(?P=mark)\d{3})*")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_WHITE = re.compile(r"\\[nrt]")
_OF_USER = re.compile(r"\b(?:i|you|my|your|me|user)\b|[我你您]|用户")
_TELLING = frozenset(map(stem, "because since user told tell said say note know mention".split()))
_LEAST_PAIRS = 1 / 3  # of its pairs of Chinese characters: 海上 is not 上海
_QUESTION = re.compile(r"[?？]\s*$")

# Before a recalled sentence stand the exact ids by which it was found.
_QUOTED = re.compile(r"exact id [^·\]\n]+(?=[^\n]*" + re.escape(FORGOTTEN) + ")")
_TEXTS = frozenset({"text", "query", "reason"})  # fields of events that are free text
_TREES = frozenset({"arguments", "new", "pinned"})  # fields in which every string is
_QUOTES: Mapping[str, Any] = {"ids": [], "relation": FORGOTTEN}
_NESTED = frozenset({"hits", "tool_calls"})  # fields that hold fields again


@dataclass(frozen=True, slots=True)
class _Said:
    """What a sentence is compared by.

    Attributes:
        words: English words and pairs of Chinese characters.
        signs: English words and single Chinese characters.
        numbers: In one form each.
        order: The English words, as they follow each other.
        of_user: It speaks of "me", "you" or "the user".
        of_others: It begins with somebody else: "she", "my sister".
    """

    words: frozenset[str]
    signs: frozenset[str]
    numbers: frozenset[str]
    order: tuple[str, ...] = ()
    of_user: bool = False
    of_others: bool = False

    def size(self) -> float:
        """Return how many words it has; two Chinese characters are one."""
        han = sum(HAN.match(sign) is not None for sign in self.signs)
        return len(self.signs) + len(self.numbers) - han / 2

    def __and__(self, other: _Said) -> _Said:
        return _Said(
            self.words & other.words, self.signs & other.signs, self.numbers & other.numbers
        )

    def __or__(self, other: _Said) -> _Said:
        return _Said(
            self.words | other.words,
            self.signs | other.signs,
            self.numbers | other.numbers,
            self.order + other.order,
            self.of_user or other.of_user,
            self.of_others,
        )


_NOTHING = _Said(frozenset(), frozenset(), frozenset())


class Erasure:
    """Erases some sentences from any number of texts.

    Args:
        forgotten: What records said, and their sources.
        kept: What records still say, word for word; it stays wherever it stands.
        orders: What asked to forget it; word for word, as its other words say nothing.
    """

    def __init__(
        self, forgotten: Sequence[str], *, kept: Sequence[str] = (), orders: Sequence[str] = ()
    ) -> None:
        texts = [bare(text).strip() for text in forgotten]
        literally = (*(order.strip() for order in orders), *texts)
        self._whole = [_literal(text) for text in dict.fromkeys(literally) if text]
        self._texts = texts
        stays = {bare(text).strip() for text in kept} - {"", *texts}
        literal = "|".join(_literal(text).pattern for text in sorted(stays, key=len, reverse=True))
        self._stays = re.compile(f"({literal})") if stays else None
        self._wanted: list[_Said] = []
        for text in texts:
            parts = [_said(part) for part in sentences(text)]
            parts = [part for part in parts if part.size()]
            least = LEAST_TERMS if len(parts) > 1 else 0  # "Thanks." beside it is not meant
            self._wanted += [part for part in parts if part.size() >= least]

    def text(self, text: str) -> str:
        """Return the text with "[forgotten]" for each sentence that has to go."""
        parts = [text] if self._stays is None else self._stays.split(text)
        return "".join(part if at % 2 else self._unsaid(part) for at, part in enumerate(parts))

    def _unsaid(self, text: str) -> str:
        for whole in self._whole:
            text = whole.sub(FORGOTTEN, text)
        between = text.split(FORGOTTEN)  # the mark ends a sentence, as its stop is gone
        left = FORGOTTEN.join("".join(map(self._erased, split(part))) for part in between)
        return _QUOTED.sub("exact id ", left)

    def message(self, message: Message) -> Message:
        """Return a message whose text and arguments do not say it."""
        calls = tuple(
            replace(call, arguments=self._tree(call.arguments)) for call in message.tool_calls
        )
        return replace(message, text=self.text(message.text), tool_calls=calls)

    def event(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of an event whose texts do not say it; names and numbers stay."""
        said = {name: self._field(name, value) for name, value in data.items()}
        if said.get("text") != data.get("text"):  # of a hit: these quote its text
            said |= {name: unsaid for name, unsaid in _QUOTES.items() if name in data}
        return said

    def _field(self, name: str, value: Any) -> Any:
        if name in _TEXTS and isinstance(value, str):
            return self.text(value)
        if name in _TREES:
            return self._tree(value)
        if name in _NESTED and isinstance(value, list | tuple):
            return [self.event(one) if isinstance(one, Mapping) else one for one in value]
        return value

    def _tree(self, value: Any) -> Any:
        """Return a JSON value with every string in it erased."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self._tree(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._tree(item) for item in value]
        return value

    def _erased(self, text: str) -> str:
        """Return what stands for a sentence, with the white space around it."""
        sentence = text.strip()
        said = _said(sentence)
        if self._repeated(said):
            if len(sentence) > LONG_CHARS:
                return self._long(text)
        elif not self._answered(said, sentence) and not self._ordered(sentence):
            return self._in_parts(text, said)
        return text.replace(sentence, FORGOTTEN)

    def _in_parts(self, text: str, whole: _Said) -> str:
        """Return a sentence without those of its parts that say it by themselves."""
        parts = [found for found in _PART.findall(text) if found]
        said = [replace(_said(part), of_others=whole.of_others) for part in parts]
        return "".join(
            part.replace(part.strip(_CUTS), FORGOTTEN) if self._repeated(one, part=True) else part
            for one, part in zip(said, parts, strict=True)
        )

    def _repeated(self, said: _Said, *, part: bool = False) -> bool:
        found = bool(said.size())
        return found and any(_repeats(said, wanted, part=part) for wanted in self._wanted)

    def _ordered(self, sentence: str) -> bool:
        """Return whether a sentence asks to forget it, however it names it."""
        policy = load_policy()
        named = named_to_forget(sentence, policy)
        if not named:
            return False
        return any(share_named(named, text, policy) >= NAMED for text in self._texts)

    def _answered(self, said: _Said, sentence: str) -> bool:
        if not said.size() or not any(_answers(said, wanted) for wanted in self._wanted):
            return False
        asks = _QUESTION.search(sentence) or load_policy().says("requests", sentence)
        return not asks

    def _long(self, text: str) -> str:
        """Return a long sentence without the neighbouring parts of it that have to go.

        The words of what was forgotten may stand far from each other in it by chance. Where
        it cannot be cut into parts, it goes as a whole.
        """
        parts = [found for found in _PART.findall(text) if found]
        said = [_said(part) for part in parts]
        left: list[str] = []
        at = 0
        while at < len(parts):
            end = self._end(parts, said, at)
            while end and self._repeated(_together(said[at + 1 : end])):
                left.append(parts[at])
                at += 1
            left.append(FORGOTTEN if end else parts[at])
            at = end or at + 1
        return "".join(left)

    def _end(self, parts: Sequence[str], said: Sequence[_Said], start: int) -> int:
        """Return where the first parts from here end that repeat it together; 0 for none."""
        chars, together = 0, _NOTHING
        for at in range(start, len(parts)):
            chars += len(parts[at])
            if at > start and chars > LONG_CHARS:
                return 0
            together |= said[at]
            if self._repeated(together):
                return at + 1
        return 0


def _literal(text: str) -> re.Pattern[str]:
    """Return a pattern for a text that is no part of a longer word."""
    ends = [r"\b" if end.isascii() and end.isalnum() else "" for end in (text[0], text[-1])]
    return re.compile(re.escape(text).join(ends))


def _said(sentence: str) -> _Said:
    folded = plain(bare(_unescaped(sentence).strip()))
    numbers = frozenset(_one_form(found) for found in _NUMBER.findall(folded))
    found = terms(_NUMBER.sub(" ", folded))
    words = frozenset(found)
    han = {sign for sign in HAN.findall(folded) if sign not in STOP_HAN}
    latin = {word for word in words if not HAN.match(word)}
    pairs = {word for word in words - latin if not STOP_HAN & set(word)}
    return _Said(
        frozenset(latin | pairs),
        frozenset(latin | han),
        numbers,
        tuple(word for word in found if word in latin),
        _OF_USER.search(folded) is not None,
        OTHERS.match(folded.lstrip(" \"'“‘[{(-*")) is not None,
    )


def _unescaped(text: str) -> str:
    """Return a text as it reads where it is JSON that writes Chinese as numbers."""
    if "\\" not in text:
        return text
    return _WHITE.sub(" ", _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text))


def _one_form(number: str) -> str:
    """Return a number as it is compared: "1,250" and "1250.00" are "1250"."""
    if _THOUSANDS.fullmatch(number):
        return re.sub(r"\D", "", number)
    whole, mark, rest = number.replace(",", ".").rpartition(".")
    return f"{whole.replace('.', '')}.{rest}".rstrip("0").rstrip(".") if mark else number


def _repeats(said: _Said, wanted: _Said, *, part: bool) -> bool:
    """Return whether a sentence, or a part of one, has most of the words that were forgotten.

    A word or two must stand side by side in what speaks of the user, or be most of it.
    """
    shared = said & wanted
    if said.of_others and not wanted.of_others:
        return False
    if said.numbers and wanted.numbers and not shared.numbers:
        return False  # another order, another day
    numbers = len(shared.numbers), len(wanted.numbers)
    by_words = _share(len(shared.words) + numbers[0], len(wanted.words) + numbers[1])
    by_signs = _share(len(shared.signs) + numbers[0], len(wanted.signs) + numbers[1])
    if by_words < MOST and by_signs < MOST_SIGNS:
        return False
    pairs = [frozenset(filter(HAN.match, one.words)) for one in (shared, wanted)]
    if pairs[1] and _share(len(pairs[0]), len(pairs[1])) < _LEAST_PAIRS:
        return False
    if shared.size() >= FEW_TERMS:
        return True
    others = said.size() - len(said.signs & _TELLING - shared.signs)
    if shared.size() < LEAST_TERMS:
        return 2 * shared.size() > others
    near, ordered = _near(said, shared), _in_order(said, shared, wanted)
    if near and said.of_user and part:
        return True
    return ordered and (3 if near else 2) * shared.size() > others


def _near(said: _Said, shared: _Said) -> bool:
    """Return whether the shared English words follow each other without another between."""
    wanted = shared.signs & frozenset(said.order)
    starts = range(len(said.order) - len(wanted) + 1)
    return any(wanted == set(said.order[at : at + len(wanted)]) for at in starts)


def _in_order(said: _Said, shared: _Said, wanted: _Said) -> bool:
    """Return whether the shared English words come one after another as in what is wanted."""
    order = [word for word in said.order if word in shared.words]
    want = [word for word in wanted.order if word in shared.words]
    return list(dict.fromkeys(order)) == list(dict.fromkeys(want))


def _answers(said: _Said, wanted: _Said) -> bool:
    """Return whether a sentence has no other words, as an answer that is a name."""
    if said.of_others and not wanted.of_others:
        return False
    if not (said.words <= wanted.words and said.signs <= wanted.signs):
        return False
    if not said.numbers <= wanted.numbers:
        return False
    return said.size() >= 1 or said.size() >= SOME * wanted.size()


def _together(said: Sequence[_Said]) -> _Said:
    return reduce(or_, said, _NOTHING)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
