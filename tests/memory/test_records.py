"""Drafts: what is taken, what is refused, and in which words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agentkit.errors import RecordError
from agentkit.memory.records import Draft, one_sentence, said


def test_a_draft_is_trimmed_and_made_valid_text() -> None:
    draft = Draft("  Ada lives in Lund\ud800.\x00 ", raw="Ada lives in Lund\ud800.\x00")

    assert draft.text == "Ada lives in Lund\ufffd.\ufffd"
    assert draft.raw == ""  # it says no more than the text


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000"])
def test_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match="empty"):
        Draft(text)


@pytest.mark.parametrize(
    "text", ["😀", "a", "忆", "שלום עולם", "مرحبا", "XJH-2309", "日本語 and Ελληνικά"]
)
def test_a_short_text_in_any_script_is_a_record(text: str) -> None:
    assert Draft(text).text == text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", b"bytes"),
        ("text", "x" * 1_000_000),
        ("raw", "忆" * 100_001),
        ("kind", 7),
        ("importance", 1.5),
        ("importance", float("nan")),
        ("confidence", True),
        ("confidence", "high"),
        ("expires", datetime(2026, 1, 1)),
        ("expires", "tomorrow"),
        ("entities", ["A-1001"]),
        ("entities", {"order": 1001}),
        ("entities", {str(n): "x" for n in range(33)}),
        ("subject", "s" * 201),
    ],
)
def test_what_cannot_be_kept_is_refused_with_advice(field: str, value: Any) -> None:
    with pytest.raises(RecordError) as caught:
        Draft(**{"text": "Ada lives in Lund.", field: value})

    assert caught.value.hint


def test_a_source_names_its_turn() -> None:
    assert Draft("x", source="s1/t7").turn == ("s1", 7)
    assert Draft("x", source="群/3").turn == ("群", 3)
    assert Draft("x", source="a page").turn is None


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Ada: I moved to Lund.", "Ada"),
        ("小明：我搬到杭州了。", "小明"),
        ("Mary Ann Smith: hello", "Mary Ann Smith"),
        ("what I would really like to say: no", ""),
        ("10:30 is fine", ""),
        ("no colon here", ""),
    ],
)
def test_the_speaker_stands_before_the_first_colon(text: str, speaker: str) -> None:
    assert said(text, source="s/t1") == Draft(text, source="s/t1", speaker=speaker)


def test_one_sentence_keeps_whole_sentences() -> None:
    """By hand: 19 characters fit the first sentence, 20 the space behind it."""
    text = "Ada lives in Lund. She moved there in 2024."

    assert one_sentence(text, limit=200) == text
    assert one_sentence(text, limit=30) == "Ada lives in Lund."
    assert one_sentence(text, limit=12) == "Ada lives…"
    assert one_sentence("她住在隆德。她二〇二四年搬去。", limit=8) == "她住在隆德。"


def test_time_is_kept_in_utc() -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)

    assert Draft("x", expires=moment).expires == moment
