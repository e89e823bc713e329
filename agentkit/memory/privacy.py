"""Takes secrets and personal numbers out of a text before it touches the disk.

    "My card is 4111 1111 1111 1111"  ──hide()──▶  "My card is [card number]", ("card number",)

A number counts as personal by its shape and its own check digits, or by the word before
it: an order number of sixteen digits stays, a card number goes. The shapes are data, a
part of `policy_rules.json`. A list of shapes is a net with holes: the safe place for a
secret is outside the conversation.

Read after: ../trace.py (keys and tokens).     Read next: policy.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentkit.redaction import REDACTED, redact

SECRET = "secret"  # what trace.py takes out: keys, tokens, passwords
_BEFORE = 24  # characters in front of a number that may say what it is
# Weights of a resident id and the letter for each rest: GB 11643-1999, section 4.
_RESIDENT = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_RESIDENT_ENDS = "10X98765432"


@dataclass(frozen=True, slots=True)
class Hidden:
    """A text without what is private.

    Attributes:
        text: With "[card number]" and the like in its place.
        kinds: What was taken out, each kind once, in order.
    """

    text: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """How one kind of private number looks.

    Attributes:
        kind: What it is called, e.g. "card number".
        pattern: Matches it; a group `hidden` says which part of the match goes.
        check: Says of a match whether its own check digits are right.
        not_after: A number behind this is another one, e.g. an order's.
    """

    kind: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None
    not_after: re.Pattern[str] | None = None


def hide(text: str, shapes: Sequence[Shape]) -> Hidden:
    """Return the text without secrets and private numbers."""
    kept = str(redact(text))
    kinds = [SECRET] if kept.count(REDACTED) > text.count(REDACTED) else []
    for shape in shapes:

        def put(match: re.Match[str], shape: Shape = shape) -> str:
            if not _counts(match, shape):
                return match[0]
            kinds.append(shape.kind)
            part = "hidden" if "hidden" in match.re.groupindex else 0
            start, end = match.start(part) - match.start(), match.end(part) - match.start()
            return f"{match[0][:start]}[{shape.kind}]{match[0][end:]}"

        kept = shape.pattern.sub(put, kept)
    return Hidden(kept, tuple(dict.fromkeys(kinds)))


def _counts(match: re.Match[str], shape: Shape) -> bool:
    """Say whether a match is what it looks like."""
    if shape.check is not None and not shape.check(match[0]):
        return False
    before = match.string[max(match.start() - _BEFORE, 0) : match.start()].lower()
    return shape.not_after is None or not shape.not_after.search(before)


def luhn(number: str) -> bool:
    """Say whether the last digit of a card number is right: ISO/IEC 7812-1, annex B."""
    digits = [int(c) for c in number if c.isdigit()]
    doubled = [d if i % 2 == 0 else d * 2 - 9 * (d > 4) for i, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def resident(number: str) -> bool:
    """Say whether the last sign of a Chinese resident id is right."""
    total = sum(w * int(c) for w, c in zip(_RESIDENT, number[:17], strict=True))
    return number[17].upper() == _RESIDENT_ENDS[total % 11]


def iban(number: str) -> bool:
    """Say whether a bank account's check digits are right: ISO 13616-1, section 6."""
    plain = number.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


CHECKS: Mapping[str, Callable[[str], bool]] = {"luhn": luhn, "resident": resident, "iban": iban}
