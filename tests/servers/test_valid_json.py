"""JSON that holds half a surrogate pair."""

from __future__ import annotations

import json

import pytest

from servers._valid_json import INVALID, answerable, valid_json, valid_value


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


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"jsonrpc":"1.0","id":7,"method":"ping"}', 'jsonrpc has to be "2.0"'),
        ('{"jsonrpc":"2.0","id":7,"method":5}', "method has to be a text"),
        ('{"jsonrpc":"2.0","id":7}', "method has to be a text"),
        ('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":5}', "params has to be an object"),
        ('[{"jsonrpc":"2.0","id":7,"method":"ping"}]', "batches are not taken"),
    ],
)
def test_a_line_that_is_no_request_becomes_one_that_is_answered(line: str, why: str) -> None:
    made = json.loads(answerable(line.encode() + b"\n"))

    assert made == {"jsonrpc": "2.0", "id": 7, "method": INVALID, "params": {"why": why}}


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":"a","method":"ping"}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"搜索"}}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        "no json",
        "5",
        "[" * 100_000,
    ],
)
def test_every_other_line_is_left_as_it_is(line: str) -> None:
    assert answerable(line.encode()) == line.encode()


def test_a_batch_without_an_id_says_nothing() -> None:
    assert answerable(b'[{"jsonrpc":"2.0","method":"ping"}, 5]') == b""


def test_every_text_of_a_value_is_made_valid() -> None:
    value = {"caf\udce9": ["\ud83d", "\ud83d\ude00", "你好", 5, None]}

    assert valid_value(value) == {"caf\ufffd": ["\ufffd", "\U0001f600", "你好", 5, None]}
