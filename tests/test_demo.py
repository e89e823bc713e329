"""The main job in a terminal: one conversation with the real note server, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentkit import cli, demo
from agentkit.clock import FixedClock
from agentkit.errors import ModelError
from agentkit.events import (
    Answered,
    Compressed,
    Failed,
    Forgot,
    HandoverWritten,
    Packed,
    Recalled,
    ServerChanged,
    Stopped,
    ToolReturned,
    Wrote,
)
from agentkit.messages import ToolCall, Usage
from agentkit.models.scripted import ScriptedModel
from agentkit.tokens import cost
from agentkit.trace import Entry, Trace
from tests.models.chat_server import ChatServer, said


def notes_in(path: Path) -> dict[str, str]:
    notes = json.loads(path.read_text(encoding="utf-8"))["notes"]
    return {note["title"]: note["text"] for note in notes}


@pytest.mark.parametrize(
    ("lang", "title", "text", "found"),
    [
        (
            "en",
            "finish the project report",
            "next week: finish the project report, focus on the performance tests",
            "agent  I found 1: “finish the project report”",
        ),
        (
            "zh",
            "下周要完成结项报告",
            "下周要完成结项报告，重点是性能测试部分",
            "agent  我找到 1 条：“下周要完成结项报告”",
        ),
    ],
)
def test_the_demo_notes_finds_and_says_that_it_worked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str, title: str, text: str, found: str
) -> None:
    """Through the command line, the host and the server's own process."""
    path = tmp_path / "我的 notes" / "notes.json"

    status = cli.main(["demo", "--lang", lang, "--notes-file", str(path)])

    printed = capsys.readouterr()
    assert (status, printed.err) == (0, "")
    assert notes_in(path) == {title: text}
    assert found in printed.out
    assert printed.out.count("call   notes.") == 2
    assert printed.out.count("of 7000 tokens") == 4
    assert f"It worked: the note is in {path}" in printed.out


