"""What was forgotten is unsaid in texts, and everything else stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentkit import events
from agentkit.clock import FixedClock
from agentkit.memory.erase import Erasure
from agentkit.memory.short import ShortTermMemory
from agentkit.messages import Message, ToolCall, assistant, user
from agentkit.text import FORGOTTEN
from agentkit.trace import Trace

DENTIST = "User said: My dentist is Dr Lee."
YASHI = "用户说：我的牙医是李医生。"


@pytest.mark.parametrize(
    ("forgotten", "said", "left"),
    [
        (DENTIST, "I am Ada. My dentist is Dr. Lee! Thanks.", f"I am Ada. {FORGOTTEN} Thanks."),
        (DENTIST, "Dr Lee.", FORGOTTEN),
        (DENTIST, "  - Your dentist is called Lee.\n", f"  {FORGOTTEN}\n"),
        (DENTIST, "Lee writes tests. The dentist is closed.", None),
        (DENTIST, "I have a doctor.", None),
        (YASHI, "你好。我的牙医是李医生，在隆德。谢谢！", f"你好。{FORGOTTEN}谢谢！"),
        (YASHI, "李医生。", FORGOTTEN),
        (YASHI, "我的订单到了。", None),
        ("I prefer tea.", "I prefer short answers.", None),
        ("Order A-1001 ships on Monday.", "Order B-2000 ships on Monday.", None),
        ("Order A-1001 ships on Monday.", "On Monday, A-1001 ships.", FORGOTTEN),
        ("", "Nothing was forgotten.", None),
    ],
)
def test_a_sentence_goes_when_it_says_what_was_forgotten(
    forgotten: str, said: str, left: str | None
) -> None:
    """By design: most of the words, or nothing but its words; a number is never another."""
    assert Erasure([forgotten]).text(said) == (said if left is None else left)


LOCKER = "User said: My locker at the gym is number 4711 since 2024."
GUIZI = "用户说：我从2024年起在健身房的柜子号码是4711。"
RENT = "User said: My rent in Graz is 1250 euros."
FANGZU = "用户说：我在格拉茨的房租是1250欧元。"


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        (LOCKER, "Your locker at the gym is number 4711."),
        (LOCKER, "4711."),
        (GUIZI, "你健身房的柜子号码是4711。"),
        (GUIZI, "4711。"),
        (RENT, "Your rent in Graz is 1,250 euros."),
        (RENT, "Your rent in Graz is 1250.00 euros."),
        (RENT, "Your rent in Graz is １２５０ euros."),
        (RENT, "Your rent in Graz is 1250 euros for 40 square metres."),
        (RENT, "1,250.00 euros."),
        (FANGZU, "您在格拉茨的房租是1,250欧元。"),
        (FANGZU, "您在格拉茨的房租是１２５０．００欧元。"),
        (FANGZU, "1250.00欧元。"),
    ],
)
def test_a_number_may_be_missing_or_written_otherwise(forgotten: str, said: str) -> None:
    """Found by a user: with two numbers, or another form of one, nothing was erased."""
    assert Erasure([forgotten]).text(said) == FORGOTTEN


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        (LOCKER, "My locker at the gym is number 17."),
        (GUIZI, "我健身房的柜子号码是17。"),
        (RENT, "Your rent in Graz is 1,300 euros."),
        (FANGZU, "我在格拉茨的房租是1300欧元。"),
        ("I have 1 cat.", "1. Buy milk"),
        ("The code is 1.25.", "The code is 125."),
    ],
)
def test_what_has_only_other_numbers_stays(forgotten: str, said: str) -> None:
    assert Erasure([forgotten]).text(said) == said


BIKE = "User said: My sister Anna's birthday present is a blue Peugeot bicycle from Lyon."
MING = "用户说：我的牙医是格拉茨的王小明医生。"


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        ("User said: My dentist in Graz is Dr Strangelove.", "Strangelove!"),
        ("User said: My dentist in Graz is Dr Strangelove.", "STRANGELOVE, dentist."),
        (BIKE, "A Peugeot bicycle."),
        (BIKE, "Peugeot."),
        (MING, "王小明。"),
        (MING, "王小明医生"),
        (MING, "您的牙医叫王小明，在格拉茨。"),
    ],
)
def test_a_bare_answer_goes_however_long_the_memory_was(forgotten: str, said: str) -> None:
    assert Erasure([forgotten]).text(said) == FORGOTTEN


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        ("User said: I run.", "Please run the tests."),
        ("User said: I run.", "The build must run on Linux."),
        ("User said: I run.", "I am running late."),
        ("The build must run on Linux and the tests on Windows.", "Run the tests."),
        ("User said: I like tea.", "I like coffee too."),
        ("User said: I like tea.", "We run the tests with tea.py in CI."),
        (
            "User said: I like tea.",
            "For the guests I would like you to order paper and coffee and tea and ink.",
        ),
        (MING, "我的牙很疼。"),
        (MING, "好。"),
        (MING, "帮我查医生。"),
        ("用户说：我跑步。", "请跑一下测试，然后告诉我结果。"),
        ("用户说：我喜欢茶。", "我喜欢我在西门子的工作。"),
        ("用户说：我喜欢茶。", "我也喜欢咖啡。"),
    ],
)
def test_a_word_or_two_in_common_are_not_enough(forgotten: str, said: str) -> None:
    """Found by a user: "forget that I run" took "The build must run on Linux" with it."""
    assert Erasure([forgotten]).text(said) == said


@pytest.mark.parametrize(
    ("forgotten", "said", "left"),
    [
        ("User said: I like tea.", f"What you like, {'paper and ink, ' * 30}tea for guests", None),
        (
            MING,
            "{" + "".join(f'"订单{n}": "牙医来自格拉茨{n}", ' for n in range(30)) + "}",
            None,
        ),
        (
            MING,
            f"[{'“名单”，' * 80}“牙医：格拉茨的王小明医生”，{'“库存”，' * 20}]",
            f"[{'“名单”，' * 80}{FORGOTTEN}{'“库存”，' * 20}]",
        ),
        (
            "User said: My dentist in Graz is Dr Strangelove.",
            '[{"id": 1, "what": "pump"}, ' * 20 + '{"who": "dentist", "is": "Dr Strangelove", '
            '"in": "Graz"}, ' + '{"id": 2, "what": "belt"}, ' * 20,
            '[{"id": 1, "what": "pump"}, ' * 20 + f" {{{FORGOTTEN}"
            '"in": "Graz"}, ' + '{"id": 2, "what": "belt"}, ' * 20,
        ),
    ],
)
def test_of_a_long_line_only_the_part_that_says_it_goes(
    forgotten: str, said: str, left: str | None
) -> None:
    """By design: a line of a tool's result may hold the words far from each other."""
    want = said if left is None else left

    assert Erasure([forgotten]).text(said).replace(" ", "") == want.replace(" ", "")


