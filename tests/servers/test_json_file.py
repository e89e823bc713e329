"""A note file in every bad state: an error that says what to do, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from servers import _json_file, _note_store
from servers._json_file import JsonFile, StoreError
from servers._note_store import NoteStore
from tests.broken.notes_over_damage import OverDamage
from tests.broken.notes_without_copy import WithoutCopy
from tests.broken.notes_without_lock import WithoutLock

NOTE = {"id": "n0001", "title": "t", "text": "x", "created": "2026", "updated": "2026"}
DAMAGED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it is empty"),
    "cut": (b'{"format": 1, "notes": [{"id": "n00', "line 1"),
    "prose": ("我的笔记\n".encode(), "line 1"),
    "utf-16": ('{"notes": []}'.encode("utf-16"), "UTF-16"),
    "latin-1": (b'{"notes": ["caf\xe9"]}', "decode"),
    "zeros": (b"\0" * 4096, "line 1"),
    "list": (b"[]", "list instead of an object"),
    "null": (b"null", "NoneType"),
    "no notes": (b'{"format": 1}', '"notes"'),
    "notes of numbers": (b'{"notes": [1, 2]}', "note 1"),
    "text is a number": (json.dumps({"notes": [NOTE | {"text": 5}]}).encode(), "under text"),
    "ids twice": (json.dumps({"notes": [NOTE, NOTE]}).encode(), "twice"),
    "preferences": (b'{"notes": [], "preferences": []}', '"preferences"'),
    "format": (b'{"notes": [], "format": "one"}', '"format"'),
    "NaN": (b'{"notes": [], "preferences": {"x": NaN}}', "NaN"),
    "too deep": (b"[" * 200_000, "deep"),
    "long number": (b'{"notes": [], "x": ' + b"9" * 5000 + b"}", "digits"),
}


@pytest.fixture
def store(notes_file: Path) -> NoteStore:
    return NoteStore(notes_file)


def titles(store: NoteStore) -> list[str]:
    return sorted(note.title for note in store.notes())


def a_damaged_file_loses_nothing(file: Path, data: bytes, why: str) -> None:
    """The damage is kept, acknowledged notes are back, the error says both, the rest works."""
    store = NoteStore(file)
    store.write("one", "1")
    store.write("two", "2")
    file.write_bytes(data)

    with pytest.raises(StoreError) as caught:
        store.write("three", "3")

    kept = list(file.parent.glob("notes.json.damaged-*"))
    assert [path.read_bytes() for path in kept] == [data]
    assert why in str(caught.value)
    assert kept[0].name in str(caught.value)
    assert "make the same call again" in str(caught.value)
    store.write("three", "3")
    assert titles(store) == ["one", "three", "two"]


@pytest.mark.parametrize(("data", "why"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_loses_nothing(notes_file: Path, data: bytes, why: str) -> None:
    a_damaged_file_loses_nothing(notes_file, data, why)


@pytest.mark.parametrize("broken", [OverDamage, WithoutCopy])
def test_a_store_that_loses_notes_to_damage_is_caught(
    notes_file: Path, monkeypatch: pytest.MonkeyPatch, broken: type[JsonFile]
) -> None:
    monkeypatch.setattr(_note_store, "JsonFile", broken)

    with pytest.raises(AssertionError):
        a_damaged_file_loses_nothing(notes_file, *DAMAGED["cut"])


def test_damage_is_found_by_reading_too(store: NoteStore) -> None:
    store.write("one", "1")
    store.path.write_bytes(b"{")

    with pytest.raises(StoreError, match="is in its place"):
        store.notes()
    assert titles(store) == ["one"]


def test_damage_without_a_good_copy_starts_empty_and_says_so(store: NoteStore) -> None:
    store.path.write_bytes(b'{"my": "precious"')

    with pytest.raises(StoreError, match="no good copy"):
        store.notes()

    assert store.notes() == []
    kept = next(store.path.parent.glob("*.damaged-*"))
    assert kept.read_bytes() == b'{"my": "precious"'


def test_when_file_and_copy_are_damaged_both_are_kept(store: NoteStore) -> None:
    store.write("one", "1")
    store.path.write_bytes(b"bad file")
    store.path.with_name("notes.json.bak").write_bytes(b"bad copy")

    with pytest.raises(StoreError, match="its copy was damaged too"):
        store.notes()

    kept = {path.read_bytes() for path in store.path.parent.glob("*.damaged-*")}
    assert kept == {b"bad file", b"bad copy"}
    assert store.notes() == []


def test_two_different_damages_are_both_kept_and_the_same_one_once(store: NoteStore) -> None:
    for data in (b"first", b"second", b"first"):
        store.path.write_bytes(data)
        with pytest.raises(StoreError):
            store.notes()

    kept = sorted(path.read_bytes() for path in store.path.parent.glob("*.damaged-*"))
    assert kept == [b"first", b"second"]


def test_a_lost_file_comes_back_from_its_copy(store: NoteStore) -> None:
    store.write("one", "1")
    store.path.unlink()

    with pytest.raises(StoreError, match=r"To start empty, delete notes\.json\.bak as well"):
        store.write("two", "2")

    store.write("two", "2")
    assert titles(store) == ["one", "two"]


def test_deleting_file_and_copy_starts_empty(store: NoteStore) -> None:
    store.write("one", "1")
    store.path.unlink()
    store.path.with_name("notes.json.bak").unlink()

    assert store.notes() == []


def test_a_lost_file_with_a_damaged_copy_starts_empty_and_keeps_the_copy(store: NoteStore) -> None:
    store.path.with_name("notes.json.bak").write_bytes(b"bad copy")

    with pytest.raises(StoreError, match="its copy was damaged"):
        store.notes()

    assert store.notes() == []
    assert next(store.path.parent.glob("*.damaged-*")).read_bytes() == b"bad copy"


def test_a_delete_is_in_the_copy_too(store: NoteStore) -> None:
    store.write("secret", "swordfish")
    store.delete("secret")

    copy = store.path.with_name("notes.json.bak").read_text(encoding="utf-8")
    assert "swordfish" not in copy


def test_a_byte_order_mark_is_no_damage(store: NoteStore) -> None:
    """By design: a common editor of Windows puts one there."""
    store.path.write_text(json.dumps({"notes": [NOTE]}), encoding="utf-8-sig")

    assert titles(store) == ["t"]


def test_a_newer_format_is_left_as_it_is(store: NoteStore) -> None:
    data = b'{"format": 2, "notes": {"what": "ever"}}'
    store.path.write_bytes(data)

    for call in (store.notes, lambda: store.write("one", "1")):
        with pytest.raises(StoreError, match="Update agentkit"):
            call()
    assert store.path.read_bytes() == data
    assert not list(store.path.parent.glob("*.damaged-*"))


def test_a_folder_in_place_of_the_file_is_an_error(store: NoteStore) -> None:
    store.path.mkdir()

    for call in (store.notes, lambda: store.write("one", "1")):
        with pytest.raises(StoreError, match="is a folder"):
            call()


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    store = NoteStore(tmp_path / "file" / "notes.json")

    for call in (store.notes, lambda: store.write("one", "1")):
        with pytest.raises(StoreError, match="--file"):
            call()


def test_a_read_only_file_can_be_read_and_is_not_replaced(store: NoteStore) -> None:
    """By design: replacing a file needs no right to write it, but the mark is respected."""
    store.write("one", "1")
    before = store.path.read_bytes()
    store.path.chmod(0o444)

    with pytest.raises(StoreError, match=r"read-only, and nothing was saved\. Make it writable"):
        store.write("two", "2")

    assert store.path.read_bytes() == before
    assert titles(store) == ["one"]


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder no one can write to")
def test_a_read_only_folder_is_an_error() -> None:
    """Not even the administrator can make a file in /sys."""
    store = NoteStore(Path("/sys/kernel/notes.json"))

    assert store.notes() == []
    with pytest.raises(StoreError, match="nothing was saved") as caught:
        store.write("one", "1")
    assert "--file" in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(
    store: NoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.path.write_bytes(b" " * 2000)
    monkeypatch.setattr(_json_file, "MAX_FILE_BYTES", 1000)

    with pytest.raises(StoreError, match=r"2,000 bytes; at most 1,000"):
        store.notes()


def test_a_file_never_grows_beyond_what_can_be_read(
    store: NoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write("one", "1")
    monkeypatch.setattr(_json_file, "MAX_FILE_BYTES", 1000)

    with pytest.raises(StoreError, match="nothing was saved"):
        store.write("two", "2" * 1000)
    assert titles(store) == ["one"]


def a_write_within_a_write_is_not_undone(file: Path, kind: type[JsonFile]) -> None:
    """Between loading and saving nobody else saves; or else their note is gone."""
    first, second = (
        kind(file, empty=lambda: {"notes": []}, check=_note_store.check_shape, lock_timeout_s=0.05)
        for _ in range(2)
    )
    acknowledged = []
    with first.change() as document:
        document["notes"].append(NOTE)
        with contextlib.suppress(StoreError), second.change() as other:
            other["notes"].append(NOTE | {"id": "n0002"})
            acknowledged.append("n0002")

    assert [note["id"] for note in first.read()["notes"]] == ["n0001", *acknowledged]


def test_a_write_within_a_write_is_not_undone(notes_file: Path) -> None:
    a_write_within_a_write_is_not_undone(notes_file, JsonFile)


def test_a_file_without_a_lock_is_caught(notes_file: Path) -> None:
    with pytest.raises(AssertionError):
        a_write_within_a_write_is_not_undone(notes_file, WithoutLock)


@pytest.mark.parametrize("call", [NoteStore.notes, lambda store: store.write("one", "1")])
def test_a_lock_that_is_held_too_long_is_an_error(
    notes_file: Path, call: Callable[[NoteStore], object]
) -> None:
    store = NoteStore(notes_file, lock_timeout_s=0.05)

    with FileLock(f"{store.path}.lock"), pytest.raises(StoreError, match="Call again"):
        call(store)
    call(store)


def test_a_waiting_writer_goes_on_when_the_lock_is_released(store: NoteStore) -> None:
    lock = FileLock(f"{store.path}.lock")
    lock.acquire()
    writer = threading.Thread(target=store.write, args=("one", "1"))
    writer.start()

    assert not store.path.exists()
    lock.release()
    writer.join(timeout=30)
    assert titles(store) == ["one"]


def test_what_a_person_added_survives(store: NoteStore) -> None:
    store.path.write_text(
        json.dumps({"notes": [NOTE | {"mood": "good"}], "mine": [1]}), encoding="utf-8"
    )

    store.write("new", "2")
    store.write("t", "changed")

    document = json.loads(store.path.read_text(encoding="utf-8"))
    assert document["mine"] == [1]
    assert document["notes"][0]["mood"] == "good"
    assert document["notes"][0]["before"] == "x"


def test_half_a_surrogate_pair_in_the_file_does_not_get_out(store: NoteStore) -> None:
    """JSON may hold one as an escape; the next write puts it right in the file as well."""
    data = json.dumps({"notes": [NOTE | {"text": "\ud83d", "mine": "\ud83d"}]})
    store.path.write_text(data, encoding="utf-8")

    assert store.notes()[0].text == "\ufffd"
    store.write("new", "2")
    assert "\\ud83d" not in store.path.read_text(encoding="utf-8")


def test_a_person_can_read_the_file(store: NoteStore) -> None:
    store.write("备忘", "下周要完成结项报告")

    text = store.path.read_text(encoding="utf-8")
    assert '\n      "text": "下周要完成结项报告",\n' in text
    assert text.endswith("}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real.json")

    NoteStore(link).write("one", "1")

    assert link.is_symlink()
    assert titles(NoteStore(tmp_path / "real.json")) == ["one"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_notes_are_private_and_a_chosen_mode_stays(store: NoteStore) -> None:
    store.write("one", "1")
    assert store.path.stat().st_mode & 0o777 == 0o600

    os.chmod(store.path, 0o640)
    store.write("two", "2")
    assert store.path.stat().st_mode & 0o777 == 0o640
    assert store.path.with_name("notes.json.bak").stat().st_mode & 0o777 == 0o640
