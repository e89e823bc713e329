"""The main job in a terminal: one conversation with the real note server, and its exit status."""

from __future__ import annotations

import io
import json
import os
import re
import select
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentkit import cli, demo, demo_lines
from agentkit.clock import FixedClock
from agentkit.errors import ModelError
from agentkit.events import (
    Answered,
    Compressed,
    Event,
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
from agentkit.memory.long import LongTermMemory
from agentkit.messages import ToolCall, Usage
from agentkit.models.scripted import ScriptedModel
from agentkit.text import width
from agentkit.tokens import cost
from agentkit.trace import Entry, Trace
from tests.models.chat_server import ChatServer, said


def notes_in(path: Path) -> dict[str, str]:
    notes = json.loads(path.read_text(encoding="utf-8"))["notes"]
    return {note["title"]: note["text"] for note in notes}


@pytest.mark.parametrize(
    ("lang", "title", "text", "said"),
    [
        (
            "en",
            "finish the project report",
            "next week: finish the project report, focus on the performance tests",
            [
                "you    did I note anything about the report?",
                "call   notes.write_note",
                "call   notes.search_notes",
                "of 7000 tokens",
                "agent  I found 1: “finish the project report”",
                "cost   reader has no price",
                "It worked: the note is in {path}",
            ],
        ),
        (
            "zh",
            "下周要完成结项报告",
            "下周要完成结项报告，重点是性能测试部分",
            [
                "你     我之前记过关于报告的事吗？",
                "调用   notes.write_note",
                "调用   notes.search_notes",
                "/ 7000 个 token",
                "助手   我找到 1 条：“下周要完成结项报告”",
                "费用   reader 在本机运行，不收费",
                "成功：笔记已存入 {path}",
            ],
        ),
    ],
)
def test_the_demo_notes_finds_and_says_that_it_worked(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    lang: str,
    title: str,
    text: str,
    said: list[str],
) -> None:
    """Through the command line, the host and the server's own process."""
    path = tmp_path / "我的 notes" / "notes.json"

    status = cli.main(["demo", "--lang", lang, "--notes-file", str(path)])

    printed = capsys.readouterr()
    assert (status, printed.err) == (0, "")
    assert notes_in(path) == {title: text}
    assert [part for part in said if part.format(path=path) not in printed.out] == []
    assert printed.out.count("[#") == 4
    if lang == "zh":
        assert not re.search(r"^(you|call|result|agent|cost) ", printed.out, re.MULTILINE)


def test_the_demo_writes_beside_the_users_notes_and_never_among_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By design: what the demo makes up is not what somebody wrote down."""
    monkeypatch.setattr(demo.platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path))
    demo.default_notes_file().write_text("theirs", encoding="utf-8")

    assert demo.run_demo() == 0

    assert demo.default_notes_file().read_text(encoding="utf-8") == "theirs"
    assert len(notes_in(demo.demo_notes_file())) == 1
    assert f"It worked: the note is in {demo.demo_notes_file()}" in capsys.readouterr().out


def test_a_chat_keeps_its_notes_where_the_server_does_by_default() -> None:
    """By design: what a chat notes is found by a desktop client that starts the server bare."""
    done = subprocess.run(
        [sys.executable, "-m", "servers.notes", "--help"],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )

    assert str(demo.default_notes_file()) in "".join(done.stdout.split())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_went_wrong_is_said_in_the_language_of_the_demo(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lang: demo.Language,
) -> None:
    with ScriptedModel(["ok", "ok"]) as model:
        monkeypatch.setattr(demo, "load_model", lambda _: model)
        status = demo.run_demo(lang=lang, notes_file=tmp_path / "n.json")

    wrong = {"en": "It did not work: no note was written.", "zh": "没有成功：没有写下任何笔记。"}
    assert status == 1
    assert capsys.readouterr().err.strip() == wrong[lang]


def test_both_languages_say_the_same_things_with_the_same_facts() -> None:
    fields = [
        {name: sorted(re.findall(r"{(\w+)", text)) for name, text in each.items() if name != "free"}
        for each in demo_lines.SENTENCES.values()
    ]

    assert fields[0] == fields[1]
    assert all(width(label) < demo_lines.LABEL_COLUMNS for label in demo_lines.CHINESE_LABELS)


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
    monkeypatch.setattr(demo, "_is_terminal", lambda: True)

    status = demo.run_chat(notes_file=path)

    assert status == 0
    assert notes_in(path) == {}
    assert sum(prompt.startswith("allow  notes.delete_note") for prompt in asked) == 2
    assert "did not agree" in capsys.readouterr().out


def test_a_chat_that_nobody_types_takes_no_message_for_a_consent(tmp_path: Path) -> None:
    """By design: "y" is the next message of a piped chat, not the answer to a question."""
    path = tmp_path / "notes.json"
    command = [sys.executable, "-m", "agentkit", "chat", "--notes-file", str(path)]
    typed = "make a note: buy milk\ndelete note n0001\ny\n删除笔记n0001\n是\n"

    done = subprocess.run(command, input=typed, capture_output=True, encoding="utf-8", timeout=120)

    assert (done.returncode, done.stderr) == (0, "")
    assert list(notes_in(path)) == ["buy milk"]
    assert done.stdout.count("refuse notes.delete_note") == 2
    assert [ln[7:] for ln in done.stdout.splitlines() if ln.startswith("you ")] == [
        *typed.splitlines()
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminal of this kind")
def test_a_line_typed_in_a_terminal_stands_there_once(tmp_path: Path) -> None:
    """The terminal shows what is typed; the chat must not say it again, and must ask."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "agentkit", "chat", "--notes-file", str(tmp_path / "n.json")]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as chat:
        os.close(theirs)
        seen = ""
        for until, answer in [
            ("you    ", "make a note: buy milk"),
            ("\nyou    ", "delete note n0001"),
            ("[y/N] ", "y"),
            ("\nyou    ", ""),
        ]:
            seen += _seen_until(ours, until)
            os.write(ours, f"{answer}\n".encode())
        assert chat.wait(timeout=120) == 0
    os.close(ours)

    assert seen.count("make a note: buy milk") == 1
    assert seen.count("delete note n0001") == 1
    assert notes_in(tmp_path / "n.json") == {}


def _seen_until(terminal: int, text: str) -> str:
    """Return what a terminal shows up to a text, or fail after two minutes without any."""
    seen = b""
    while text.encode() not in seen:
        assert select.select([terminal], [], [], 120)[0], seen
        seen += os.read(terminal, 4096)
    return seen.decode()


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
    assert demo_lines.show(entry_of(event)) == line


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Stopped("2 results were empty"), "停止   2 results were empty"),
        (ServerChanged("notes", "down", "it died"), "服务器 notes 的状态是 down：it died"),
        (
            Recalled("wide", "q", ({"text": "猫叫咪咪"}, {"text": "b"})),
            "回忆   2 条，第一条：猫叫咪咪",
        ),
        (Forgot(("m1",), "asked for"), "记忆   忘掉了 1 条（asked for）"),
    ],
)
def test_the_kits_own_words_around_an_event_are_chinese_when_asked(
    event: object, line: str
) -> None:
    assert demo_lines.show(entry_of(event), "zh") == line


