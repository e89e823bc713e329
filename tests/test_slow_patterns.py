"""Patterns that take forever are found in time, and none that ships is one."""

from __future__ import annotations

import pytest

from agentkit import slow_patterns
from agentkit.slow_patterns import too_slow


@pytest.mark.parametrize(
    "slow",
    [
        r"(\w+\s?)+;",
        r"^(a+)+$",
        r"(x+x+)+y",
        r"(?:please ?please ?)+(?:please ?)+;|(?:(?:please ?)+)+;",
        r"(?:忘掉?)+(?:掉?忘掉?)+;",
        r"(?:[\u4e00-\u9fff]+，?)+。",
        r"(é+)+;",
        r"([à-ÿ]+)+;",
        r"(?:ночь?)+(?:ь?ночь?)+;|((?:ж+)+)+;",
        r"(?:の+)+;",
    ],
)
def test_a_pattern_that_never_ends_is_named(monkeypatch: pytest.MonkeyPatch, slow: str) -> None:
    """By design: a short limit, for these would not end in a lifetime."""
    monkeypatch.setattr(slow_patterns, "LIMIT_S", 1.0)

    assert too_slow([r"\bcall me\b", slow, "过敏"]) == slow


def test_patterns_that_end_are_passed() -> None:
    assert (
        too_slow([r"\w[\w ]*;", r"^(?:please |can you )*(?:show|find)\b", "(?:请|帮我)*忘掉"])
        is None
    )
    assert too_slow([]) is None


def test_where_no_process_may_be_started_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """By design: an interpreter in a browser has none, and reads rules all the same."""
    monkeypatch.setattr(slow_patterns.sys, "executable", "/nowhere/python")

    assert too_slow([r"(b+)+c"]) is None