def test_a_file_whose_folder_cannot_be_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file where its folder should be keeps even an administrator from writing."""
    blocked = tmp_path / "blocked"
    blocked.write_text("a file", encoding="utf-8")

    status = demo.run_demo(notes_file=blocked / "notes.json")

    printed = capsys.readouterr()
    assert status == 1
    assert "It did not work" in printed.err
    assert "Traceback" not in printed.err + printed.out
    assert "agent  That did not work" in printed.out


def test_an_unknown_model_is_no_success_and_says_which_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = demo.run_demo(notes_file=tmp_path / "notes.json", model="no:such")

    assert status == 1
    assert "AGENTKIT_MODEL" in capsys.readouterr().err


WRITE = ToolCall("c1", "notes.write_note", {"title": 'A "quoted" 报告', "text": "完成 the report"})


@pytest.mark.parametrize(
    ("steps", "status", "said"),
    [
        ([WRITE, "Noted.", "You noted: 完成 the report."], 0, "It worked"),
        (["I will remember.", "The report."], 1, "no note was written"),
        ([WRITE, "Noted.", "I know nothing of that."], 1, "was not found again"),
        ([WRITE, ModelError("The line is dead.", hint="Ask again.")], 1, "The line is dead."),
    ],
)
def test_the_exit_status_tells_whether_the_note_was_kept_and_found(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    steps: list[object],
    status: int,
    said: str,
) -> None:
    """By design: a model that says it noted something has to have done it."""
    with ScriptedModel(steps) as model:  # type: ignore[arg-type]
        monkeypatch.setattr(demo, "load_model", lambda _: model)
        got = demo.run_demo(notes_file=tmp_path / "notes.json")

    printed = capsys.readouterr()
    assert got == status
    assert said in printed.out + printed.err
    assert ("call   notes.write_note" in printed.out) == (WRITE in steps)


def test_a_chat_asks_before_it_deletes_and_goes_on_after_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.json"
    lines = iter(["帮我记一下：买牛奶", "删除笔记n0001", "n", "delete note n0001", "y", ""])
    asked: list[str] = []

    def read_line(prompt: str) -> str:
        asked.append(prompt)
        return next(lines)

    monkeypatch.setattr(demo, "_read_line", read_line)

    status = demo.run_chat(notes_file=path)

    assert status == 0
    assert notes_in(path) == {}
    assert sum(prompt.startswith("allow  notes.delete_note") for prompt in asked) == 2
    assert "did not agree" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("told", "asked", "fact"),
    [
        ("I am allergic to peanuts.", "What am I allergic to?", "peanuts"),
        ("我对花生过敏。", "我对什么过敏？", "花生"),
    ],
)
def test_a_chat_with_a_memory_file_knows_what_an_earlier_one_was_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    told: str,
    asked: str,
    fact: str,
) -> None:
    """By design: the second chat has the file and nothing else, and without it knows nothing."""

    def answers(*lines: str, memory_file: Path | None) -> list[str]:
        said = iter([*lines, ""])
        monkeypatch.setattr(demo, "_read_line", lambda _: next(said))
        assert demo.run_chat(notes_file=tmp_path / "n.json", memory_file=memory_file) == 0
        printed = capsys.readouterr().out.splitlines()
        return [line for line in printed if line.startswith("agent")]

    answers(told, memory_file=tmp_path / "memory.sqlite")

    assert fact in answers(asked, memory_file=tmp_path / "memory.sqlite")[0]
    assert fact not in answers(asked, memory_file=None)[0]


def test_a_chat_over_what_is_no_memory_file_says_so_and_leaves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "memory.sqlite"
    other.write_text("not a store", encoding="utf-8")

    status = demo.run_chat(notes_file=tmp_path / "n.json", memory_file=other)

    assert status == 1
    assert "memory.sqlite" in capsys.readouterr().err
    assert other.read_text(encoding="utf-8") == "not a store"


def test_a_chat_says_what_it_costs_and_goes_on_from_a_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By design: through the wire, to a server that reports 100 of 120 tokens from its cache."""
    lines = iter(["The port is 8443. 请用中文回答。", "/new", "and now?", ""])
    monkeypatch.setattr(demo, "_read_line", lambda _: next(lines))
    with ChatServer(said("Noted."), said("好的。")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        status = demo.run_chat(notes_file=tmp_path / "n.json", model="openai:gpt-4o")
        sent = server.received[1]["messages"]

    printed = capsys.readouterr().out
    one = cost("gpt-4o", Usage(120, 8, cache_read=100))
    assert status == 0
    line = f"cost   ${one:.4f} this turn, ${one:.4f} so far; 100 of 120 tokens from the cache"
    assert printed.count(line) == 2  # a new window counts from 0
    assert "window begun anew, with a summary of " in printed
    assert "The port is 8443." in sent[0]["content"]
    assert [message["content"] for message in sent[1:]] == ["and now?"]


def test_a_chat_says_once_that_the_reader_has_no_price(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = iter(["hello", "你好", ""])
    monkeypatch.setattr(demo, "_read_line", lambda _: next(lines))

    demo.run_chat(notes_file=tmp_path / "n.json")

    assert capsys.readouterr().out.count("cost   reader has no price: it runs here") == 1


def entry_of(event: object) -> Entry:
    trace = Trace(clock=FixedClock())
    trace.append(event, turn="t1")  # type: ignore[arg-type]
    return next(iter(trace))


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            Packed((), (), 350, 800, 100, ""),
            f"       [{'#' * 20}{'.' * 20}] 350 of 700 tokens, 50 %",
        ),
        (ToolReturned("c1", "t", "no\n such", True, 0), "error  no such"),
        (ToolReturned("c1", "t", "长" * 200, False, 0), f"result {'长' * 159}…"),
        (Stopped("2 results were empty"), "guard  2 results were empty"),
        (ServerChanged("notes", "down", "it died"), "server notes is down: it died"),
        (Answered("好的"), "agent  好的"),
        (
            Compressed(3, 900, 400, 500, "3 of 4 rounds became a summary"),
            "window 3 of 4 rounds became a summary, 900 → 400 tokens",
        ),
        (Compressed(0, 900, 900, 500, "there is one round"), "window there is one round"),
        (
            HandoverWritten("Goal: 报告", 9),
            "window nearly full; /new goes on from a summary of 9 tokens",
        ),
        (Recalled("wide", "q", ({"text": "猫叫咪咪"}, {"text": "b"})), "recall 2, first: 猫叫咪咪"),
        (Recalled("wide", "q"), ""),
        (Wrote("m1", "a", "asked for"), "memory added: a (asked for)"),
        (Forgot(("m1",), "asked for"), "memory forgot 1 (asked for)"),
        (Failed("x", "y"), ""),
    ],
)
def test_each_event_is_a_line_that_a_person_can_read(event: object, line: str) -> None:
    assert demo.show(entry_of(event)) == line


@pytest.mark.parametrize(("used", "filled"), [(0, 0), (700, 40), (900, 40), (9, 1)])
def test_the_bar_is_never_wider_than_it_is(used: int, filled: int) -> None:
    assert demo.bar(used, 700).count("#") == filled
    assert demo.bar(used, 0).startswith("[")