@pytest.mark.parametrize(("used", "filled"), [(0, 0), (700, 40), (900, 40), (9, 1)])
def test_the_bar_is_never_wider_than_it_is(used: int, filled: int) -> None:
    assert demo_lines.bar(used, 700).count("#") == filled
    assert demo_lines.bar(used, 0).startswith("[")


@pytest.mark.parametrize(
    "event",
    [
        Answered("\x1b[2Jone\n二\x07"),
        ToolReturned("c", "t", "\x1b[2J二", False, 1),
        Stopped("\x1b[2J"),
        ServerChanged("\x1b[2J", "down", "\x07"),
        Recalled("wide", "q", ({"id": "1", "text": "\x1b[2J"},)),
        Wrote("m1", "\x1b[2J"),
    ],
)
def test_no_line_of_a_conversation_commands_the_terminal(event: Event) -> None:
    trace = Trace(clock=FixedClock())
    trace.append(event, turn="t1")

    shown = demo_lines.show(next(iter(trace)))

    assert "␛" in shown
    assert not set("\x1b\x07") & set(shown)
    assert ("\n" in shown) == isinstance(event, Answered)


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A memory that remembers one thing, and that another process is writing to."""
    monkeypatch.setattr(demo, "CHAT_WAIT_S", 0.01)
    path = tmp_path / "m.db"
    with LongTermMemory.open(path) as memory:
        memory.add("User said: My dentist in Graz is Dr Strangelove.", tenant=demo.CHAT_TENANT)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield path
    other.close()


@pytest.mark.parametrize(
    "said", ["I prefer tea to coffee.", "Forget about my dentist.", "请记住我喜欢喝茶。"]
)
def test_a_memory_that_cannot_be_written_is_said_in_the_turn(
    tmp_path: Path,
    held: Path,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{said}\n\n"))

    status = demo.run_chat(notes_file=tmp_path / "n.json", memory_file=held)

    shown = capsys.readouterr()
    assert (status, shown.err) == (0, "")
    assert f"memory not done: Another process holds {held}." in shown.out


def test_a_memory_that_may_only_be_read_is_said_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.db"
    LongTermMemory.open(path).close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))

    demo.run_chat(notes_file=tmp_path / "n.json", memory_file=path)

    assert f"memory {path} {demo.READ_ONLY}\n" in capsys.readouterr().out


def test_a_store_that_cannot_be_asked_is_said() -> None:
    trace = Trace(clock=FixedClock())
    trace.append(Recalled("wide", "q", (), ("store: It is damaged.",)), turn="t1")

    assert demo_lines.show(next(iter(trace))) == "recall store: It is damaged."
