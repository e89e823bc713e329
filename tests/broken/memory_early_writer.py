"""A writer that acknowledges a record before it is on the disk, as a buffer would."""

from __future__ import annotations

import sys

from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.long import LongTermMemory

BUFFER = 50


def main() -> None:
    memory = LongTermMemory.open(sys.argv[1], embedder=HashedEmbedder())
    print("ready", flush=True)
    sys.stdin.readline()
    waiting: list[str] = []
    for number in range(int(sys.argv[3])):
        waiting.append(f"Fact {number} of {sys.argv[2]}.")
        print(f"+ m{number} {waiting[-1]}", flush=True)
        if len(waiting) == BUFFER:
            sys.stdin.readline()  # stands still here, so that the kill always comes first
            memory.add_all(waiting, tenant="ada")


if __name__ == "__main__":
    main()
