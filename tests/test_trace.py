"""The record of a conversation: kept, saved, read back, and without secrets."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from agentkit import trace_file
from agentkit.clock import FixedClock
from agentkit.errors import TraceError
from agentkit.events import (
    Answered,
    Event,
    Failed,
    Mended,
    ModelAnswered,
    Packed,
    Recalled,
    ServerChanged,
    Skipped,
    Slimmed,
    Stopped,
    ToolCalled,
    ToolReturned,
    UserSaid,
    Wrote,
)
from agentkit.messages import ToolCall, Usage
from agentkit.redaction import REDACTED, redact
from agentkit.trace import Summary, Trace

CALL = ToolCall("c1", "notes.write_note", {"title": "报告", "text": "重点是性能测试部分"})
PACKED = Packed((("system", 3),), (("round 1", 90, "too old"),), 3, 100, 10, "ab", {"system": "Hi"})
ALL: tuple[Event, ...] = (
    UserSaid("帮我记一下"),
    Recalled("wide", "报告", ({"id": "m1"},), ("vectors",)),
    PACKED,
    ModelAnswered("", (CALL,), Usage(10, 2), "reader"),
    ToolCalled("c1", CALL.name, CALL.arguments),
    ToolReturned("c1", CALL.name, "saved", False, 12),
    Slimmed("c1", 9_000, 1_000, "head and tail"),
    Mended("lost result", "c0"),
    Stopped("2 results were empty"),
    ServerChanged("notes", "down", "it died"),
    Failed("The line is dead.", "Ask again."),
    Answered("好的"),
    Wrote("m2", "下周要完成结项报告"),
    Skipped("hello", "a greeting"),
)


def keep(trace: Trace, *events: Event, turn: str = "t1") -> None:
    for event in events:
        trace.append(event, turn=turn)


def trace_of(*events: Event, path: Path | None = None, turn: str = "t1") -> Trace:
    trace = Trace(clock=FixedClock(), path=path)
    keep(trace, *events, turn=turn)
    return trace


def lines(trace: Trace) -> list[str]:
    return [entry.as_json() for entry in trace]


def test_entries_are_numbered_stamped_and_named() -> None:
    trace = trace_of(UserSaid("hi"), ModelAnswered("yo"))

    assert [(e.seq, e.turn, e.kind) for e in trace] == [
        (1, "t1", "UserSaid"),
        (2, "t1", "ModelSaid"),
    ]
    assert lines(trace)[0] == (
        '{"seq": 1, "turn": "t1", "at": "2026-01-05T09:00:00+00:00", "event": "UserSaid", '
        '"text": "hi"}'
    )


@pytest.mark.parametrize("at_once", [True, False])
def test_every_kind_of_event_is_read_back_as_it_was(tmp_path: Path, at_once: bool) -> None:
    path = tmp_path / "trace.jsonl"
    trace = trace_of(*ALL, path=path if at_once else None)
    if not at_once:
        trace.save(path)

    loaded = Trace.load(path)

    assert lines(loaded) == lines(trace)
    assert loaded.summary() == trace.summary()
    assert loaded.as_text() == trace.as_text()


@pytest.mark.parametrize(
    "text", ["a\u2028b\u2029c\x85d\x0be\x1cf", "line\nbreak\r\n", "半\ud83d", "\x00"]
)
def test_a_text_with_any_line_end_in_it_stays_one_line(tmp_path: Path, text: str) -> None:
    trace = trace_of(UserSaid(text), Answered("ok"))
    trace.save(tmp_path / "t")

    assert lines(Trace.load(tmp_path / "t")) == lines(trace)


@pytest.mark.parametrize("cut", [1, 5, 60, 118])
def test_a_half_written_last_line_is_ignored(tmp_path: Path, cut: int) -> None:
    """By hand: the last line has over 118 bytes, so each cut leaves a part of it."""
    path = tmp_path / "t"
    trace = trace_of(UserSaid("hi"), Answered("下周要完成结项报告，重点是性能测试部分"))
    trace.save(path)
    path.write_bytes(path.read_bytes()[:-cut])

    loaded = Trace.load(path)

    assert lines(loaded) == lines(trace)[: 2 if cut == 1 else 1]


def test_whoever_goes_on_with_a_broken_file_begins_a_new_line(tmp_path: Path) -> None:
    path = tmp_path / "t"
    trace_of(UserSaid("one"), Answered("two"), path=path)
    path.write_bytes(path.read_bytes()[:-9])

    trace_of(UserSaid("three"), path=path, turn="t2")

    assert [e.data["text"] for e in Trace.load(path)] == ["one", "three"]


def test_a_file_that_is_no_trace_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(b"Dear Anna,\nyours")

    trace_of(UserSaid("hi"), path=path)

    assert path.read_bytes().startswith(b'Dear Anna,\nyours\n{"seq"')


@pytest.mark.parametrize(
    "damaged",
    [
        "no json",
        "3",
        "[]",
        '{"seq": 1}',
        '{"seq": "x", "turn": "t"}',
        "[" * 100_000,
        '{"seq": 1e400}',
    ],
    ids=range(7),
)
def test_a_damaged_line_costs_that_line_and_is_named(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "t.jsonl"
    good = lines(trace_of(UserSaid("报告")))[0]
    path.write_text(f"{good}\n{damaged}\n{good}\n", encoding="utf-8")

    trace = Trace.load(path)

    assert lines(trace) == [good, good]
    assert trace.skipped == (2,)
    assert trace.as_text().splitlines()[-1] == "skipped 1 damaged line(s): 2"


@pytest.mark.parametrize(
    "kind",
    "UserSaid Packed ModelSaid ToolCalled ToolReturned Slimmed Recalled Answered Unheard".split(),
)
@pytest.mark.parametrize("fields", ["", ', "text": 5, "new": 5, "hits": 5, "ms": "x"'])
def test_an_event_without_its_fields_is_shown_all_the_same(
    tmp_path: Path, kind: str, fields: str
) -> None:
    path = tmp_path / "t.jsonl"
    head = '{"seq": 1, "turn": "t1", "at": "2026-01-05T09:00:00+00:00"'
    path.write_text(f'{head}, "event": "{kind}"{fields}}}\n', encoding="utf-8")

    trace = Trace.load(path)

    assert trace.as_text().split()[:2] == ["t1", kind]
    assert trace.summary().tokens_read == 0


class FullDisk:
    """A disk on which the next writes stop after so many bytes, as ENOSPC does it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room: int | None = None
        self._real = trace_file.append
        monkeypatch.setattr(trace_file, "append", self._append)

    def _append(self, path: Path, data: bytes) -> None:
        if self.room is None:
            return self._real(path, data)
        with path.open("ab") as file:
            file.write(data[: self.room])
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("room", [0, 1, 3, 30])
def test_a_full_disk_ends_no_turn_and_loses_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """By design: events wait in memory and are written in order; half a line is taken away."""
    disk = FullDisk(monkeypatch)
    path = tmp_path / "t.jsonl"
    trace = trace_of(UserSaid("一"), path=path)
    disk.room = room

    with pytest.warns(RuntimeWarning, match=r"t\.jsonl cannot be written: No space left") as warned:
        keep(trace, Answered("二"), Answered("three"))
    with pytest.raises(TraceError, match="2 of 3 events are in memory only"):
        trace.flush()

    assert (len(warned), trace.waiting) == (1, 2)
    assert [e.data["text"] for e in Trace.load(path)] == ["一"]
    disk.room = None
    trace.append(Answered("four"), turn="t2")
    assert trace.waiting == 0
    assert lines(Trace.load(path)) == lines(trace)
    assert Trace.load(path).skipped == ()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no such device here")
