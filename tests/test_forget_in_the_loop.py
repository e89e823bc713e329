"""Said in a conversation, "forget …" forgets what was meant, and the answer tells what went."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentkit.clock import FixedClock
from agentkit.events import Event, Forgot, Recalled
from agentkit.memory.brought import DONE, Brought
from agentkit.memory.long import LongTermMemory
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.messages import Message, ToolCall, ToolResult, user
from agentkit.models.reader import ReaderModel
from agentkit.models.scripted import ScriptedModel
from agentkit.replay import replay_turn
from agentkit.session import Session
from agentkit.window import Count

ALLERGIC = "I am allergic to peanuts."
SHELLFISH = "I am no longer allergic to peanuts, but to shellfish."
HUASHENG, BEILEI = "我对花生过敏。", "我不再对花生过敏，而是对贝类过敏。"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "memory.db", clock=FixedClock()) as opened:
        yield opened


def session_of(store: LongTermMemory, model: Any = None) -> Session:
    memory = TenantMemory(store, tenant="ada")
    return Session(model=model or ReaderModel(), memory=memory, clock=FixedClock(), budget=8_000)


def ask(session: Session, text: str) -> str:
    return asyncio.run(session.ask(text))


def events(session: Session, kind: str) -> list[dict[str, Any]]:
    return [entry.data for entry in session.trace if entry.kind == kind]


@pytest.mark.parametrize(
    ("told", "forget", "left", "answer"),
    [
        (
            (ALLERGIC, SHELLFISH),
            "forget that I am allergic to peanuts",
            f"User said: {SHELLFISH}",
            "I have forgotten 1 memory. Not forgotten, as it says the opposite: "
            f"“{SHELLFISH}” (to forget it too, say: forget m2).",
        ),
        (
            (HUASHENG, BEILEI),
            "忘记我对花生过敏",
            f"用户说：{BEILEI}",
            "我忘掉了 1 条记忆。没有忘掉，因为它说的正相反："
            f"“{BEILEI}”（要忘掉它，请说：忘掉 m2）。",
        ),
    ],
)
def test_the_opposite_stays_and_the_answer_says_how_to_name_it(
    store: LongTermMemory, told: tuple[str, ...], forget: str, left: str, answer: str
) -> None:
    session = session_of(store)
    for text in told:
        ask(session, text)

    assert ask(session, forget) == answer

    assert [record.text for record in store.records(tenant="ada")] == [left]
    assert [event["record_ids"] for event in events(session, "Forgot")] == [["m1"]]
    (skipped,) = [e for e in events(session, "Skipped") if e["reason"].startswith("not forgotten")]
    assert skipped["text"] == left
    assert skipped["reason"].endswith("forget m2")

    ask(session, "忘掉 m2" if answer.startswith("我") else "Forget m2.")

    assert store.count(tenant="ada") == 0


@pytest.mark.parametrize(
    ("told", "forget"),
    [
        (ALLERGIC, "please forget my peanut allergy"),
        (ALLERGIC, "you can forget about my peanut allergy"),
        (ALLERGIC, "don't remember that I am allergic to peanuts"),
        ("My address is 5 Main Street.", "delete what you know about my address"),
        (HUASHENG, "忘掉我对花生过敏这件事"),
        (HUASHENG, "把我对花生过敏的事忘掉"),
        (HUASHENG, "别记我对花生过敏了"),
        (HUASHENG, "不要再记住我对花生过敏"),
    ],
)
def test_each_way_to_say_it_forgets_and_stores_nothing(
    store: LongTermMemory, told: str, forget: str
) -> None:
    session = session_of(store)
    ask(session, told)
    held = store.count(tenant="ada")

    answer = ask(session, forget)

    assert (held, store.count(tenant="ada")) == (1, 0)
    assert answer in ("I have forgotten 1 memory.", "我忘掉了 1 条记忆。")


@pytest.mark.parametrize(
    ("forget", "answer"),
    [
        ("forget my wifi name", "I have forgotten nothing: no memory says that."),
        ("忘掉我的房间", "我什么也没有忘掉：没有一条记忆是这样说的。"),
    ],
)
def test_where_nothing_is_meant_the_answer_says_so(
    store: LongTermMemory, forget: str, answer: str
) -> None:
    store.add("Order A-1001 is late.", tenant="ada")

    assert ask(session_of(store), forget) == answer

    assert store.count(tenant="ada") == 1


@pytest.mark.parametrize(
    ("told", "forget"),
    [
        ("我對花生過敏。", "忘掉我对花生过敏。"),
        ("我对花生过敏。", "請忘掉我對花生過敏。"),
        ("我的地址是南京東路五號。", "忘掉我的地址"),
    ],
)
def test_both_ways_to_write_chinese_are_one_when_something_is_forgotten(
    store: LongTermMemory, told: str, forget: str
) -> None:
    session = session_of(store)
    ask(session, told)

    assert ask(session, forget) == "我忘掉了 1 条记忆。"

    assert store.count(tenant="ada") == 0
    assert [message.text for message in session.messages][::2] == [HUSK, HUSK]


def test_what_is_left_is_shown_in_its_own_characters(store: LongTermMemory) -> None:
    session = session_of(store)
    ask(session, "我喜歡茶。")

    assert "“我喜歡茶。”" in ask(session, "忘掉我喜欢咖啡")


@pytest.mark.parametrize(
    ("told", "unclear", "answer"),
    [
        ("My address is 5 Main Street.", "My address: forget it.", "I have forgotten nothing: I c"),
        ("我的地址是南京路五号。", "我的地址：忘掉它。", "我什么也没有忘掉：我没看懂"),
    ],
)
def test_a_request_that_is_not_understood_is_said_to_be_and_not_stored(
    store: LongTermMemory, told: str, unclear: str, answer: str
) -> None:
    session = session_of(store)
    ask(session, told)

    assert ask(session, unclear).startswith(answer)

    assert store.count(tenant="ada") == 1


@pytest.mark.parametrize(
    "forget",
    ["forget everything you know about me", "Forget everything.", "wipe your memory",
     "delete all my data", "忘掉一切", "清除你的记忆", "忘掉所有关于我的事"],
)  # fmt: skip
def test_all_at_once_is_not_forgotten_by_a_sentence(store: LongTermMemory, forget: str) -> None:
    """By design: it cannot be undone, and rules may misread a sentence."""
    store.add(ALLERGIC, tenant="ada")

    answer = ask(session_of(store), forget)

    assert "forget_tenant" in answer
    assert "memory.db" in answer  # a person can delete the file

    assert store.count(tenant="ada") == 1


def test_any_model_reads_what_was_forgotten_and_no_longer_the_memory(
    store: LongTermMemory,
) -> None:
    """By design: it is gone before the model answers, and stays in its window as a fact."""
    store.add(ALLERGIC, tenant="ada")
    session = session_of(store, ScriptedModel(["Done, I have forgotten it."]))

    ask(session, "Forget that I am allergic to peanuts.")

    assert session.packed is not None
    window = session.packed.messages()[0].text
    assert f"## {DONE}\nI have forgotten 1 memory." in window
    assert ALLERGIC not in window
    kinds = [entry.kind for entry in session.trace]
    assert kinds.index("Forgot") < kinds.index("Packed")


def test_a_store_that_is_down_forgets_nothing_and_says_so(store: LongTermMemory) -> None:
    session = session_of(store)
    store.close()

    assert ask(session, "forget my address").startswith("I have forgotten nothing: ")


def test_a_turn_that_was_to_forget_and_found_nothing_replays(store: LongTermMemory) -> None:
    session = session_of(store)
    answer = ask(session, "forget my address")

    replayed = asyncio.run(replay_turn(session.trace, session.turns[-1].id))

    assert replayed.answer == answer


class ForgetsAlone:
    """Somebody's own memory, which forgets and does not say what."""

    def wide(self, text: str, *, budget: int, count: Count) -> Brought:
        did = (Forgot(("m1",), "asked"),) if text.startswith("Forget") else ()
        return Brought("", Recalled("wide", text, ()), did=did)

    def narrow(
        self, call: ToolCall, result: ToolResult, *, budget: int, count: Count
    ) -> Brought:  # fmt: skip
        return Brought("", Recalled("narrow", call.name, ()))

    def write(self, messages: Sequence[Message], *, system: str) -> list[Event]:
        return []


