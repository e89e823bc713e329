"""Forgetting is physical: the bytes are searched for in every file of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pytest

from agentkit.errors import RecordError, StoreLockedError
from agentkit.memory.database import Database, open_database
from agentkit.memory.keys import record_keys
from agentkit.memory.long import LongTermMemory
from agentkit.memory.maintenance import check
from agentkit.memory.recall import recall
from agentkit.memory.records import Draft
from tests.memory.conftest import Open, ToyEmbedder


def secret(number: int) -> str:
    """Return a sentence whose beginning, middle and end are unlike any other."""
    return f"Q{number:05d}begin the safe code 密码{number:05d}中 is kept by end{number:05d}Z"


def pieces(number: int) -> list[bytes]:
    """Return the parts of a secret, so that half a copy is found too."""
    sentence = secret(number)
    return [
        sentence.encode(),
        f"Q{number:05d}begin".encode(),
        f"密码{number:05d}中".encode(),
        f"end{number:05d}Z".encode(),
    ]


def traces(memory: LongTermMemory, number: int, vector: bytes) -> list[str]:
    """Return which of a secret's text, words, keys and vector stand in which file."""
    keys = record_keys(Draft(secret(number)), memory.seal.secret)
    codes = [keys.words[i : i + 1].tobytes()[:8] for i in range(len(keys.words))]
    common = set()
    for other in (0, 1, 2):
        if other != number:
            held = record_keys(Draft(secret(other)), memory.seal.secret).words
            common |= {held[i : i + 1].tobytes()[:8] for i in range(len(held))}
    needles = [*pieces(number), vector, *(c for c in codes if c not in common)]
    return [f"{needle!r} in {path}" for needle in needles for path in memory.files_with(needle)]


def vector_of(number: int) -> bytes:
    return ToyEmbedder().embed([secret(number)])[0].astype("<f2").tobytes()


@pytest.mark.parametrize("among", [1, 300])
def test_no_file_holds_a_forgotten_sentence(open_memory: Open, among: int) -> None:
    """By design: text, words, keys and vector; with the journal open and after closing."""
    memory = open_memory()
    ids = [memory.add(secret(number), tenant="ada").record.id for number in range(among)]
    number = among // 2
    present = traces(memory, number, vector_of(number))

    memory.forget(ids[number], tenant="ada")

    assert len(present) >= 8
    assert traces(memory, number, vector_of(number)) == []
    memory.close()
    assert traces(memory, number, vector_of(number)) == []
    assert check(open_memory(), tenant="ada") == []


def test_what_was_rewritten_before_leaves_no_copy_either(open_memory: Open) -> None:
    """By design: rows that change again and again must not leave older copies of the text."""
    memory = open_memory()
    ids = [memory.add(secret(number), tenant="ada").record.id for number in range(120)]
    for turn in range(3):
        for one in ids:
            memory.update_importance(one, (turn + 1) / 7, tenant="ada")
    for one in ids[::3]:
        memory.forget(one, tenant="ada")
    for number in range(200, 260):
        memory.add(secret(number), tenant="ada")
    for one in ids[1::3]:
        memory.forget(one, tenant="ada")

    left = [n for n in range(120) if n % 3 < 2 and traces(memory, n, vector_of(n))]

    assert {n: traces(memory, n, vector_of(n)) for n in left} == {}
    assert memory.count(tenant="ada") == 100


def test_older_forms_and_shared_sources_go_too(memory: LongTermMemory) -> None:
    """By design: what was superseded, and the sentence inside other records' sources."""
    page = f"Minutes. {secret(2)} The rest of the page is about bread."
    memory.add(Draft(secret(1), subject="code"), tenant="ada")
    newest = memory.add(Draft(secret(2), subject="code", raw=page), tenant="ada").record
    bread = memory.add(Draft("The page is about bread.", raw=page), tenant="ada").record

    gone = memory.forget(newest.id, tenant="ada")

    assert len(gone.ids) == 2
    assert not any(traces(memory, n, vector_of(n)) for n in (1, 2))
    assert "Minutes" not in memory.get(bread.id, tenant="ada").draft.raw  # it was the same source
    assert memory.get(bread.id, tenant="ada").text == "The page is about bread."


def test_a_source_keeps_what_is_not_forgotten(memory: LongTermMemory) -> None:
    page = f"她说：{secret(2)}。面包三块钱。"
    bread = memory.add(Draft("面包三块钱。", raw=page), tenant="ada").record
    other = memory.add(secret(2), tenant="ada").record

    memory.forget(other.id, tenant="ada")

    raw = memory.get(bread.id, tenant="ada").draft.raw
    assert raw.startswith("她说：[forgotten]")
    assert raw.endswith("。面包三块钱。")
    assert traces(memory, 2, vector_of(2)) == []


