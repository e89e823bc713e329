"""Files that a person names: text and `Path` alike, and an error for everything else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentkit.clock import FixedClock
from agentkit.errors import RecordError, TraceError
from agentkit.files import read_json, read_text, write_text
from agentkit.trace import Trace

ADVICE = "Save it first."


def read(path: object) -> str:
    return read_text(path, what="list", error=RecordError, hint=ADVICE)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_is_text_or_a_path(tmp_path: Path, kind: type) -> None:
    path = kind(tmp_path / "列表.txt")

    write_text(path, "one 一\n", what="list", error=RecordError)

    assert read(path) == "one 一\n"
    assert [file.name for file in tmp_path.iterdir()] == ["列表.txt"]


def test_a_mark_of_the_byte_order_is_no_part_of_the_text(tmp_path: Path) -> None:
    """By design: editors of Windows write it."""
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf\xe4\xb8\x80")

    assert read(tmp_path / "a.txt") == "一"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "list.json cannot be read: No such file"),
        (b"\xff\xfe1\x00", "byte 1 is 0xff"),
        (b"ok \x80", "byte 4 is 0x80"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "list.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(RecordError, match=said) as caught:
        read(path)

    assert caught.value.hint.endswith(ADVICE)


@pytest.mark.parametrize("name", ["x" * 300, "半\ud83d.txt", "."])
def test_a_name_that_can_be_no_file_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read(tmp_path / name)


@pytest.mark.parametrize("path", [None, 5, "", b"", ["a"], "x\x00y"])
def test_what_is_no_path_says_so(path: object) -> None:
    with pytest.raises(RecordError, match="path of the list") as caught:
        read(path)

    assert "path" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("{} x", "in line 1, column 4"),
        ("[" * 100_000, "inside each other"),
        ("1" * 10_000, "digits"),
        ('{"名": 1, "b": {"a": 1, "c": 2, "a": 3}}', "'a' 2 times"),
    ],
)
def test_json_that_is_none_says_where(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "list.json").write_text(content)

    with pytest.raises(RecordError, match=said):
        read_json(tmp_path / "list.json", what="list", error=RecordError, hint=ADVICE)


def test_a_file_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    wrong = ("missing/a.txt", "taken", "taken/file/a.txt", "x" * 300, "半\ud83d.txt")

    for path in (tmp_path / name for name in wrong):
        with pytest.raises(RecordError, match="cannot be written") as caught:
            write_text(path, "x", what="list", error=RecordError)
        assert "folder" in caught.value.hint

    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows keeps pipes elsewhere")
def test_a_pipe_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    """As root, whoever saved to /dev/full would have a file in the place of the device."""
    pipe = tmp_path / "管道"
    os.mkfifo(pipe)

    with pytest.raises(TraceError, match="device or a pipe"):
        Trace(clock=FixedClock()).save(pipe)

    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
