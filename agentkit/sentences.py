"""Cuts a text into sentences, in English and in Chinese: the one place that does so.

    "Do not book with Dr. Wu. Ask J. Smith."  ──split()──▶  "Do not book with Dr. Wu. "
                                                            "Ask J. Smith."
    "他说：“不行。明天再来。”好吧。"              ──split()──▶  "他说：“不行。明天再来。”"
                                                            "好吧。"

A full stop ends a sentence unless it belongs to an abbreviation, an initial, a number or
an address, or stands between quotation marks or brackets. Where that is in doubt nothing
is cut: two sentences in one still say what was said, half a sentence says something else.
The abbreviations are a list that can be added to. Libraries for this are no longer kept,
or read one of the two languages only. Whatever a text is made of, no stretch of it is read
once for each mark before it: the work grows with the length, not with its square.

Read after: errors.py.     Read next: text.py, value.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

LONGEST_QUOTE = 200  # characters between two marks; what is longer is cut inside too
_LONGEST_WORD = 30  # characters before a full stop that may be an abbreviation

# A name or an example follows, so a sentence never ends here.
_OPEN = frozenset("dr mr mrs ms mx messrs mme prof e.g i.e eg cf vs viz incl esp resp".split())
_TITLES = frozenset("Rev Hon Gen Col Capt Cmdr Lt Maj Sgt Sen Rep Gov Pres Fr Sra Mlle".split())
# The same before a digit only: "No. 7", but "No. Ask her."
_NUMBERED = frozenset(
    "no nos nr p pp fig figs eq sec ch chap vol art par ver v ext tel min max est ca approx".split()
)
# May end a sentence, and does before a capital: "by 5 p.m. Call her." Not before a day.
_TIMES = frozenset("a.m p.m etc".split())
_DAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|febr)uary|march|april|may|june|july"
    r"|august|(?:septem|octo|novem|decem)ber|[ecmp][sde]?t|cest|bst|utc|gmt",
    re.IGNORECASE,
)
# End a sentence only before a word that often begins one: "Jones Inc. We", "Jones Inc. Berlin".
_NAMES = frozenset(
    "st mt ft inc ltd co corp bros llc jr sr ave blvd rd dept univ assn assoc intl bldg al"
    " ph.d b.sc m.sc".split()
)
_DATES = frozenset(
    "Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun"
    " Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec".split()
)
_BEGINS = frozenset(
    "a after all also always an and any are as ask at be because before book but by call can"
    " cancel check could did do does don't each else every everything find first for from get"
    " give go has have he her here his how however i i'd i'll i'm i've if in is it it's its"
    " just keep let let's list make may maybe my never next no not nothing now of ok on once"
    " one only or our please put remember say send she should show since so some tell thank"
    " thanks that that's the their then there these they this those to today tomorrow under"
    " use was we we'll we're what when where which who whose why will with would write yes"
    " you your".split()
)
_SURNAMES = frozenset("an do go he her in may no of on she so to we will you".split())  # "X. He"

_QUOTES = {"“": "”", "「": "」", "『": "』", "《": "》", "‘": "’", '"': '"', "`": "`"}
_CLOSES = {**_QUOTES, "(": ")", "（": "）", "[": "]", "【": "】"}
_OPENS = {shuts: opens for opens, shuts in _CLOSES.items()}
_PAIRED = re.compile(rf"[\n{re.escape(''.join((*_CLOSES, *_OPENS)))}]")
_MARK = re.compile(rf"[.…!?！？。]+|\n\s*|[{re.escape(''.join(_CLOSES))}]")
_TAIL = re.compile(r"[\"'”’」』）)\]】》*_`]*")  # may stand behind the mark that ends a sentence
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[^\s()（）\[\]【】“”‘「」『』\"—–/，。：、]+$")
_NO_WORD = re.compile(r"[^\w\n]*")
_NEXT = re.compile(r"[^\W_][\w'’]{0,20}")  # enough of a word to know it by
_INITIALS = re.compile(r"[A-Za-z](?:\.[A-Za-z])*")
_ITEM = re.compile(r"\s*(?:\d{1,3}|[A-Za-z])")
_ADDRESS = re.compile(r"(?:://|www\.)\S*$")
_GOES_ON = re.compile(r"\s*[,，.。;；:：、!！?？)）的地是了和与及或—-]|\s+[a-z]")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without the space around them; none is empty."""
    return [bare for said in split(text) if (bare := said.strip())]


def split(text: str) -> list[str]:
    """Return the sentences of a text, each with the space behind it: joined, they are the text.

    A line end ends a sentence. A semicolon does not: what follows it may be the exception.
    """
    found: list[str] = []
    start = 0
    for end in _ends(text):
        found.append(text[start:end])
        start = end
    return [*found, text[start:]] if start < len(text) else found


def beginning(text: str, *, max_chars: int) -> str:
    """Return as many whole sentences from the start of a text as fit, on one line.

    When not even the first fits, it is cut behind a word and ends in "…", and quotes and
    brackets that the cut left open are closed.
    """
    text = " ".join(text.split())
    if len(text) <= max_chars:
        return text
    whole = ""
    for said in split(text):
        if len((whole + said).rstrip()) > max_chars:
            break
        whole += said
    if whole:
        return whole.rstrip()
    for end in range(max_chars - 1, 0, -1):
        cut = f"{_behind_a_word(text[:end])}…"
        closed = cut + _unclosed(cut)
        if len(closed) <= max_chars:
            return closed
    return "…"[:max_chars]