class ForgetsByHalf(ForgetsAlone):
    """Says what it forgot, and not what stays nor who asked."""

    forgotten = (ALLERGIC,)


@pytest.mark.parametrize(
    ("memory", "lacks"),
    [(ForgetsAlone(), "forgotten, kept, orders"), (ForgetsByHalf(), "kept, orders")],
)
def test_a_memory_that_cannot_erase_is_named_by_an_event(memory: ForgetsAlone, lacks: str) -> None:
    session = Session(model=ScriptedModel(["ok", "ok"]), memory=memory, clock=FixedClock())
    ask(session, ALLERGIC)
    ask(session, "Forget my allergy.")

    *_, last = events(session, "Skipped")
    assert last["text"] == type(memory).__name__
    assert last["reason"] == f"not erased from the conversation: the memory has no {lacks}"


def test_a_memory_that_forgot_nothing_has_nothing_to_erase() -> None:
    session = Session(model=ScriptedModel(["ok"]), memory=ForgetsAlone(), clock=FixedClock())
    ask(session, ALLERGIC)

    assert events(session, "Skipped") == []


def test_what_no_turn_began_with_is_forgotten_when_it_is_written(store: LongTermMemory) -> None:
    store.add(ALLERGIC, tenant="ada")
    memory = TenantMemory(store, tenant="ada")

    done = memory.write([user("Forget my peanut allergy.")], system="")

    assert [type(event).__name__ for event in done] == ["Forgot"]
    assert memory.forgotten == (ALLERGIC,)


