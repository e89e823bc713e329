"""Names and ids in the few letters that providers allow.

    notes.write_note ──wire_name()──▶ notes__write_note
    笔记.写           ──wire_name()──▶ ______2048897f44d2    (a digest keeps it apart)
    wire_names(names) ──▶ {"notes__write_note": "notes.write_note"}, for the way back

Read after: messages.py.     Read next: parts.py.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

MAX_NAME_CHARS = 64  # of a tool's name, for OpenAI and Anthropic alike
DIGEST_CHARS = 12  # 48 bits: too many for a server to forge another tool's name
DIGESTED = re.compile(rf"_[0-9a-f]{{{DIGEST_CHARS}}}$")


def wire_name(name: str) -> str:
    """Return a tool's name as providers allow it; two names never give the same.

    Allowed are 64 ASCII letters, digits, `_` and `-`, so a dot becomes `__`. A name
    that this does not carry over exactly gets a digest of itself at its end.
    """
    plain = "".join(_allowed(character) for character in name)
    exact = plain.replace("__", ".") == name and not DIGESTED.search(plain)
    if plain and exact and len(plain) <= MAX_NAME_CHARS:
        return plain
    return f"{plain[: MAX_NAME_CHARS - DIGEST_CHARS - 1]}_{_digest(name, DIGEST_CHARS)}"


def wire_names(names: Iterable[str]) -> dict[str, str]:
    """Return, for each wire name, the tool's own: what the `from_` functions need."""
    return {wire_name(name): name for name in names}


def made_up_id(*seeds: object) -> str:
    """Return an id for a call that came without one; the same seeds give the same id.

    Nine letters and digits, the one form that every known provider accepts.
    """
    return "c" + _digest("\n".join(map(str, seeds)), 8)


def _allowed(character: str) -> str:
    if character == ".":
        return "__"
    fine = character.isascii() and (character.isalnum() or character in "_-")
    return character if fine else "_"


def _digest(text: str, chars: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:chars]