@pytest.mark.parametrize(
    ("forgotten", "kept", "said", "left"),
    [
        (
            "I like tea and cake.",
            "User said: I like tea and bread.",
            "I like tea and cake. I like tea and bread.",
            f"{FORGOTTEN} I like tea and bread.",
        ),
        (
            "我喜欢喝红茶。",
            "用户说：我喜欢喝绿茶。",
            "我喜欢喝红茶。我喜欢喝绿茶。",
            f"{FORGOTTEN}我喜欢喝绿茶。",
        ),
    ],
)
def test_what_a_record_still_says_stays(forgotten: str, kept: str, said: str, left: str) -> None:
    assert Erasure([forgotten], kept=[kept]).text(said) == left
    assert Erasure([forgotten]).text(said).replace(" ", "") == FORGOTTEN * 2


PEANUTS, HUASHENG = "User said: I am allergic to peanuts.", "用户说：我对花生过敏。"


@pytest.mark.parametrize(
    ("forgotten", "said", "left"),
    [
        (
            PEANUTS,
            "Because you told me earlier this week that you are allergic to peanuts, I left the "
            "satay and the curry out of the menu for Friday and asked for sunflower oil.",
            f"{FORGOTTEN}, I left the "
            "satay and the curry out of the menu for Friday and asked for sunflower oil.",
        ),
        (
            PEANUTS,
            '{"name": "Ada", "note": "The user is allergic to peanuts", "job": "engineer"}',
            f'{{"name": "Ada", {FORGOTTEN}, "job": "engineer"}}',
        ),
        (
            PEANUTS,
            '["Ada","allergic to peanuts","Graz","likes tea","works at Siemens"]',
            f'["Ada",{FORGOTTEN},"Graz","likes tea","works at Siemens"]',
        ),
        (
            HUASHENG,
            "因为您上周告诉过我您对花生过敏，所以我把沙爹和咖喱都从周五的菜单里去掉了。",
            f"{FORGOTTEN}，所以我把沙爹和咖喱都从周五的菜单里去掉了。",
        ),
        (
            HUASHENG,
            json.dumps({"name": "李明", "note": "用户对花生过敏", "city": "上海"}),
            f'{{"name": "{chr(92)}u674e{chr(92)}u660e", {FORGOTTEN}, '
            f'"city": "{chr(92)}u4e0a{chr(92)}u6d77"}}',
        ),
        ("我對花生過敏。", "您对花生过敏。", FORGOTTEN),
        ("User said: My wife is Ada.", "Ada is your wife.", FORGOTTEN),
    ],
)
def test_a_short_fact_goes_from_the_part_that_states_it(
    forgotten: str, said: str, left: str
) -> None:
    """Found by a user: a fact of two words stayed in answers and in JSON."""
    assert Erasure([forgotten]).text(said) == left


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        (
            "User said: I like tea.",
            "I would like to order some tea for the meeting on Friday.",
        ),
        ("User said: I like tea.", "Does the client like green tea or black tea?"),
        ("User said: I work at Siemens.", "The Siemens turbine will work at full load."),
        ("User said: My wife is Ada.", "Ada's wife called about the invoice."),
        (PEANUTS, "My sister is allergic to peanuts."),
        (PEANUTS, "She is allergic to peanuts, so we cook without them."),
        ("用户说：我住在上海。", "他住在海上。"),
        ("用户说：我住在上海。", "他住在上海。"),
    ],
)
def test_the_words_of_a_short_fact_stay_where_they_say_something_else(
    forgotten: str, said: str
) -> None:
    """By design: words far from each other, in another order, or said of somebody else."""
    assert Erasure([forgotten]).text(said) == said