HUSK = "[forgotten]"


@pytest.mark.parametrize(
    ("told", "forget", "secret"),
    [
        ("I have diabetes.", "please forget that I have diabetes", "diabetes"),
        ("I have diabetes.", "Could you forget I had diabetes?", "diabetes"),
        (ALLERGIC, "forget my peanut allergy", "peanut"),
        (ALLERGIC, "please forget my peanut allergy, thanks", "peanut"),
        (ALLERGIC, "delete what you know about my peanut allergy", "peanut"),
        (HUASHENG, "忘掉我对花生过敏", "花生"),
        (HUASHENG, "请把我对花生过敏的事忘掉", "花生"),
    ],
)
def test_the_order_to_forget_goes_with_what_it_names(
    store: LongTermMemory, told: str, forget: str, secret: str
) -> None:
    memory = TenantMemory(store, tenant="ada")
    session = Session(
        model=ReaderModel(), memory=memory, clock=FixedClock(), budget=500, compress=True
    )
    ask(session, told)
    answer = ask(session, forget)
    for turn in range(20):
        ask(session, f"Room {turn} is blue." if forget.isascii() else f"房间 {turn} 是蓝色的。")

    assert answer in ("I have forgotten 1 memory.", "我忘掉了 1 条记忆。")
    assert secret not in " ".join(message.text for message in session.messages)
    assert secret not in session.handover.text
    assert session.packed is not None
    assert secret not in repr(session.packed.kept)
    assert all(secret not in str(entry.data) for entry in session.trace)


@pytest.mark.parametrize(
    ("told", "forget"),
    [(ALLERGIC, "forget my peanut allergy"), (HUASHENG, "忘掉我对花生过敏")],
)
def test_a_hand_over_has_no_line_of_which_nothing_is_left(
    store: LongTermMemory, told: str, forget: str
) -> None:
    session = session_of(store)
    ask(session, told)
    ask(session, forget)

    assert [message.text for message in session.messages][::2] == [HUSK, HUSK]
    assert HUSK not in session.handover.text

    tea = "I like tea." if forget.isascii() else "我喜欢茶。"
    ask(session, tea)

    assert f"- {tea}" in session.handover.text


