"""Takes out of a text what looks like a key, a token or a password.

    "my password is hunter22"  ──redact()──▶  "my password is [redacted]"

Read after: text.py.     Read next: trace.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

# What looks like a key to something. A list of shapes can only ever be a net with holes:
# the safe place for a secret is outside the conversation.
_SECRETS = (
    re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    re.compile(r"\bAIza[0-9A-Za-z_-]{30,}"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S
    ),
    re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{12,}"),
    re.compile(r"(?i)(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
)
_NAME = r"(?:api[_ -]?key|secret|token|passw(?:or)?d|passwd|密码|口令|密钥)"
_NAMED = re.compile(  # after "is" only what holds a digit: "the password is required" stays
    rf"(?i)({_NAME}[\"']?\s*(?:[=:：]\s*|(?:is|是|为)\s*(?=[^\s,;，。；]*\d)))"
    r"[\"']?([^\s\"',;，。；]{6,})"
)
_NAME_ALONE = re.compile(rf"(?i){_NAME}")
REDACTED = "[redacted]"
KNOWN, KNOWN_CHARS = 4_096, 4_000  # a window is looked through at every call: mostly as before


def redact(value: Any) -> Any:
    """Return a JSON value without what looks like a key, a token or a password."""
    if isinstance(value, str):
        return _known(value) if len(value) <= KNOWN_CHARS else _redacted(value)
    if isinstance(value, Mapping):
        return {
            key: REDACTED
            if isinstance(item, str) and _NAME_ALONE.fullmatch(str(key))
            else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return value


def _redacted(text: str) -> str:
    for shape in _SECRETS:
        text = shape.sub(REDACTED, text)
    return _NAMED.sub(rf"\g<1>{REDACTED}", text)


_known = lru_cache(maxsize=KNOWN)(_redacted)