def test_a_device_that_takes_nothing_is_said_once() -> None:
    with pytest.warns(RuntimeWarning, match="cannot be written") as warned:
        trace = trace_of(UserSaid("a"), Answered("b"), path=Path("/dev/full"))

    assert (len(warned), len(trace), trace.waiting) == (1, 2, 2)


def test_what_was_not_written_is_taken_away_again(tmp_path: Path) -> None:
    """A file may grow to a limit only, as on a full disk: the write stops in the line."""
    if sys.platform != "linux":
        pytest.skip("limits of a process are another matter there")
    program = (
        "import resource, signal, sys; from pathlib import Path; "
        "from agentkit.trace_file import append; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); append(Path(sys.argv[1]), b'x' * 20)"
    )
    path = tmp_path / "t"
    path.write_bytes(b"one\n")

    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True)

    assert b"OSError" in done.stderr
    assert path.read_bytes() == b"one\n"


def test_a_file_is_saved_whole_or_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t"
    trace_of(UserSaid("old")).save(path)
    monkeypatch.setattr(Path, "write_text", _refuses)
    trace = trace_of(UserSaid("new"), path=path)

    with pytest.raises(TraceError, match="the file is as it was"):
        trace.save(path)
    with pytest.raises(TraceError, match="the file is as it was"):
        trace.rewrite(lambda data: {**data, "text": ""})

    assert [e.data["text"] for e in trace] == ["new"]
    assert [e.data["text"] for e in Trace.load(path)] == ["old", "new"]


