"""Files that are damaged, locked, full, newer, sealed, or somebody else's: said, never lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentkit.errors import (
    RecordError,
    SetupError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreKeyError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreVersionError,
)
from agentkit.memory.long import LongTermMemory
from agentkit.memory.maintenance import check
from agentkit.memory.recall import recall
from tests.memory.conftest import Open, ToyEmbedder


@pytest.fixture
def filled(open_memory: Open, tmp_path: Path) -> Path:
    """Return the path of a closed store with 200 records."""
    memory = open_memory()
    memory.add_all([f"Fact {n} about 绿茶 and bread." for n in range(200)], tenant="ada")
    memory.close()
    return tmp_path / "memory.db"


def overwrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:100],
        lambda data: b"not a database, but text\n" * 400,
        lambda data: data[:8192] + b"\xff" * (len(data) - 8192),
    ],
    ids=["half", "head", "text", "noise"],
)
def test_a_damaged_file_is_refused_and_left_alone(
    filled: Path, open_memory: Open, change: Callable[[bytes], bytes]
) -> None:
    overwrite(filled, change)
    before = filled.read_bytes()

    with pytest.raises(StoreDamagedError) as caught:
        recall(open_memory(), "Fact", tenant="ada")

    assert caught.value.hint
    assert filled.read_bytes() == before


def test_an_empty_file_becomes_a_store(tmp_path: Path, open_memory: Open) -> None:
    (tmp_path / "memory.db").touch()

    assert open_memory().add("One.", tenant="ada").outcome == "added"


def test_a_store_of_a_newer_version_is_refused_untouched(filled: Path, open_memory: Open) -> None:
    with sqlite3.connect(filled) as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()
    before = filled.read_bytes()

    with pytest.raises(StoreVersionError, match="99"):
        open_memory()

    assert filled.read_bytes() == before


def test_a_database_of_another_program_is_refused_untouched(
    tmp_path: Path, open_memory: Open
) -> None:
    path = tmp_path / "memory.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE recipes (name)")
    raw.close()
    before = path.read_bytes()

    with pytest.raises(StoreDamagedError, match="another program"):
        open_memory()

    assert path.read_bytes() == before


def test_a_locked_store_says_so_and_nothing_is_written(filled: Path, open_memory: Open) -> None:
    memory = open_memory(wait_s=0.05)
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreLockedError) as caught:
        memory.add("Late.", tenant="ada")
    asked = recall(memory, "Fact 7", tenant="ada", k=1)
    other.execute("ROLLBACK")
    other.close()

    assert "Nothing was written" in caught.value.hint
    assert asked[0].text.startswith("Fact 7")  # reading goes on
    assert memory.count(tenant="ada") == 200
    assert memory.add("Late.", tenant="ada").outcome == "added"


def test_a_full_disk_says_so_and_loses_nothing(filled: Path, open_memory: Open) -> None:
    """By design: SQLite is told how many pages there may be, which is what a full disk does."""
    memory = open_memory()
    pages = memory.database.read("PRAGMA page_count")[0][0]
    memory.database.read(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(StoreFullError) as caught:
        memory.add_all([f"More and more {n} {'x' * 500}" for n in range(50)], tenant="ada")

    assert "room" in caught.value.hint
    assert memory.count(tenant="ada") == 200
    assert check(memory, tenant="ada") == []
    memory.database.read(f"PRAGMA max_page_count = {pages + 1000}")
    assert memory.add("Room again.", tenant="ada").outcome == "added"


def test_a_store_may_be_opened_to_be_read_only(filled: Path, open_memory: Open) -> None:
    memory = open_memory(read_only=True)

    for write in (
        lambda: memory.add("x", tenant="ada"),
        lambda: memory.forget("m1", tenant="ada"),
        lambda: memory.clean(tenant="ada"),
        memory.compact,
    ):
        with pytest.raises(StoreReadOnlyError):
            write()

    assert recall(memory, "Fact 7", tenant="ada", k=1)[0].text.startswith("Fact 7")
    memory.close()


def test_a_place_that_is_none_is_refused(tmp_path: Path, open_memory: Open) -> None:
    for name in ("no/such/folder/memory.db", "."):
        with pytest.raises(StoreError) as caught:
            open_memory(name)
        assert caught.value.hint
    with pytest.raises(StoreError, match="no store"):
        open_memory("nothing.db", read_only=True)


def test_a_key_opens_its_own_store_only(open_memory: Open) -> None:
    memory = open_memory("sealed.db", key="绿茶 and bread")
    memory.add("Ada likes 绿茶.", tenant="ada")
    memory.close()
    open_memory("plain.db").close()

    for name, key in (("sealed.db", None), ("sealed.db", "wrong"), ("plain.db", "any"), ("n", "")):
        with pytest.raises(StoreKeyError):
            open_memory(name, key=key)
    again = open_memory("sealed.db", key="绿茶 and bread")
    assert [hit.text for hit in recall(again, "绿茶", tenant="ada")] == ["Ada likes 绿茶."]
    assert again.tenants() == ["ada"]
    assert check(again, tenant="ada") == []


def test_sealed_bytes_that_were_changed_are_noticed(open_memory: Open) -> None:
    memory = open_memory("sealed.db", key="k")
    memory.add("Ada likes tea.", tenant="ada")
    with memory.database.write():
        memory.database.run("UPDATE contents SET text = zeroblob(length(text))")

    with pytest.raises(StoreDamagedError):
        memory.records(tenant="ada")


def test_errors_are_the_kits_own(memory: LongTermMemory) -> None:
    """By design: one `except AgentkitError` is enough, and each says what to do."""
    assert issubclass(StoreFullError, StoreError)
    assert not issubclass(RecordError, StoreError)
    assert SetupError("x", hint="y").hint == "y"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "path of the store"),
        (5, "path of the store is 5"),
        (None, "path of the store is None"),
        (b"memory.db", "path of the store"),
        ("x\x00y", "NUL"),
        ("{tmp}/记忆\ud800.db", "half a character"),
        ("{tmp}/" + "x" * 300, "name too long"),
        ("{tmp}", "is a folder"),
        ("{tmp}/missing/memory.db", "no folder"),
    ],
)
def test_a_path_that_can_be_no_store_says_why(tmp_path: Path, path: object, said: str) -> None:
    """Found by a user: these came out as errors of Python, SQLite and the system."""
    place = path.replace("{tmp}", str(tmp_path)) if isinstance(path, str) else path

    with pytest.raises(StoreError, match=f"(?i){said}") as caught:
        LongTermMemory.open(place, embedder=ToyEmbedder())  # type: ignore[arg-type]

    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
@pytest.mark.parametrize("path", ["/dev/null", "/dev/full"])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_device_is_no_store(path: str, read_only: bool) -> None:
    with pytest.raises(StoreError, match="no file") as caught:
        LongTermMemory.open(path, embedder=ToyEmbedder(), read_only=read_only)

    assert "memory.db" in caught.value.hint


@pytest.mark.parametrize("kind", [str, Path])
def test_a_store_in_memory_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    monkeypatch.chdir(tmp_path)

    with LongTermMemory.open(kind(":memory:"), embedder=ToyEmbedder()) as memory:
        memory.add("Ada likes tea. 茶。", tenant="ada")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "said"),
    [(5, "not int"), (["a"], "not list"), ("", "empty"), (b"", "empty"), ("钥\ud800", "surrogate")],
)
def test_what_can_be_no_key_is_refused_and_makes_no_store(
    open_memory: Open, key: Any, said: str
) -> None:
    with pytest.raises(StoreKeyError, match=said) as caught:
        open_memory("m.db", key=key)

    assert "钥" not in str(caught.value)
    open_memory("m.db")  # the file was not sealed by the attempt
