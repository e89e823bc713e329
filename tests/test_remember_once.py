"""What the user asks to remember is kept once: in memory, or in the note that was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentkit.clock import FixedClock
from agentkit.memory.brought import DONE
from agentkit.memory.long import LongTermMemory
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.models.reader import ReaderModel
from agentkit.models.scripted import ScriptedModel
from agentkit.session import Session
from agentkit.tools import ToolSpec
from tests.models.test_reader import MEMORY, NOTES
from tests.toolbox import ToolBox

NOTED = "notes.write_note"


def ask(
    tmp_path: Path, text: str, tools: Sequence[ToolSpec], model: Any = None
) -> tuple[str, list[str], list[str], Session]:
    """Return the answer, the tools that were called, what is remembered, and the session."""
    box = ToolBox(*[(tool, '{"id": "n1"}') for tool in tools])
    with LongTermMemory.open(tmp_path / "memory.db", clock=FixedClock()) as store:
        session = Session(
            model=model or ReaderModel(),
            host=box,
            memory=TenantMemory(store, tenant="ada"),
            clock=FixedClock(),
            budget=16_000,
        )
        answer = asyncio.run(session.ask(text))
        kept = [record.text for record in store.records(tenant="ada")]
    return answer, [name for name, _ in box.called], kept, session


@pytest.mark.parametrize(
    ("text", "tools", "called", "kept"),
    [
        ("remember that I am allergic to peanuts", NOTES, [],
         ["User said: I am allergic to peanuts"]),
        ("Please don't forget that my locker is number 12.", NOTES, [],
         ["User said: my locker is number 12."]),
        ("记住我对花生过敏", NOTES, [], ["用户说：我对花生过敏"]),
        ("make a note that I am allergic to peanuts", NOTES, [NOTED], []),
        ("remember in my notes that I am allergic to peanuts", NOTES, [NOTED], []),
        ("把我对花生过敏记在笔记里", NOTES, [NOTED], []),
        ("remember that I am allergic to peanuts", [*NOTES, *MEMORY], ["memory.remember"], []),
    ],
)  # fmt: skip
def test_it_is_kept_in_one_place(
    tmp_path: Path, text: str, tools: list[ToolSpec], called: list[str], kept: list[str]
) -> None:
    _, by, held, _ = ask(tmp_path, text, tools)

    assert (by, held) == (called, kept)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("remember that I am allergic to peanuts",
         "I will remember (in memory, not as a note): “I am allergic to peanuts”"),
        ("记住我对花生过敏", "我会记住（记在记忆里，不写成笔记）：“我对花生过敏”"),
    ],
)  # fmt: skip
def test_the_answer_says_what_will_be_remembered(tmp_path: Path, text: str, answer: str) -> None:
    assert ask(tmp_path, text, NOTES)[0] == answer


def test_any_model_reads_that_memory_keeps_it(tmp_path: Path) -> None:
    *_, session = ask(
        tmp_path, "Remember that I am allergic to peanuts.", NOTES, ScriptedModel(["Noted."])
    )

    assert session.packed is not None
    assert f"## {DONE}\nI will remember" in session.packed.messages()[0].text


def test_what_is_not_kept_is_not_promised(tmp_path: Path) -> None:
    answer, _, kept, _ = ask(tmp_path, "Remember that my password is hunter2hunter.", [])

    assert (answer, kept) == ("I have read that.", [])


def test_what_is_said_beside_a_note_is_still_remembered(tmp_path: Path) -> None:
    _, called, kept, _ = ask(tmp_path, "Make a note: buy milk. I live in Lund.", NOTES)

    assert called == [NOTED]
    assert kept == ["User said: I live in Lund."]
