"""What a store needs now and then: new vectors, new indexes, and a look for differences.

    reembed()  texts ──▶ the vectors of a new embedder, batch by batch
    rebuild()  texts ──▶ the keys of every record
    check()    rows  ══  index?          (an empty list: no difference)

None of it is needed in a normal life: indexes follow the rows by themselves.

Read after: long.py.     Read next: recall.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentkit.memory.keys import record_keys
from agentkit.memory.long import LongTermMemory
from agentkit.memory.records import check_tenant
from agentkit.memory.rows import SELECT_RECORD, batches, marks, record
from agentkit.memory.stored_vectors import REEMBED_BATCH, Progress


def reembed(memory: LongTermMemory, *, progress: Progress | None = None) -> int:
    """Make every vector that is missing; return how many were made.

    It may be stopped at any time and called again: each batch is on the disk before the
    next begins, and what has a vector is left alone. When all have one, the vectors of
    former embedders are removed.

    Args:
        memory: The store.
        progress: Called with (done, all) after each batch.

    Raises:
        EmbedderError: The embedder failed; what was made before stays.
    """
    waiting = memory.vectors.waiting()
    for start in range(0, len(waiting), REEMBED_BATCH):
        fill(memory, waiting[start : start + REEMBED_BATCH])
        if progress is not None:
            progress(min(start + REEMBED_BATCH, len(waiting)), len(waiting))
    memory.vectors.drop_former()
    return len(waiting)


def fill(memory: LongTermMemory, numbers: Sequence[int]) -> None:
    """Make the vectors of these rows, and mark the rows as changed."""

    def changed(rows: Sequence[int]) -> None:
        for some in batches(rows):
            tenants = memory.database.read(
                f"SELECT DISTINCT tenant FROM records WHERE number IN ({marks(some)})", some
            )
            for (tenant,) in tenants:
                memory.database.run(
                    "UPDATE tenants SET changes = changes + 1 WHERE number = ?", (tenant,)
                )
            memory.database.run(
                "UPDATE records SET changed = (SELECT changes FROM tenants t"
                f" WHERE t.number = records.tenant) WHERE number IN ({marks(some)})",
                some,
            )

    memory.vectors.fill(numbers, changed)


def rebuild(memory: LongTermMemory) -> int:
    """Make the keys of every record anew from its text; return how many had changed."""
    mended = 0
    for name in memory.tenants():
        with memory.database.write():
            for number, held, words, exact in _with_keys(memory, name):
                keys = record_keys(held.draft, memory.seal.secret)
                if (keys.words.tobytes(), keys.exact.tobytes()) == (words, exact):
                    continue
                mended += 1
                memory.database.run(
                    "UPDATE contents SET words = ?, exact = ? WHERE number = ?",
                    (
                        memory.seal.close(keys.words.tobytes()),
                        memory.seal.close(keys.exact.tobytes()),
                        number,
                    ),
                )
            memory.indexes.renumber()
    if mended:  # rows of another size may have left copies behind
        memory.compact()
    return mended


def check(memory: LongTermMemory, *, tenant: str) -> list[str]:
    """Return every difference between what the index says and what the rows say."""
    name = check_tenant(tenant)
    with memory.database.snapshot():
        found = memory.indexes.at(name)
        at = memory.indexes.tenants.find(name)
        if found is None or at is None:
            return []
        shown, true = found.snapshot(), memory.indexes.fresh(at).snapshot()
        differences = [
            f"{part} {key}: the index has {shown[part].get(key)}, the rows {true[part].get(key)}"
            for part in sorted(true)
            for key in sorted(shown[part].keys() | true[part].keys())
            if shown[part].get(key) != true[part].get(key)
        ]
        for _, held, words, exact in _with_keys(memory, name):
            keys = record_keys(held.draft, memory.seal.secret)
            if (keys.words.tobytes(), keys.exact.tobytes()) != (words, exact):
                differences.append(f"record {held.id}: its keys are not those of its text")
    return differences


def _with_keys(memory: LongTermMemory, tenant: str) -> list[Any]:
    """Return (row, record, words, exact) of all records of a tenant."""
    at = memory.indexes.tenants.find(tenant)
    sql = SELECT_RECORD.replace("c.about ", "c.about, c.words, c.exact ")
    rows = memory.database.read(
        f"{sql} WHERE r.tenant = ? AND r.id IS NOT NULL", (at.number if at else -1,)
    )
    return [
        (
            row[0],
            record(row, tenant, memory.seal),
            memory.seal.open(row[12]),
            memory.seal.open(row[13]),
        )
        for row in rows
    ]