def test_a_record_that_says_it_too_is_named(memory: LongTermMemory) -> None:
    short = memory.add("Ada likes tea", tenant="ada").record
    longer = memory.add("Ada likes tea and 面包", tenant="ada").record

    assert memory.forget(short.id, tenant="ada").still_in == (longer.id,)


def test_an_unknown_id_forgets_nothing(memory: LongTermMemory) -> None:
    held = memory.add("Ada likes tea", tenant="ada").record

    with pytest.raises(RecordError, match="m99"):
        memory.forget([held.id, "m99"], tenant="ada")

    assert memory.count(tenant="ada") == 1


def held_by_a_reader(memory: LongTermMemory) -> AbstractContextManager[Database]:
    """Return another process's view of the store, in the middle of reading it."""

    @contextmanager
    def reading() -> Iterator[Database]:
        reader = open_database(memory.database.path, read_only=True)
        with reader.snapshot():
            reader.read("SELECT count(*) FROM records")
            yield reader
        reader.close()

    return reading()


def test_a_reader_that_holds_the_journal_is_reported(open_memory: Open) -> None:
    """By design: the record is gone for every query, and `in_journal` says what is left."""
    memory = open_memory(wait_s=0.05)
    held = memory.add(secret(1), tenant="ada").record
    with held_by_a_reader(memory):
        gone = memory.forget(held.id, tenant="ada")
        with pytest.raises(StoreLockedError) as caught:
            memory.scrub()

    assert (gone.in_journal, gone.ids) == (True, (held.id,))
    assert gone.texts
    assert "scrub" in caught.value.hint
    assert len(recall(memory, "safe code", tenant="ada")) == 0
    memory.scrub()
    assert traces(memory, 1, vector_of(1)) == []


@pytest.mark.parametrize(
    "later",
    [lambda memory: memory.add("Ada likes tea", tenant="ada"), lambda memory: memory.close()],
    ids=["a later write", "closing"],
)
def test_the_journal_is_cut_once_nobody_reads(
    open_memory: Open, later: Callable[[LongTermMemory], object]
) -> None:
    """Found by a user: nobody called `scrub` later, so the bytes stayed for good.

    Another writer keeps the store open, so that closing alone does not drop the journal.
    """
    memory, other = open_memory(), open_memory()
    held = memory.add(secret(1), tenant="ada").record
    with held_by_a_reader(memory):
        assert memory.forget(held.id, tenant="ada").in_journal
        memory.add("Written while it is read.", tenant="ada")
        assert traces(other, 1, vector_of(1)) != []

    later(memory)

    assert traces(other, 1, vector_of(1)) == []


def test_a_tenant_goes_while_another_process_reads(open_memory: Open) -> None:
    memory = open_memory()
    memory.add(secret(1), tenant="ada")
    with held_by_a_reader(memory):
        assert memory.forget_tenant("ada").in_journal

    memory.add("Bob likes tea", tenant="bob")

    assert memory.tenants() == ["bob"]
    assert traces(memory, 1, vector_of(1)) == []


def test_compacting_gives_the_room_back(open_memory: Open) -> None:
    memory = open_memory()
    other = open_memory()
    ids = [w.record.id for w in memory.add_all([secret(n) for n in range(900)], tenant="ada")]
    recall(other, "safe", tenant="ada")
    memory.scrub()
    (size,) = {path.stat().st_size for path in memory.database.files() if path.suffix == ".db"}

    memory.forget(ids[:-1], tenant="ada")
    memory.compact()

    (smaller,) = {path.stat().st_size for path in memory.database.files() if path.suffix == ".db"}
    assert smaller < size / 3
    assert [hit.id for hit in recall(other, "safe", tenant="ada")] == [ids[-1]]
    assert check(memory, tenant="ada") == check(other, tenant="ada") == []


def test_an_encrypted_store_holds_no_word_and_forgets_too(open_memory: Open) -> None:
    memory = open_memory("sealed.db", key="correct horse 马")
    held = memory.add(Draft(secret(1), raw="raw 来源", subject="the code"), tenant="ada-tenant")
    vector = np.frombuffer(vector_of(1), "<f2")

    assert not any(memory.files_with(piece) for piece in pieces(1))
    assert not any(memory.files_with(word) for word in ("来源", "the code", "ada-tenant"))
    assert memory.files_with(vector.tobytes()) == []
    stored = memory.database.read("SELECT text FROM contents")[0][0]
    assert memory.files_with(stored)
    memory.forget(held.record.id, tenant="ada-tenant")
    assert memory.files_with(stored) == []