def _refuses(*_: object, **__: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("where", [".", "missing/t.jsonl", "a" * 300])
def test_a_path_that_cannot_be_is_refused_before_the_first_event(
    tmp_path: Path, where: str
) -> None:
    with pytest.raises(TraceError, match="cannot be written"):
        Trace(path=tmp_path / where)


def test_a_path_may_be_a_text(tmp_path: Path) -> None:
    path = str(tmp_path / "t.jsonl")
    trace = Trace(path=path)
    trace.append(UserSaid("hi"), turn="t1")
    trace.save(path)

    assert len(Trace.load(path)) == 1


@pytest.mark.parametrize("what", ["missing", "folder", "one bad line"])
def test_what_is_no_trace_says_so(tmp_path: Path, what: str) -> None:
    path = tmp_path / "t"
    if what == "folder":
        path.mkdir()
    if what == "one bad line":
        path.write_text("hello", encoding="utf-8")

    with pytest.raises(TraceError):
        Trace.load(path)


def test_an_empty_trace_is_a_trace(tmp_path: Path) -> None:
    Trace().save(tmp_path / "t")

    assert len(Trace.load(tmp_path / "t")) == 0
    assert Trace().summary() == Summary(0, 0, None, None, 0, None)
    assert Trace().as_text() == ""


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my key is sk-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234"),
        ("ghp_abcdefghijklmnopqrst0123", "ghp_abcdefghijklmnopqrst0123"),
        ("AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
        ("Authorization: Bearer abc.def-ghi_jkl", "abc.def-ghi_jkl"),
        ("postgres://anna:hunter2@db:5432/x", "anna:hunter2"),
        ("password: hunter2!", "hunter2!"),
        ("my password is hunter2", "hunter2"),
        ('{"api_key": "abcdef123456"}', "abcdef123456"),
        ("数据库密码是 hunter2，别忘了", "hunter2"),
        ("密码是abc12345", "abc12345"),
        ("密码：小猫小狗小鸟", "小猫小狗小鸟"),
        ("口令为 s3cret99。", "s3cret99"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", "MIIB"),
    ],
)
def test_what_looks_like_a_secret_is_in_no_file(tmp_path: Path, text: str, secret: str) -> None:
    path = tmp_path / "t"
    nested = ToolCalled("c1", "notes.write_note", {"text": text, "list": [text], "token": secret})

    trace = trace_of(UserSaid(text), nested, Answered(f"You said: {text}"), path=path)

    assert secret not in path.read_text(encoding="utf-8")
    assert secret not in trace.as_text()
    assert REDACTED in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "The password is required.",
        "密码是必填项",
        "a token is a piece of a word",
        "the secret of good notes: write them down",
        "https://example.org/path?query=report",
        "meet at 10:30, room B-204",
    ],
)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert redact(text) == text


def test_taking_secrets_out_twice_changes_nothing_more() -> None:
    """By design: a replay compares texts that went through it once already."""
    once = redact("密码：小猫小狗小鸟 password: hunter2! x://a:b@c Bearer abcdefghijkl123")

    assert redact(once) == once


def test_a_trace_knows_the_latest_text_of_a_section() -> None:
    trace = trace_of(PACKED)

    assert trace.holds("system", "Hi")
    assert not trace.holds("system", "Ho")
    assert not trace.holds("tools", "Hi")


def test_the_table_has_one_line_an_event_with_its_gist() -> None:
    table = trace_of(*ALL).as_text().splitlines()

    assert len(table) == len(ALL)
    assert table[0] == "  t1  UserSaid       帮我记一下"
    assert table[2] == "  t1  Packed         3 of 90 tokens, 1 left out"
    assert table[3] == "  t1  ModelSaid      calls notes.write_note"
    assert table[6] == "  t1  Slimmed        9000 → 1000 tokens (head and tail)"


def test_the_table_of_one_turn_holds_that_turn() -> None:
    trace = trace_of(UserSaid("one"))
    trace.append(UserSaid("two"), turn="t2")

    assert trace.as_text("t2") == "  t2  UserSaid  two"
    assert trace.kinds("t2") == ["UserSaid"]
    assert [e.turn for e in trace.of_turn("t1")] == ["t1"]


def test_a_turn_may_be_given_by_its_number() -> None:
    trace = trace_of(UserSaid("one"))
    trace.append(UserSaid("二"), turn="t9f")

    assert trace.as_text(2) == trace.as_text("t9f") == " t9f  UserSaid  二"


@pytest.mark.parametrize("turn", ["t2", 0, -1, 3, ""])
def test_a_turn_that_is_not_there_is_refused_with_those_that_are(turn: str | int) -> None:
    trace = trace_of(UserSaid("one"))
    trace.append(UserSaid("two"), turn="t9f")

    with pytest.raises(TraceError, match=r"2 turn\(s\): t1, t9f\.") as caught:
        trace.as_text(turn)

    assert "as_text(2)" in caught.value.hint


def test_an_error_about_a_turn_names_a_dozen_at_most() -> None:
    trace = Trace(clock=FixedClock())
    for n in range(40):
        trace.append(UserSaid("hi"), turn=f"t{n}")

    with pytest.raises(TraceError, match=r"40 turn\(s\): t0, .*t11, …\."):
        trace.as_text("t99")


def test_the_summary_counts_what_happened() -> None:
    """By hand: 2 turns, 4 tools of which 1 failed, 3 + 3 tokens, 1 recall of 2 hit."""
    returned = [ToolReturned("c", "t", "x", n == 0, n * 10) for n in range(4)]
    trace = trace_of(UserSaid("a"), PACKED, *returned, Recalled("wide", "q", ({"id": "1"},)))
    trace.append(UserSaid("b"), turn="t2")
    trace.append(PACKED, turn="t2")
    trace.append(Recalled("narrow", "q"), turn="t2")

    assert trace.summary() == Summary(2, 4, 0.75, 20, 6, 0.5)