def _behind_a_word(head: str) -> str:
    space = head.rfind(" ")
    return (head[:space] if space > len(head) // 2 else head).rstrip(" ,;:，；：、")


def _unclosed(text: str) -> str:
    """Return the marks that close what is open at the end of a text, the inmost first."""
    wanted: list[str] = []
    for at, mark in enumerate(text):
        if wanted and mark == wanted[-1] and not (mark == "’" and text[at + 1 : at + 2].isalpha()):
            wanted.pop()
        elif mark in _CLOSES and not _opens_nothing(text, at):
            wanted.append(_CLOSES[mark])
    return "".join(reversed(wanted))


def _ends(text: str) -> Iterable[int]:
    """Yield where sentences end, the space behind them included."""
    ahead = _Ahead(text)
    start, at = _past(_SPACE, text, 0), 0
    while mark := _MARK.search(text, at):
        begins, at = mark.span()
        if mark[0] in _CLOSES:
            at, ends = _quoted(ahead, begins, start)
        elif mark[0][0] == "\n":
            ends = True
        else:
            tail = _past(_TAIL, text, at)
            ends = _is_end(ahead, start, mark, tail)
            at = tail if ends else at
        if ends:
            start = at = _past(_SPACE, text, at)
            yield at


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


class _Ahead:
    """A text with what lies ahead in it, each stretch read once however many marks ask."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._no_word = (0, 0)  # from here to there stands no word and no line end

    def word(self, at: int) -> str:
        """Return the start of the next word of the same line; empty if there is none."""
        begins, ends = self._no_word
        if not begins <= at <= ends:
            ends = _past(_NO_WORD, self.text, at)
            self._no_word = (at, ends)
        found = _NEXT.match(self.text, ends)
        return found[0] if found else ""

    @cached_property
    def closings(self) -> dict[int, int]:
        """Where each mark that opens is closed on its line, by its position."""
        found: dict[int, int] = {}
        still_open: dict[str, list[int]] = {opens: [] for opens in _CLOSES}
        for mark in _PAIRED.finditer(self.text):
            sign, at = mark[0], mark.start()
            if sign == "\n":
                still_open = {opens: [] for opens in _CLOSES}
                continue
            if sign in _OPENS and not (sign == "’" and self.text[at + 1 : at + 2].isalpha()):
                waiting = still_open[_OPENS[sign]]
                if waiting:
                    found[waiting.pop()] = at
            if sign in _CLOSES:
                still_open[sign].append(at)
        return found


def _is_end(ahead: _Ahead, start: int, mark: re.Match[str], tail: int) -> bool:
    """Return whether a mark outside quotes and brackets ends the sentence that begins at `start`.

    Args:
        ahead: The whole.
        start: Of the sentence.
        mark: Stops, e.g. "." or "?!".
        tail: Position behind the marks that belong to it: quotes, brackets, stars.
    """
    text, stops = ahead.text, mark[0]
    after = text[tail : tail + 1]
    apart = not after or after.isspace()
    if stops == "." and not apart:
        return False  # most of them: 3.5, report.pdf, example.org
    if "。" in stops or "！" in stops or "？" in stops:
        return True
    before = text[max(start, mark.start() - _LONGEST_WORD) : mark.start()]
    word = ahead.word(tail)
    if "!" in stops or "?" in stops:
        return (apart or not after.isascii() or after.isupper()) and not _ADDRESS.search(before)
    if stops != ".":  # an ellipsis, and what was left open may go on
        return not word or (apart and not word[0].islower())
    if _ITEM.fullmatch(text, start, mark.start()):
        return False  # "1. Buy milk"
    found = _WORD.search(before)
    return _may_end(found[0] if found else "", word)


def _may_end(word: str, following: str) -> bool:
    """Return whether a sentence ends at a full stop, by the words on its two sides."""
    low, after = word.lower(), following.lower().replace("’", "'")
    if not following:
        return True
    if low in _OPEN or word in _TITLES:
        return False
    if low in _NUMBERED and (following[0].isdigit() or len(low) > 1):
        return not following[0].isdigit()
    if low in _TIMES:
        return following[0].isupper() and not _DAY.fullmatch(following)
    if len(word) == 1 and word.islower():
        return not following[0].islower()  # "40 s. Do it", but "j. smith"
    initials = _INITIALS.fullmatch(word) is not None and word != "I"
    if initials or low in _NAMES or word in _DATES:
        begins = following[0].isupper() and after in _BEGINS
        return begins and not (len(word) == 1 and after in _SURNAMES)
    return True


def _quoted(ahead: _Ahead, at: int, start: int) -> tuple[int, bool]:
    """Return where to go on from an opening mark, and whether the sentence ends there.

    What is quoted ends it with its own last stop, unless words go on behind it; what is in
    brackets only where nothing but the brackets was said.
    """
    text = ahead.text
    end = _closing(ahead, at)
    if end is None:
        return at + 1, False
    inside = text[at + 1 : end].rstrip("\"'”’」』）)\\]】》*_` ")
    end = _past(_TAIL, text, end + 1)
    if inside[-1:] not in (".", "!", "?", "…", "。", "！", "？"):
        return end, False
    if text[at] not in _QUOTES and start < at:
        return end, False
    after = text[end : end + 1]
    apart = not after.isascii() or not after.isalnum()
    return end, apart and not _GOES_ON.match(text, end)


def _closing(ahead: _Ahead, at: int) -> int | None:
    """Return where the mark that opens here is closed, on the same line and not too far off."""
    if _opens_nothing(ahead.text, at):
        return None
    end = ahead.closings.get(at)
    return end if end is not None and end - at <= LONGEST_QUOTE + 1 else None


def _opens_nothing(text: str, at: int) -> bool:
    """Return whether a mark opens nothing: 5" wide; :("""
    opens, before = text[at], text[at - 1 : at] if at else ""
    if opens == "(":
        return before in (":", ";", "=")
    return opens in ('"', "‘") and before.isascii() and before.isalnum()
