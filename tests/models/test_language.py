"""Words, and what a request is: asked, told, ordered, or only polite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentkit.models import language
from agentkit.models.intent import (
    asks,
    command_length,
    content,
    courtesy,
    headline,
    personal,
    refuses,
    tells,
)
from agentkit.models.language import concepts, gist, is_chinese, topic
from agentkit.sentences import sentences
from agentkit.text import stem

PHRASINGS = json.loads((Path(__file__).parent / "phrasings.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("did I note anything about the report?", "我之前记过关于报告的事吗？"),
        ("tomorrow's weather", "明天的天气"),
        ("do I need an umbrella?", "我要不要带伞？"),
        ("performance tests", "性能测试"),
        ("delete", "删掉"),
        ("get rid of", "删除"),
        ("on Monday", "在周一"),
    ],
)
def test_the_same_thing_in_both_languages_is_about_the_same(english: str, chinese: str) -> None:
    assert concepts(english) == concepts(chinese) != []


def test_words_lose_their_endings_and_chinese_without_the_lexicon_goes_in_pairs() -> None:
    assert concepts("Reporting_reports NASA's") == ["=report", "=report", "nasa"]
    assert concepts("光合作用") == ["光合", "合作", "作用"]
    assert concepts("GPT模型 ABC") == ["gpt", "模型", "abc"]
    assert concepts("，。!?") == []


def test_no_word_of_the_lexicon_means_two_things() -> None:
    """A word in two groups would silently belong to the later one."""
    groups = json.loads(
        (Path(language.__file__).parent / "lexicon.json").read_text(encoding="utf-8")
    )
    seen: dict[str, str] = {}
    for group, words in groups.items():
        for word in {stem(word) if word.isascii() else word for word in words}:
            assert seen.setdefault(word, group) == group, f"{word}: {seen[word]} and {group}"


@pytest.mark.parametrize("kind", ["search", "list", "read"])
def test_whoever_looks_for_something_asks_and_orders_no_writing(kind: str) -> None:
    """What a person wants to see is never taken for something to write down."""
    wrong = [r for r in PHRASINGS[kind] if command_length(r) or tells(r)]

    assert wrong == []


def test_an_order_to_write_is_no_question_and_no_statement() -> None:
    wrong = [r for r in PHRASINGS["write"] if not command_length(r) or asks(r) or tells(r)]

    assert wrong == []


def test_an_order_to_delete_is_no_question() -> None:
    assert [r for r in PHRASINGS["delete"] if asks(r) or refuses(r) or tells(r)] == []


@pytest.mark.parametrize(
    "request_",
    [
        "What did I note?",
        "is it raining",
        "can you tell me what time it is?",
        "show me the list",
        "I wonder where the keys are",
        "The report is done, isn't it?",
        "今天星期几",
        "能不能帮我查一下预算",
        "有没有人知道",
        "把文件打开",
    ],
)
def test_questions_are_questions_with_and_without_their_mark(request_: str) -> None:
    assert asks(request_)


@pytest.mark.parametrize(
    "request_",
    [
        "could you send it to Bob?",
        "Please close the door.",
        "I like tea.",
        "Would you book a table?",
        "能帮我发邮件吗？",
        "我喜欢茶。",
        "noted: all is well",
    ],
)
def test_politeness_and_statements_are_no_questions(request_: str) -> None:
    assert not asks(request_)


@pytest.mark.parametrize(
    ("request_", "kept"),
    [
        ("note for next week: finish it", "next week: finish it"),
        ("save the following as a note: spot 12", "spot 12"),
        ("Take a note of this: rent is due", "rent is due"),
        ("could you note that Bob called?", "Bob called"),
        ("note that he asked: why?", "he asked: why?"),
        ("add to my notes that the gym closes at 8", "the gym closes at 8"),
        ("帮我记一下：周五交房租", "周五交房租"),
        ("能帮我记个笔记吗？内容是买猫粮", "买猫粮"),
        ("请把“客户是老张”记到笔记", "客户是老张"),
        ("把这件事记下来：合同五月到期", "合同五月到期"),
        ("make a note", ""),
        ("帮我记一下", ""),
        ("schedule a meeting with Anna", "meeting with Anna"),
        ("The lift is broken.", "The lift is broken."),
    ],
)
def test_the_content_is_what_is_handed_over(request_: str, kept: str) -> None:
    assert content(request_) == kept


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("finish the report, focus on tests", "finish the report"),
        ("next week: finish the report", "finish the report"),
        ("the budget: at most 5000", "the budget"),
        ("下周：完成报告", "完成报告"),
        ("会议结论：用SQLite", "会议结论"),
        ("standup at 9:30 daily. Bring tea", "standup at 9:30 daily"),
        ("see https://example.org/a:b", "see https://example.org/a:b"),
        ("word " * 40, ("word " * 12).strip() + "…"),
        ("长" * 80, "长" * 60 + "…"),
    ],
)
def test_a_headline_is_the_first_clause_and_never_long(text: str, title: str) -> None:
    assert headline(text) == title


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        ("Hello!", "hello"),
        ("hi there", "hello"),
        ("您好。", "hello"),
        ("ok, thanks a lot!", "welcome"),
        ("好的，谢谢你", "welcome"),
        ("谢谢你好", "hello"),
        ("see you later", "bye"),
        ("再见", "bye"),
        ("ok", "heard"),
        ("知道了", "heard"),
        ("hello, what is new?", ""),
        ("thanks for the report", ""),
        ("", ""),
    ],
)
def test_a_request_that_is_only_polite_is_known_by_its_kind(request_: str, kind: str) -> None:
    assert courtesy(request_) == kind


@pytest.mark.parametrize(
    ("request_", "refused"),
    [
        ("don't delete it", True),
        ("do not ever remove n1", True),
        ("please don’t erase that", True),
        ("不要删除它", True),
        ("别把笔记删了", True),
        ("delete it", False),
        ("don't forget the milk", False),
        ("别忘了买牛奶", False),
        ("删掉不要的笔记", False),
    ],
)
def test_a_refusal_to_delete_is_heard(request_: str, refused: bool) -> None:
    assert refuses(request_) is refused


@pytest.mark.parametrize(
    ("request_", "about_user"),
    [
        ("where did I park?", True),
        ("our budget?", True),
        ("我的预算是多少？", True),
        ("帮我看看天气", False),
        ("how do I boil an egg?", False),
        ("where is Lyon?", False),
    ],
)
def test_a_question_about_the_user_is_told_from_one_about_the_world(
    request_: str, about_user: bool
) -> None:
    assert personal(request_) is about_user


def test_the_topic_keeps_the_users_own_words() -> None:
    ignore = frozenset({"=note", "=search"})

    assert topic("Did I note anything about the Performance Tests?", ignore) == "Performance Tests"
    assert topic("笔记里有提到Postgres吗", ignore) == "Postgres"
    assert topic("find my notes", ignore) == ""


def test_of_a_long_request_the_beginning_and_the_end_say_what_it_wants() -> None:
    long = "note this: " + "x" * 5_000 + " please"

    assert gist("short") == "short"
    assert gist(long).startswith("note this: xxx")
    assert gist(long).endswith("xxx please")
    assert len(gist(long)) < 1_010


def test_sentences_end_at_stops_of_both_languages_and_at_line_ends() -> None:
    assert sentences("One. Two! 3.5 is no end\n三。四！") == [
        "One.",
        "Two!",
        "3.5 is no end",
        "三。",
        "四！",
    ]
    assert (is_chinese("ok 好"), is_chinese("ok")) == (True, False)