def test_a_source_of_several_sentences_is_unsaid_sentence_by_sentence() -> None:
    source = "My dentist is Dr Lee. Thanks. His practice is in Lund, near the station."

    erased = Erasure([source]).text("Thanks. The practice in Lund is near the station.")

    assert erased == f"Thanks. {FORGOTTEN}"


def test_calls_and_events_lose_their_texts_and_keep_names_and_numbers() -> None:
    said = Message(
        "assistant", "", (ToolCall("c1", "notes.write", {"title": "x", "text": ["Dr Lee."]}),)
    )
    data = {
        "text": "My dentist is Dr Lee.",
        "new": {"recalled": "- My dentist is Dr Lee."},
        "hits": ({"id": "m1", "text": DENTIST, "score": 0.5},),
        "tool_calls": ({"id": "c1", "name": "lee", "arguments": {"who": "Dr Lee"}},),
        "kept": (("dr lee", 3),),
        "tokens": 7,
    }

    erasure = Erasure([DENTIST])

    assert erasure.message(said).tool_calls[0].arguments == {"title": "x", "text": [FORGOTTEN]}
    assert erasure.event(data) == {
        "text": FORGOTTEN,
        "new": {"recalled": f"- {FORGOTTEN}"},
        "hits": [{"id": "m1", "text": f"User said: {FORGOTTEN}", "score": 0.5}],
        "tool_calls": [{"id": "c1", "name": "lee", "arguments": {"who": FORGOTTEN}}],
        "kept": (("dr lee", 3),),
        "tokens": 7,
    }


@pytest.mark.parametrize("told", ["My dentist must be Dr Lee.", "牙医必须是李医生。"])
def test_short_term_memory_does_not_bring_it_back(told: str) -> None:
    """Of the rounds, the archive, what is pinned and the summary of what left."""
    short = ShortTermMemory(count=len, least=1, most=2)
    for said in (told, "What time is it?", told, "And now?"):
        short.add([user(said), assistant(f"ok: {said}")])
    before = short.as_json()

    short.erase(Erasure([told]))

    assert before.count(told.strip(".。")) >= 4
    assert short.find(told) == []
    for word in ("Lee", "李医生"):
        assert word not in short.as_json()
    assert [each.index for each in short.archive] == [0, 1]
    assert short.pinned == ()


def test_the_file_of_a_trace_is_rewritten_with_what_stood_in_it_before(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    for text in ("My dentist is Dr Lee.", "Line\u2028of two: Dr Lee."):
        trace = Trace(clock=FixedClock(), path=path)
        trace.append(events.UserSaid(text), turn="t1")
        trace.append(events.Answered("ok"), turn="t1")

    trace.rewrite(Erasure([DENTIST, "Line of two: Dr Lee."]).event)

    texts = [entry.data["text"] for entry in Trace.load(path)]
    assert texts == [FORGOTTEN, "ok", FORGOTTEN, "ok"]
    assert [entry.data["text"] for entry in trace] == [FORGOTTEN, "ok"]
    assert b"Lee" not in path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["trace.jsonl"]
