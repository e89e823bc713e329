"""Finding notes by their words, in English and in Chinese."""

from __future__ import annotations

import pytest

from servers._note_store import Note
from servers._search import excerpt, rank, stem, terms

DAY = "2026-01-05T09:00:00Z"


def notes(*titles_and_texts: tuple[str, str]) -> list[Note]:
    return [
        Note(f"n{i:04d}", title, text, DAY, DAY)
        for i, (title, text) in enumerate(titles_and_texts, start=1)
    ]


def ids(query: str, *titles_and_texts: tuple[str, str]) -> list[str]:
    return [hit.note.id for hit in rank(query, notes(*titles_and_texts))]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("report", "Finish the reports."),
        ("reports", "Finish the report."),
        ("performance tests", "One performance test is left."),
        ("testing", "Tests are due."),
        ("report", "Call the reporter."),
        ("REPORT", "finish the Report"),
        ("did I note anything about the report?", "The report is due."),
        ("stories", "A story."),
        ("性能测试", "下周要完成结项报告，重点是性能测试部分"),
        ("有没有记关于结项报告的？", "下周要完成结项报告"),
        ("ＡＰＩ ２０２６", "The api of 2026"),
        ("api", "看一下ＡＰＩ文档"),
        ("水", "记得喝水"),
        ("レポート", "来週のレポート"),
        ("보고서", "다음 주 보고서를 끝내기"),
        ("naïve", "A NAÏVE plan"),
        ("A-1024", "Order A-1024 is late"),
    ],
)
def test_a_query_finds_the_note_it_means(query: str, text: str) -> None:
    found = ids(query, ("other", "Buy bread 买面包 for Sunday"), ("this", text))

    assert found == ["n0002"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("port", "The report"),
        ("tea", "Teach a class"),
        ("天气", "今天生气"),
        ("report", "天气很好"),
    ],
)
def test_a_query_does_not_find_what_only_looks_alike(query: str, text: str) -> None:
    assert ids(query, ("x", text)) == []


def test_hits_come_best_first_and_ties_by_id() -> None:
    """By hand: both words beat one; a title (1.0) beats a text (0.8); equals go by id."""
    found = ids(
        "performance report",
        ("a", "the report"),
        ("b", "the report"),
        ("performance report", "x"),
        ("c", "performance of the report"),
    )

    assert found == ["n0003", "n0004", "n0001", "n0002"]


def test_the_word_itself_comes_before_a_longer_one() -> None:
    assert ids("report", ("a", "the reporter"), ("b", "the report")) == ["n0002", "n0001"]


def test_the_score_is_the_share_of_the_query_that_was_found() -> None:
    """By hand: of two equally rare words one is found, in the title: one half."""
    hit = rank("apple pear", notes(("apple", "x"), ("pear", "x")))[0]

    assert (hit.note.id, hit.score, hit.matched) == ("n0001", 0.5, ("apple",))


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    found = ids("meeting budget", ("a", "meeting"), ("b", "meeting"), ("c", "budget"))

    assert found == ["n0003", "n0001", "n0002"]


def test_question_words_are_dropped_unless_there_is_nothing_else() -> None:
    assert terms("What did I note about the report?") == ["report"]
    assert terms("what about it") == ["what", "about", "it"]
    assert terms("关于报告") == ["报告"]
    assert terms("？！… —— 🎉 _") == []


def test_both_ways_of_writing_a_word_have_one_stem() -> None:
    """By hand."""
    words = "notes classes boxes stories testing tested string bus this pass"

    assert [stem(word) for word in words.split()] == (
        "note class box story test test string bus this pass".split()
    )


def test_an_excerpt_shows_the_part_that_matched() -> None:
    text = "word " * 200 + "性能测试 is here " + "word " * 200

    shown = excerpt(text, ["性能", "测试"])

    assert "性能测试 is here" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 162


def test_a_short_text_is_its_own_excerpt() -> None:
    assert excerpt("two\nlines", ["line"]) == "two lines"
