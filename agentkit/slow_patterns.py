r"""Finds patterns that would take forever on some text, before one of them meets it.

    ["call me", r"(\w+ ?)+;"] ──too_slow()──▶ r"(\w+ ?)+;"

A regular expression with a repetition inside a repetition may try every way to cut a
text, and there are more ways than seconds; nothing can stop it from outside. So patterns
that somebody wrote are first tried in a child process, which can be ended: on long runs
of common signs, and on runs of their own words. A net with holes, but for the usual kind.

Read after: errors.py.     Read next: rules_file.py.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache

LIMIT_S = 5.0  # for all patterns of a file; those that ship take a tenth of a second
LONG = 400  # characters, as long as the longest sentence that is looked at
_RUNS = (
    "a",
    "a ",
    "1",
    " ",
    "-",
    ".",
    "a1",
    "a.",
    "a-",
    "我",
    "我 ",
    "1 ",
    "A",
    "\n",
    "'",
    ",",
    "é",
)
_OWN = re.compile(r"(?<!\\)[a-z\u00c0-\u1fff]{1,20} ?|[\u3040-\ud7ff]{1,20}", re.IGNORECASE)
_MOST_OWN = 8  # words of one pattern that are tried
_CHILD = """
import json, re, sys
for at, (pattern, texts) in enumerate(json.load(sys.stdin)):
    print(at, flush=True)
    for text in texts:
        re.search(pattern, text)
print(-1, flush=True)
"""


def too_slow(patterns: Sequence[str]) -> str | None:
    """Return the first pattern that does not end in time on a hostile text, or None."""
    at = _stuck_at(tuple(dict.fromkeys(patterns)), LIMIT_S)
    return None if at is None else list(dict.fromkeys(patterns))[at]


@lru_cache(maxsize=16)
def _stuck_at(patterns: tuple[str, ...], limit_s: float) -> int | None:
    """Return which pattern is still being tried at the end of the time."""
    tried = json.dumps([(pattern, _hostile(pattern)) for pattern in patterns])
    try:
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CHILD],
            input=tried, capture_output=True, text=True, timeout=limit_s, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as stuck:
        told = stuck.stdout or ""
        said = (told.decode() if isinstance(told, bytes) else told).split()
        return int(said[-1]) if said and said[-1] != "-1" else None
    except OSError:  # no other process may be started here: they go untried
        pass
    return None


def _hostile(pattern: str) -> list[str]:
    """Return long texts that nearly fit, each with an end that fits nothing."""
    own = list(dict.fromkeys(_OWN.findall(pattern)))[:_MOST_OWN]
    runs = [*_RUNS, *own, *(f"{word} " for word in own)]
    return [(run * LONG)[:LONG] + "\x01" for run in runs]