@pytest.mark.parametrize(
    ("told", "forget", "secret", "answer"),
    [
        (
            "The export takes 14 seconds.",
            "forget that the export takes 14 seconds",
            "14",
            "No memory said that; it is erased from this conversation.",
        ),
        (
            "My password is hunter2xyz.",
            "Forget that my password is hunter2xyz.",
            "hunter2xyz",
            "No memory said that; it is erased from this conversation.",
        ),
        (
            "My password is hunter2xyz.",
            "forget my password",
            "hunter2xyz",
            "No memory said that; it is erased from this conversation.",
        ),
        (
            "导出要十四秒。",
            "忘掉导出要十四秒",
            "十四",
            "没有一条记忆这样说过；它已从这次对话里抹去。",
        ),
        (
            "我的密码是hunter2xyz。",
            "忘掉我的密码",
            "hunter2xyz",
            "没有一条记忆这样说过；它已从这次对话里抹去。",
        ),
    ],
)
def test_what_only_the_conversation_said_is_erased_from_it(
    store: LongTermMemory, told: str, forget: str, secret: str, answer: str
) -> None:
    session = session_of(store)
    ask(session, told)
    ask(session, "The import takes 9 seconds.")

    assert ask(session, forget) == answer

    said = [message.text for message in session.messages]
    assert said[0] == HUSK
    assert said[2] == "The import takes 9 seconds."
    assert all(secret not in text for text in said)
    assert all(secret not in str(entry.data) for entry in session.trace)
    assert store.count(tenant="ada") == 0


def test_only_what_says_just_that_is_erased_from_the_conversation(store: LongTermMemory) -> None:
    session = session_of(store)
    ask(session, "The export does not take 14 seconds.")

    answer = ask(session, "forget that the export takes 14 seconds")

    assert answer == "I have forgotten nothing: no memory says that."
    assert session.messages[0].text == "The export does not take 14 seconds."


def test_a_file_that_others_share_is_not_named(store: LongTermMemory) -> None:
    store.add("I like tea.", tenant="bob")
    store.add(ALLERGIC, tenant="ada")

    answer = ask(session_of(store), "forget everything")

    assert "forget_tenant" in answer
    assert "memory.db" not in answer


@pytest.mark.parametrize(
    ("told", "forget", "named"),
    [
        ("I live in Lund.", "forget my address", "forget m1"),
        ("I work at a bank.", "forget my job", "forget m1"),
        ("我住在隆德。", "把我的住址忘掉", "忘掉 m1"),
        ("我住在隆德。", "把我的地址忘掉", "忘掉 m1"),
        ("我在银行工作。", "忘掉我的职业", "忘掉 m1"),
    ],
)
def test_a_memory_that_tells_it_in_other_words_is_named(
    store: LongTermMemory, told: str, forget: str, named: str
) -> None:
    session = session_of(store)
    ask(session, told)

    assert named in ask(session, forget)

    assert store.count(tenant="ada") == 1


@pytest.mark.parametrize(
    ("told", "forget"),
    [("My sister lives in Lund.", "forget my address"), ("我妹妹住在隆德。", "把我的地址忘掉")],
)
def test_what_is_anothers_is_not_named_for_mine(
    store: LongTermMemory, told: str, forget: str
) -> None:
    store.add(told, tenant="ada")

    answer = ask(session_of(store), forget)

    assert "m1" not in answer
    assert store.count(tenant="ada") == 1


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("The room is blue. Forget that.", "The import takes 9 seconds."),
        ("房间是蓝色的。请忘掉它。", "The import takes 9 seconds."),
    ],
)
def test_that_is_what_was_said_just_before(store: LongTermMemory, said: str, left: str) -> None:
    session = session_of(store)
    ask(session, "The import takes 9 seconds.")

    ask(session, said)

    texts = [message.text for message in session.messages]
    assert texts[0] == left
    assert texts[2].replace(" ", "") == HUSK * 2
