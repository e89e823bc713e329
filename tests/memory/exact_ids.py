"""Makes records and questions about exact identifiers, in English and Chinese.

Each record holds one identifier of a kind: order, device, version, phone-like number or
serial. Each question writes it in another way: other case, full width, without or with
other hyphens. Among the records are near misses: two digits swapped, one more digit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

RECORDS = {
    "order": ("Order {} was shipped to the office.", "订单{}已经发到办公室。"),
    "device": ("The device {} is under warranty until May.", "设备{}的保修到五月为止。"),
    "version": ("The crash was fixed in version {}.", "这个崩溃在版本{}里修好了。"),
    "phone": ("The supplier can be called at {}.", "供应商的电话是{}。"),
    "serial": ("Serial number {} belongs to the red printer.", "序列号{}是红色打印机的。"),
}
QUESTIONS = {
    "order": ("where did order {} go?", "{}这个订单到哪里了？"),
    "device": ("Is {} still under warranty?", "请问{}还在保修期吗？"),
    "version": ("what was fixed in {}", "{}修好了什么问题？"),
    "phone": ("who answers at {}?", "{}是谁的电话？"),
    "serial": ("Which printer has the serial number {}?", "哪台打印机的序列号是{}？"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One question, and the text of the record that is right."""

    question: str
    answer: str


def make(count: int, seed: int = 11) -> tuple[list[str], list[Case]]:
    """Return the texts to remember, near misses among them, and `count` cases."""
    dice = random.Random(seed)
    texts: dict[str, None] = {}
    cases: list[Case] = []
    used: set[str] = set()
    while len(cases) < count:
        kind = dice.choice(list(RECORDS))
        one = identifier(kind, dice)
        if plain(one) in used:
            continue
        used.add(plain(one))
        language = dice.randrange(2)
        answer = RECORDS[kind][language].format(one)
        asked = QUESTIONS[kind][dice.randrange(2)].format(rewritten(one, kind, dice))
        texts[answer] = None
        cases.append(Case(asked, answer))
        near = swapped(one, dice)
        if plain(near) not in used:
            used.add(plain(near))
            texts[RECORDS[kind][language].format(near)] = None
    order = list(texts)
    dice.shuffle(order)
    return order, cases


def identifier(kind: str, dice: random.Random) -> str:
    """Return an identifier as a record writes it."""
    letters = "".join(dice.choices("ABCDEFGHJKLMNPRSTUVWXYZ", k=3))
    digits = "".join(dice.choices("0123456789", k=12))
    match kind:
        case "order":
            return dice.choice([f"2026{digits[:4]}-{digits[4:8]}", f"ORD-{digits[:6]}"])
        case "device":
            return dice.choice([f"{letters}-{digits[:4]}", f"{letters[:2]}{digits[:3]}-{letters}"])
        case "version":
            return f"v{dice.randint(1, 30)}.{dice.randint(0, 40)}.{dice.randint(0, 60)}"
        case "phone":
            return dice.choice(
                [f"138-{digits[:4]}-{digits[4:8]}", f"(555) {digits[:3]}-{digits[3:7]}"]
            )
    return f"SN{digits[:5]}{letters}{digits[5:7]}"


def rewritten(one: str, kind: str, dice: random.Random) -> str:
    """Return the identifier as somebody else would write it."""
    forms = [one, one.lower(), wide(one), one.replace("-", "–")]
    if kind == "version":
        forms = [one, one.upper(), one[1:], wide(one)]
    elif kind == "phone":
        forms += [one.replace("-", " "), one.replace("-", "")]
    else:
        forms += [one.replace("-", ""), one.replace("-", "").lower()]
    return dice.choice(forms)


def wide(text: str) -> str:
    """Return a text in full-width characters, as a Chinese keyboard writes them."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def swapped(one: str, dice: random.Random) -> str:
    """Return a near miss: two neighbouring digits swapped, or one digit more."""
    places = [i for i in range(len(one) - 1) if one[i : i + 2].isdigit() and one[i] != one[i + 1]]
    if not places:
        return f"{one}{dice.randrange(10)}"
    at = dice.choice(places)
    return f"{one[:at]}{one[at + 1]}{one[at]}{one[at + 2 :]}"


def plain(one: str) -> str:
    """Return an identifier without what may differ: case, hyphens, brackets, spaces."""
    return "".join(c for c in one.lower().removeprefix("v") if c.isalnum() or c == ".")
