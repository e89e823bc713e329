from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.text import (
    MAX_TEXT_CHARS,
    STOP_HAN,
    STOP_WORDS,
    clean_json,
    clean_text,
    fold,
    one_line,
    overlap,
    pad,
    printable,
    stem,
    terms,
    width,
)
from tests.histories import STEADY, TEXTS

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # surrogates and NUL among them


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("两份报告 and two", "两份报告 and two"),
        ("🙂", "🙂"),
        ("\ud83d\ude42", "🙂"),  # the halves stand together: they are one emoji
        ("half \ud83d", "half \ufffd"),
        ("\ude42\ud83d", "\ufffd\ufffd"),
        ("a\x00b", "a\ufffdb"),
    ],
)
def test_what_crosses_the_border_is_valid(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("两份报告 and two 🙂 👨\u200d👩\u200d👧", "两份报告 and two 🙂 👨\u200d👩\u200d👧"),
        ("\x1b[2J\x1b]0;OWNED\x07", "␛[2J␛]0;OWNED␇"),
        ("a\nb\tc\rd\x7f", "a␊b␉c␍d␡"),
        ("\x9b31m\u202eabc\u2066\u2028", "\ufffd31m\ufffdabc\ufffd\ufffd"),
        ("caf\udce9.md", "caf\ufffd.md"),
    ],
)
def test_a_terminal_gets_no_command_from_a_text(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_the_lines_of_an_answer_stay() -> None:
    assert printable("一\r\n二\n\tthree\x1b", keep="\n\t") == "一\n二\n\tthree␛"


@STEADY
@given(ANY_TEXT)
def test_what_is_printable_is_one_line_and_stays_so(text: str) -> None:
    shown = printable(text)

    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown
    shown.encode()


@STEADY
@given(ANY_TEXT)
def test_any_text_can_be_sent_once_it_is_clean(text: str) -> None:
    clean = clean_text(text)

    clean.encode()
    assert "\x00" not in clean
    assert clean_text(clean) == clean


@STEADY
@given(TEXTS)
def test_a_text_that_is_valid_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text


def test_a_cut_says_how_much_is_missing() -> None:
    assert clean_text("报告" * 5, max_chars=4) == "报告报告 … [6 of 10 characters cut]"
    assert len(clean_text("x" * (MAX_TEXT_CHARS + 1))) < MAX_TEXT_CHARS + 60
    assert clean_text("x" * MAX_TEXT_CHARS) == "x" * MAX_TEXT_CHARS


def test_every_string_of_a_json_value_is_cleaned() -> None:
    dirty: dict[str, Any] = {"a\x00": ["\ud83d", {"b": "c\x00"}], "n": 1, "t": True, "z": None}

    assert clean_json(dirty) == {
        "a\ufffd": ["\ufffd", {"b": "c\ufffd"}],
        "n": 1,
        "t": True,
        "z": None,
    }


def test_folding_makes_wide_and_capital_letters_plain() -> None:
    assert fold("ＡＢＣ１２３ Straße") == "abc123 strasse"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Two reports, 两份报告", ["two", "report", "两份", "份报", "报告"]),
        ("reporting reported reports", ["report", "report", "report"]),
        ("What did I note about the report?", ["note", "report"]),
        ("the user's notes", ["user", "note"]),
        ("the user’s notes", ["user", "note"]),
        ("我的报告", ["的报", "报告"]),
        ("好", ["好"]),
        ("的", []),
        ("order A-1042", ["order", "1042"]),
        ("naïve café", ["naïv", "café"]),
        ("テスト", ["テス", "スト"]),
        ("𠮷野家", ["𠮷野", "野家"]),
        ("", []),
        ("?! …", []),
    ],
)
def test_a_text_is_cut_into_what_two_texts_can_share(text: str, found: list[str]) -> None:
    """By hand. "A" is a stop word, also when it begins an order number."""
    assert terms(text) == found


def test_single_characters_can_be_asked_for() -> None:
    assert terms("我的报告", unigrams=True) == ["的报", "报告", "报", "告"]
    assert terms("报", unigrams=True) == ["报"]


@STEADY
@given(ANY_TEXT)
def test_terms_are_never_empty_nor_stop_words(text: str) -> None:
    """By design, but for one thing: an ending may leave a stop word ("was" of "was's")."""
    found = terms(text)

    assert "" not in found
    assert not STOP_HAN.intersection(found)
    assert all(term.split() for term in found)


def test_stop_words_say_nothing() -> None:
    assert terms(" ".join(sorted(STOP_WORDS))) == []


def test_a_stem_is_shared_by_the_forms_of_a_word() -> None:
    assert {stem(word) for word in ("note", "notes", "noted", "noting")} == {"note"}


def test_a_rare_term_weighs_more_than_a_common_one() -> None:
    texts = [terms(t) for t in ("report tests", "report budget", "report weather", "")]

    tests, budget, weather, nothing = overlap(terms("report budget"), texts)

    assert budget == 1.0
    assert tests == weather < 0.5
    assert nothing == 0.0


@pytest.mark.parametrize(("wanted", "texts"), [([], [["a"]]), (["a"], []), (["a"], [[]])])
def test_what_shares_nothing_overlaps_not_at_all(wanted: list[str], texts: list[list[str]]) -> None:
    assert overlap(wanted, texts) == [0.0] * len(texts)


@STEADY
@given(st.lists(TEXTS.map(terms), max_size=5), TEXTS.map(terms))
def test_overlap_is_a_share(texts: list[list[str]], wanted: list[str]) -> None:
    assert all(0.0 <= share <= 1.0 + 1e-9 for share in overlap(wanted, texts))


@pytest.mark.parametrize(
    ("text", "columns"),
    [("report", 6), ("报告", 4), ("报告 ok", 7), ("e\u0301", 1), ("ｶﾅ", 2), ("🙂", 2), ("", 0)],
)
def test_a_chinese_character_takes_two_columns(text: str, columns: int) -> None:
    assert width(text) == columns


def test_columns_line_up_in_any_language() -> None:
    assert [pad("报告", 6), pad("note", 6), pad("7", 6, right=True)] == [
        "报告  ",
        "note  ",
        "     7",
    ]
    assert pad("a long name", 3) == "a long name"


def test_a_name_for_a_table_is_one_short_line() -> None:
    assert one_line("  two\n lines ") == "two lines"
    assert one_line("abcdef", max_chars=4) == "abc…"
    assert one_line("abcd", max_chars=4) == "abcd"
