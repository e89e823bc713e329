"""What a conversation is for, in English and Chinese; expectations by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agentkit.goal import GOAL_CHARS, goal
from agentkit.messages import Message, assistant, user
from agentkit.summary import summarise
from agentkit.tokens import Counter
from agentkit.value import load_rules

COUNT = Counter.for_model("reader")
RULES = load_rules()
TASKS = [
    "Help me plan the summer fair.",
    "Can you help us with the tax return?",
    "Find out why the monthly report takes 40 s. Do not change the public API.",
    "I want to move to Lund in May.",
    "We need to prepare the audit by Friday.",
    "Please compare the three offers and choose one.",
    "Our goal is a release without open bugs.",
    "I'm working on the annual report.",
    "Let's fix the login page.",
    "Plan this trip for two people.",
    "帮我规划一下夏天的集市。",
    "我想在五月搬到隆德。",
    "请规划这次旅行。",
    "我们需要在周五前准备好审计材料。",
    "请比较这三份报价，选一份。",
    "我们的目标是没有遗留问题地发布。",
    "請幫我排查報表為什麼這麼慢。",
    "查明月报为什么要跑四十秒。不要改公开接口。",
]
SMALL = [
    "note: buy chalk",
    "Note: buy chalk",
    "Write a note that the chalk is out.",
    "Can you add a note about the key?",
    "Remember that I am allergic to nuts.",
    "Help me remember the code.",
    "List my notes.",
    "Show me the last note.",
    "Delete the note about chalk.",
    "Search my notes for chalk.",
    "Thanks!",
    "记一下：买粉笔",
    "帮我记一下，粉笔用完了。",
    "写个便签：买粉笔。",
    "請記住我對花生過敏。",
    "列出我的笔记。",
    "把粉笔那条笔记删掉。",
    "谢谢！",
]
NOT_A_TASK = [
    "I want you to answer in French.",
    "I prefer short answers.",
    "I am a paying customer.",
    "What is the weather in Lund?",
    "Then write that into the report.",
    "Please fix it.",
    "Can you compare them again?",
    "那就分析一下它。",
    "请修改这个。",
    "帮我把它写进报告。",
    "I want to say thank you.",
    "请用中文回答。",
    "我想让你用中文回答。",
    "我是付费客户。",
    "隆德天气怎么样？",
]


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_the_goal_whatever_small_requests_stand_around_it(task: str) -> None:
    assert goal([SMALL[0], task, *SMALL, *NOT_A_TASK], rules=RULES) == task


@pytest.mark.parametrize("text", SMALL)
def test_a_small_request_is_no_goal(text: str) -> None:
    assert goal([text], rules=RULES) == ""
    assert goal([text], rules=RULES, earlier="Plan the fair.") == "Plan the fair."


@pytest.mark.parametrize("text", NOT_A_TASK)
def test_what_is_no_task_replaces_none(text: str) -> None:
    assert goal([TASKS[0], text], rules=RULES) == TASKS[0]
    assert goal([text], rules=RULES, earlier=TASKS[0]) == TASKS[0]


def test_the_last_task_counts_and_a_question_where_there_is_none() -> None:
    assert goal([TASKS[0], TASKS[3]], rules=RULES, earlier=TASKS[1]) == TASKS[3]
    assert goal(["Hello!", SMALL[0], "Why is the sky blue?", "And red?"], rules=RULES) == (
        "Why is the sky blue?"
    )
    assert goal(["你好", "天空为什么是蓝的？"], rules=RULES) == "天空为什么是蓝的？"
    assert goal([], rules=RULES) == ""
    assert goal(["I am a paying customer.", "Why is that?"], rules=RULES) == ""
    assert goal(["The depot opens at six.", "仓库六点开门。"], rules=RULES) == ""
    assert goal(["仓库六点开门。"], rules=RULES) == ""
    assert goal(["Why is that?"], rules=RULES, earlier="") == ""


def test_a_goal_begins_with_the_task_and_is_cut_between_sentences() -> None:
    said = f"I am new here. {TASKS[0]} {'It must be cheap. ' * 30}"
    found = goal([said], rules=RULES)

    assert found.startswith(f"{TASKS[0]} It must be cheap.")
    assert found.endswith("cheap.")
    assert len(found) <= GOAL_CHARS


def talk(said: Sequence[str], answer: str) -> list[Message]:
    return [m for text in said for m in (user(text), assistant(answer))]


def test_a_summary_keeps_the_goal_when_its_rounds_have_left() -> None:
    first = summarise(talk(TASKS[:1], "I will."), count=COUNT)
    then = summarise(
        talk(["note: buy chalk", "List my notes."], "Done."), count=COUNT, earlier=first
    )

    assert then.goal == first.goal == TASKS[0]
    assert "Goal: note" not in summarise(talk(["note: buy chalk"], "Done."), count=COUNT).text


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        ("You told me: “我对海鲜过敏。”", "You told me: “我对海鲜过敏。”"),
        (
            "You told me: “我对海鲜过敏，也不吃花生，不喝牛奶，不吃香菜，不吃葱，不吃蒜，"
            "不吃姜，也不吃辣椒，不吃洋葱。”",
            "",
        ),
        ("One on the order date; one on the day of the delivery, which is in the same table.", ""),
    ],
)
def test_a_step_quotes_to_the_end_or_says_that_it_is_cut(answer: str, step: str) -> None:
    [said] = summarise(talk([TASKS[0]], answer), count=COUNT).progress

    found = said.partition(" → ")[2]
    assert found == step or not step
    assert found.count("“") == found.count("”")
    assert found.endswith((answer[-1], "…", "…”"))


def test_a_long_run_of_courtesies_is_read_in_one_pass() -> None:
    """Were each way to read it tried, this would never end."""
    said = [TASKS[0], f"{'你好' * 500}，请请请", f"{'so now please ' * 500}"]

    assert goal(said, rules=RULES) == TASKS[0]
