"""Questions about what may and must not be done find the rule, in either language."""

from __future__ import annotations

import asyncio

import pytest

from agentkit.clock import FixedClock
from agentkit.messages import Message, ToolCall, assistant, user
from agentkit.models.intent import asks, tells
from agentkit.models.norms import about_rules, asked_about, binds
from agentkit.models.reader import ReaderModel, look
from agentkit.session import Session
from agentkit.tools import ToolSpec
from agentkit.window import Section, pack
from tests.models.test_reader import NOTES

RULE, REGEL = "Do not change the public API.", "不要改公共 API。"


def said(*messages: Message | str, tools: tuple[ToolSpec, ...] = ()) -> str:
    window = tuple(user(m) if isinstance(m, str) else m for m in messages)
    packed = pack([Section("all", messages=window)], budget=10**6, count=len)
    answer = asyncio.run(ReaderModel().complete(packed, list(tools)))
    return answer.text or answer.tool_calls[0].name


@pytest.mark.parametrize(
    "text",
    [RULE, "Please do not change it.", "Do use tabs.", "Do keep it short.", "Have a look at it.",
     "When you deploy, tag the release.", "What I want is a short answer.", "What a nice day!",
     "Any change to the API must wait.", REGEL, "什么都不要改。", "谁都不能改公共 API。",
     "无论怎么改，都不要动接口。"],
)  # fmt: skip
def test_an_order_or_a_statement_is_no_question(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "text",
    ["Do you know the room?", "do we have a note on milk", "Do cats purr?", "do the tests pass",
     "When is the meeting", "when does the train leave, and from where", "what do I need",
     "Have the reports arrived", "any notes about milk", "May I change the public API?",
     "公共 API 能改吗？", "我不能改什么？", "什么都没有吗？", "谁来？"],
)  # fmt: skip
def test_a_question_is_one(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", [RULE, "Never send the report.", REGEL, "禁止发送报告。"])
def test_what_is_forbidden_is_read_and_no_tool_is_called(text: str) -> None:
    assert tells(text)
    assert said(text, tools=tuple(NOTES)) in ("I have read that.", "我读到了。")


EN = [
    "what must I not change?",
    "May I change the public API?",
    "am I allowed to modify the API?",
    "What can I not touch?",
    "Which API must not change?",
    "is changing the API ok?",
    "what is not allowed?",
]
ZH = [
    "我不能改什么？",
    "公共 API 能改吗？",
    "可以修改公共 API 吗？",
    "什么不许改？",
    "哪个 API 不能改？",
]


@pytest.mark.parametrize(
    ("told", "rule", "question"),
    [
        *((("The change is due Friday.", RULE, "It starts on May 7."), RULE, q) for q in EN),
        *((("周五要改首页。", REGEL, "截止日期是五月七日。"), REGEL, q) for q in ZH),
    ],
)
def test_a_new_session_knows_the_rules_of_its_hand_over(
    told: tuple[str, ...], rule: str, question: str
) -> None:
    session = Session(model=ReaderModel(), clock=FixedClock(), budget=8_000)
    for text in told:
        asyncio.run(session.ask(text))

    answer = asyncio.run(session.new_session().ask(question))

    assert answer.endswith(f"“{rule}”")


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (RULE, "May I change the logo of the website?"),
        (RULE, "What must Ana buy?"),
        ("I changed the tyres.", "Who is allowed in the lab?"),
        (REGEL, "可以带狗进办公室吗？"),
        ("性能测试通过了。", "我能去隆德吗？"),
    ],
)
def test_a_rule_about_something_else_is_no_answer(told: str, question: str) -> None:
    assert said(told, assistant("ok"), question) in (
        "I do not find that in what I was given to read.",
        "在我读到的内容里没有找到这一点。",
    )


@pytest.mark.parametrize(
    ("question", "words"),
    [("what must I not change?", ["=update"]), ("May I see Lund in May?", ["lund", "may"]),
     ("什么时候截止？", ["=deadline"]), ("性能怎么样？", ["=performance"]), ("must I?", [])],
)  # fmt: skip
def test_what_makes_it_a_question_is_looked_for_nowhere(question: str, words: list[str]) -> None:
    assert asked_about(question) == words


def test_the_month_is_no_permission() -> None:
    assert not binds("The deadline is May 7.")
    assert not about_rules("Is it due in May?")


def test_a_time_is_found_in_chinese() -> None:
    assert said("截止日期是五月七日。", assistant("好"), "什么时候截止？").endswith(
        "“截止日期是五月七日。”"
    )


SEARCHED = ToolCall("c1", "notes.search_notes", {"query": "which API must not change"})


@pytest.mark.parametrize(
    "result",
    ['{"query": "which API must not change", "hits": [], "total": 0}',
     '{"query": "which API must not change", "hits": [{"title": "milk"}], "total": 1}',
     "Nothing was found. Empty is the answer: “which API must not change” is in no note."],
)  # fmt: skip
def test_what_a_tool_was_asked_with_is_no_evidence(result: str) -> None:
    """Found by a user: the query of an empty search was quoted as what a tool had brought."""
    window = [
        user("Is there a rule?"),
        assistant("", SEARCHED),
        Message("tool", result, call_id="c1"),
        assistant("I looked, and found nothing."),
    ]

    assert said(*window, "Which API must not change?") == (
        "I do not find that in what I was given to read."
    )


def test_what_a_tool_found_is_evidence_though_it_repeats_the_call() -> None:
    result = '{"title": "API", "text": "The public API must not change."}'
    call = ToolCall("c1", "notes.read_note", {"title": "API"})
    view = look([user("?"), assistant("", call), Message("tool", result, call_id="c1"),
                 user("Which API must not change?")])  # fmt: skip

    assert ("tool", "The public API must not change.") in view.passages
    assert ("tool", "API") not in view.passages


def test_that_nothing_was_found_is_never_quoted() -> None:
    window = ["Where is Kyoto?", assistant("I do not find that in what I was given to read.")]

    assert said(*window, "What did you find in what you were given to read?") == (
        "I do not find that in what I was given to read."
    )
