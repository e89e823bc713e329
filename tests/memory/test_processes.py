"""Processes that die or work at once: no acknowledged record is lost, no forgotten one lives."""

from __future__ import annotations

from pathlib import Path

from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.maintenance import check
from agentkit.memory.recall import recall
from tests.memory.conftest import Open
from tests.memory.processes import finish, go, kill_after, start


def test_ten_kills_in_the_middle_of_writes_lose_nothing(tmp_path: Path, open_memory: Open) -> None:
    """By design: kill -9; tests/bench/kill_memory.py does it 200 times."""
    path = tmp_path / "memory.db"
    kept: dict[str, str] = {}
    forgotten: set[str] = set()
    for turn in range(10):
        writer = start(path, f"turn{turn}", 10_000)
        go(writer)
        found = kill_after(writer, 5 + 3 * turn)
        kept |= found.kept
        forgotten |= found.forgotten

    memory = open_memory(embedder=HashedEmbedder())
    held = {record.id: record.text for record in memory.records(tenant="ada")}

    assert {one: held.get(one) for one in kept} == kept
    assert not forgotten & set(held)
    assert len(held) - len(kept) <= 10  # at most one a kill was done and not yet told
    assert check(memory, tenant="ada") == []
    assert len(recall(memory, "绿茶", tenant="ada", k=1000)) == len(held)


def test_two_processes_write_and_forget_at_once(tmp_path: Path, open_memory: Open) -> None:
    """By design: 120 writes each, and a third process that asks all the while sees no mixture."""
    path = tmp_path / "memory.db"
    watcher = open_memory(embedder=HashedEmbedder())
    watcher.add("The watcher was here first.", tenant="ada")
    writers = [start(path, name, 120) for name in ("one", "two")]
    for writer in writers:
        go(writer)
    for _ in range(20):
        seen = recall(watcher, "Fact of 绿茶", tenant="ada", k=5)
        assert all(hit.record.current for hit in seen)
    found = [finish(writer) for writer in writers]

    expected = found[0].kept | found[1].kept
    held = {record.id: record.text for record in watcher.records(tenant="ada")}

    assert len(expected) == 2 * (120 - 30)
    assert {one: held.get(one) for one in expected} == expected
    assert len(held) == len(expected) + 1
    assert check(watcher, tenant="ada") == []
    assert len(recall(watcher, "绿茶", tenant="ada", k=1000)) == len(expected)
