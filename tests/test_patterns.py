"""Many regular expressions as one: it must find what each of them would."""

from __future__ import annotations

import json
import re

import pytest

from agentkit.patterns import alternatives, any_of
from agentkit.value import RULES_FILE


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a|b", ["a", "b"]),
        ("(?:a|b)c|d", ["(?:a|b)c", "d"]),
        (r"a\|b|c", [r"a\|b", "c"]),
        (r"[|(]x|[^]|]y", [r"[|(]x", r"[^]|]y"]),
        (r"\(|\)", [r"\(", r"\)"]),
        ("", [""]),
    ],
)
def test_bars_inside_brackets_are_left_alone(pattern: str, parts: list[str]) -> None:
    assert alternatives(pattern) == parts


def test_no_pattern_matches_nothing() -> None:
    assert any_of([]).search("anything") is None


def test_what_is_no_expression_is_refused_whatever_stands_beside_it() -> None:
    with pytest.raises(re.error):
        any_of(["a)", "(b"])


def test_one_pattern_finds_what_the_many_find() -> None:
    """By reference: each pattern of the shipped rules, tried by itself."""
    kinds = json.loads(RULES_FILE.read_text(encoding="utf-8"))["kinds"]
    texts = [
        "my name is ann",
        "we pay for gold",
        "nothing here",
        "我对花生过敏",
        "不要改",
        "recall memory",
    ]
    for kind in kinds:
        joined = any_of(kind["any"])
        alone = [any(re.search(pattern, text) for pattern in kind["any"]) for text in texts]
        assert [joined.search(text) is not None for text in texts] == alone
