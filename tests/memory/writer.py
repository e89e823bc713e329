"""A process that remembers and forgets until it is done or killed; the tests start it.

    python -m tests.memory.writer FILE NAME COUNT

It prints "+ id text" when a record is acknowledged, "? id" when it begins to forget one,
and "- id" when that is acknowledged.
"""

from __future__ import annotations

import sys

from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.long import LongTermMemory


def main() -> None:
    path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    memory = LongTermMemory.open(path, embedder=HashedEmbedder(), wait_s=60)
    kept: list[str] = []
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        text = f"Fact {number} of {name}: 绿茶 costs {number} crowns."
        kept.append(memory.add(text, tenant="ada").record.id)
        print(f"+ {kept[-1]} {text}", flush=True)
        if number % 4 == 3:
            gone = kept.pop(0)
            print(f"? {gone}", flush=True)
            memory.forget(gone, tenant="ada")
            print(f"- {gone}", flush=True)
    memory.close()


if __name__ == "__main__":
    main()
