"""What a note is, how it is found, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from servers._json_file import StoreError
from servers._note_store import MAX_NOTE_CHARS, MAX_TITLE_CHARS, NoteStore, clean
from servers._run import clock_from


@pytest.fixture
def store(notes_file: Path) -> NoteStore:
    return NoteStore(notes_file, clock=clock_from("2026-01-05T09:00:00Z"))


def test_a_title_that_exists_gets_the_new_text_and_keeps_its_id(store: NoteStore) -> None:
    """By design: case, width and spaces do not make another title."""
    first, _ = store.write("Report", "old")

    second, outcome = store.write("  ＲＥＰＯＲＴ ", "new")

    assert outcome == "replaced"
    assert (second.id, second.created) == (first.id, first.created)
    assert [(note.title, note.text) for note in store.notes()] == [("ＲＥＰＯＲＴ", "new")]


def test_writing_the_same_twice_changes_nothing(store: NoteStore) -> None:
    store.write("Report", "first")
    note, _ = store.write("Report", "second")
    before = store.path.read_bytes()

    again, outcome = store.write("Report", "second")

    assert (again, outcome) == (note, "unchanged")
    assert store.path.read_bytes() == before
    assert b'"before": "first"' in before


def test_an_id_is_never_given_again(store: NoteStore) -> None:
    store.write("one", "1")
    store.write("two", "2")
    store.delete("n0002")

    assert store.write("three", "3")[0].id == "n0003"


def test_an_id_that_a_person_wrote_is_respected(store: NoteStore) -> None:
    written = {"title": "t", "text": "x", "created": "2026", "updated": "2026"}
    notes = [{"id": "n0041", **written}, {"id": "shopping", **written, "title": "s"}]
    store.path.write_text(json.dumps({"notes": notes}), encoding="utf-8")

    assert store.write("new", "1")[0].id == "n0042"
    assert store.find("Shopping").title == "s"


def test_notes_come_last_changed_first(store: NoteStore) -> None:
    for title in ("one", "two", "three"):
        store.write(title, "x")
    store.write("one", "changed")

    assert [note.title for note in store.notes()] == ["one", "three", "two"]


def test_a_fixed_clock_gives_the_same_file_twice(tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        store = NoteStore(file, clock=clock_from("2026-01-05T09:00:00+08:00"))
        store.write("one", "1")
        store.write("one", "2")

    assert files[0].read_bytes() == files[1].read_bytes()
    assert b'"created": "2026-01-05T01:00:00Z"' in files[0].read_bytes()
    assert b'"updated": "2026-01-05T01:00:01Z"' in files[0].read_bytes()


@pytest.mark.parametrize(
    "wanted", ["n0001", "N0001", " note://n0001 ", "Weekly report", "weekly  REPORT"]
)
def test_a_note_is_found_by_id_or_title(store: NoteStore, wanted: str) -> None:
    store.write("Weekly report", "x")

    assert store.find(wanted).id == "n0001"


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("Weekly reprot", "n0001 'Weekly report'"),
        ("report", "n0001"),
        ("n001", "n0001"),
        ("性能", "n0002"),
    ],
)
def test_a_note_that_is_not_there_is_an_error_that_names_near_ones(
    store: NoteStore, wanted: str, near: str
) -> None:
    store.write("Weekly report", "x")
    store.write("结项报告", "重点是性能测试")

    for call in (store.find, store.delete):
        with pytest.raises(StoreError) as caught:
            call(wanted)
        assert f"Near: {near}" in str(caught.value)
    assert len(store.notes()) == 2


def test_nothing_is_near_in_an_empty_file(store: NoteStore) -> None:
    with pytest.raises(StoreError, match="there are no notes yet"):
        store.find("n0001")


def test_a_title_that_two_notes_have_needs_an_id(store: NoteStore) -> None:
    """Only a person editing the file can make two."""
    note = {"title": "t", "text": "x", "created": "2026", "updated": "2026"}
    notes = [{"id": "n1", **note}, {"id": "n2", **note}]
    store.path.write_text(json.dumps({"notes": notes}), encoding="utf-8")

    calls: list[Callable[[], object]] = [
        lambda: store.find("T"),
        lambda: store.delete("t"),
        lambda: store.write("t", "y"),
    ]
    for call in calls:
        with pytest.raises(StoreError, match=r"n1, n2\. Give the id"):
            call()
    assert store.delete("n2")[1] == 1


@pytest.mark.parametrize(
    ("title", "text", "says"),
    [
        ("", "x", "title is empty"),
        (" \n\t", "x", "title is empty"),
        ("\0\x01", "x", "title is empty"),
        ("x", " \n ", "text is empty"),
        ("t" * 10_000, "x", "title has 10,000 characters; at most 200"),
        ("题" * 201, "x", "title has 201 characters"),
        ("x", "y" * 1_000_000, "text has 1,000,000 characters; at most 4,000"),
        ("x", "好" * 4_001, "text has 4,001 characters"),
    ],
)
def test_what_cannot_be_a_note_is_refused(
    store: NoteStore, title: str, text: str, says: str
) -> None:
    with pytest.raises(StoreError) as caught:
        store.write(title, text)

    assert says in str(caught.value)
    assert "nothing was saved" in str(caught.value)
    assert len(str(caught.value)) < 300
    assert not store.path.exists()


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("t" * MAX_TITLE_CHARS, "x" * MAX_NOTE_CHARS),
        ("题" * MAX_TITLE_CHARS, "好" * MAX_NOTE_CHARS),
        ("🎉👩‍👩‍👧", "emoji 🎉 only"),
        ("مرحبا", "نص من اليمين"),
        ('quote " and \\', "tab\tand\nline\u2028and {json: []}"),
        ("null", "None"),
    ],
)
def test_what_is_written_is_read_back(store: NoteStore, title: str, text: str) -> None:
    store.write(title, text)

    assert [(note.title, note.text) for note in NoteStore(store.path).notes()] == [(title, text)]


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\ud83d", "\ufffd"),
        ("a\ude00b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("nul\0 bell\x07 del\x7f c1\x85", "nul bell del c1"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("好 😀\t\n", "好 😀\t\n"),
    ],
)
def test_text_is_made_valid_before_it_is_stored(text: str, cleaned: str) -> None:
    """By hand: two halves of a pair that arrive apart are one character again."""
    assert clean(text) == cleaned


@pytest.mark.parametrize("query", ["", "  ", "？！…", "🎉", "_ - _", "\0"])
def test_a_query_without_a_word_is_refused(store: NoteStore, query: str) -> None:
    with pytest.raises(StoreError, match="no word or number"):
        store.search(query)


def test_a_query_that_is_too_long_is_refused(store: NoteStore) -> None:
    with pytest.raises(StoreError, match=r"1,000,000 characters; at most 400"):
        store.search("x" * 1_000_000)


def test_preferences_are_what_a_person_wrote(store: NoteStore) -> None:
    assert store.preferences() == {}

    text = json.dumps({"notes": [], "preferences": {"语言": "中文", "half": "\ud83d"}})
    store.path.write_text(text, encoding="utf-8")

    assert store.preferences() == {"语言": "中文", "half": "\ufffd"}


def test_preferences_that_are_too_long_are_an_error(store: NoteStore) -> None:
    text = json.dumps({"notes": [], "preferences": {"x": "y" * 5000}})
    store.path.write_text(text, encoding="utf-8")

    with pytest.raises(StoreError, match="Shorten them"):
        store.preferences()
