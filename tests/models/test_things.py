"""A title given in words is looked up as it was said, and only the right note is deleted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentkit.clock import FixedClock
from agentkit.messages import ToolCall, ToolResult
from agentkit.models.reader import ReaderModel
from agentkit.models.things import named_thing, the_one_near
from agentkit.session import Session
from agentkit.tools import ToolSpec
from servers._note_store import NoteStore, StoreError
from tests.models.test_reader import NOTES, called


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("delete the note buy milk on Friday", "buy milk on Friday"),
        ("Please delete my note called buy milk on Friday.", "buy milk on Friday"),
        ("delete buy milk on Friday from my notes", "buy milk on Friday"),
        ("could you remove the milk note, please?", "milk"),
        ("delete the note titled To do: buy milk", "To do: buy milk"),
        ("Get rid of the note for the trip to Lund.", "the trip to Lund"),
        ("read me the note about what to do in Lund", "what to do in Lund"),
        ("删除笔记周五要去买牛奶", "周五要去买牛奶"),
        ("把笔记周五要去买牛奶删掉", "周五要去买牛奶"),
        ("请把关于周五要去买牛奶的笔记删掉吧。", "周五要去买牛奶"),
        ("删除标题为周五要去买牛奶的笔记", "周五要去买牛奶"),
        ("打开我们的计划这条笔记", "我们的计划"),
        ("delete the note", None),
        ("delete the note that I wrote yesterday", None),
        ("删掉我昨天写的笔记", None),
        ("What is in the report?", None),
    ],
)
def test_a_thing_is_called_as_it_was_said(request_: str, name: str | None) -> None:
    assert named_thing(request_) == name


@pytest.mark.parametrize(
    ("request_", "call"),
    [
        (
            "delete the note buy milk on Friday",
            ("notes.delete_note", {"note": "buy milk on Friday"}),
        ),
        ("读一下笔记：我们的计划", ("notes.read_note", {"note": "我们的计划"})),
    ],
)
def test_the_call_has_the_title_with_its_little_words(
    request_: str, call: tuple[str, dict[str, str]]
) -> None:
    assert called(request_, NOTES) == call


@pytest.mark.parametrize(
    ("name", "error", "near"),
    [
        ("milk", "There is no note 'milk'. Near: n1 'Buy milk on Friday'.", "Buy milk on Friday"),
        ("牛奶", "没有“牛奶”。相近：“周五买牛奶”。", "周五买牛奶"),
        ("milk", "There is no note 'milk'. Near: n1 'Buy milk', n2 'Milk the cow'.", None),
        ("tea", "There is no note 'tea'. Near: n1 'Coffee with Ana'.", None),
        ("buy milk", "There is no note 'buy milk'. Near: n1 'Buy bread'.", None),
        ("the", "There is no note 'the'. Near: n1 'The plan'.", None),
        ("milk", "The user did not agree to notes.delete_note.", None),
    ],
)
def test_one_name_alone_that_has_all_words_is_near(name: str, error: str, near: str | None) -> None:
    assert the_one_near(name, error) == near


class Notes:
    """The tools of the note server over its store, without a process."""

    def __init__(self, store: NoteStore) -> None:
        self.store = store

    def tools(self) -> list[ToolSpec]:
        return list(NOTES)

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        try:
            gone, left = self.store.delete(str(call.arguments["note"]))
        except StoreError as error:
            return ToolResult(call.id, call.name, str(error), is_error=True)
        return ToolResult(call.id, call.name, f'{{"title": "{gone.title}", "notes_left": {left}}}')


@pytest.mark.parametrize(
    ("titles", "request_", "agreed", "left"),
    [
        (
            ["Buy milk on Friday", "Dentist"],
            "delete the note about milk",
            ["milk", "Buy milk on Friday"],
            ["Dentist"],
        ),
        (
            ["Buy milk on Friday", "Milk the cow"],
            "delete the note about milk",
            ["milk"],
            ["Buy milk on Friday", "Milk the cow"],
        ),
        (["周五买牛奶", "牙医"], "删掉关于牛奶的笔记", ["牛奶", "周五买牛奶"], ["牙医"]),
    ],
)
def test_the_one_note_that_is_meant_is_deleted_with_consent_to_its_title(
    tmp_path: Path, titles: list[str], request_: str, agreed: list[str], left: list[str]
) -> None:
    store = NoteStore(tmp_path / "notes.json", clock=FixedClock().now)
    for title in titles:
        store.write(title, "text")
    asked: list[str] = []

    async def agree(call: ToolCall, tool: ToolSpec) -> bool:
        asked.append(str(call.arguments["note"]))
        return True

    session = Session(
        model=ReaderModel(), host=Notes(store), consent=agree, clock=FixedClock(), budget=8_000
    )
    asyncio.run(session.ask(request_))

    assert asked == agreed
    assert sorted(note.title for note in store.notes()) == sorted(left)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("please forget my address", "I was given nothing that can do that; nothing was removed."),
        (
            "delete the note about milk",
            "I was given nothing that can do that; nothing was removed.",
        ),
        ("请删掉关于牛奶的笔记", "我没有可以做这件事的工具，什么也没有删掉。"),
        ("Do not delete the note.", "I have read that."),
        ("The note was deleted.", "I have read that."),
        ("I forgot my plate number.", "I have read that."),
        ("忘了我的车牌号了。", "我读到了。"),
        ("糟糕，我忘记我的护照号码了", "我读到了。"),
        ("我忘了我的牙医", "我读到了。"),
        ("忘了我的车牌号吧", "我没有可以做这件事的工具，什么也没有删掉。"),
    ],
)
def test_without_a_tool_or_a_memory_nothing_is_said_to_be_removed(
    request_: str, answer: str
) -> None:
    assert called(request_, []) == answer
