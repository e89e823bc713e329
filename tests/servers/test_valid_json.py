"""JSON that holds half a surrogate pair."""

from __future__ import annotations

import json

import pytest

from servers._valid_json import valid_json


@pytest.mark.parametrize(
    ("escaped", "read"),
    [
        (r'"\ud83d"', "\ufffd"),
        (r'"\uDE00 tail"', "\ufffd tail"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (r'"\ud83d\n"', "\ufffd\n"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\\ud83d"', r"\ud83d"),
        (r'"\\\ud83d"', "\\\ufffd"),
        (r'"\u4f60\u597d"', "你好"),
        ('"你好 😀"', "你好 😀"),
    ],
)
def test_only_half_a_pair_is_replaced(escaped: str, read: str) -> None:
    """By hand: a pair is one character, and `\\\\u` is a backslash and a letter."""
    assert json.loads(valid_json(escaped.encode())) == read
