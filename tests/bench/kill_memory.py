"""Kill a writer of memory 200 times (kill -9) and look whether an acknowledged record is lost.

python tests/bench/kill_memory.py [KILLS]
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.long import LongTermMemory
from agentkit.memory.maintenance import check
from tests.memory.processes import go, kill_after, start


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    dice = random.Random(3)
    kept: dict[str, str] = {}
    forgotten: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        for turn in range(kills):
            writer = start(path, f"turn{turn}", 10_000)
            go(writer)
            found = kill_after(writer, dice.randint(1, 25))
            kept |= found.kept
            forgotten |= found.forgotten
        with LongTermMemory.open(path, embedder=HashedEmbedder()) as memory:
            held = {record.id: record.text for record in memory.records(tenant="ada")}
            differences = check(memory, tenant="ada")
    lost = [one for one, text in kept.items() if held.get(one) != text]
    back = forgotten & set(held)
    print(f"{kills} kills, {len(kept)} acknowledged records kept, {len(lost)} lost")
    print(f"{len(forgotten)} forgotten, {len(back)} came back; {len(differences)} differences")
    sys.exit(bool(lost or back or differences))


if __name__ == "__main__":
    main()
