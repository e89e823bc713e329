"""What the tests of memory share: a fast embedder, a store in a folder, a clock that counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from agentkit.clock import FixedClock
from agentkit.memory.long import LongTermMemory
from agentkit.text import terms

DIMENSION = 48


class ToyEmbedder:
    """Words at hashed places, as fast as a test needs; says it is semantic."""

    semantic = True

    def __init__(self, name: str = "toy", dimension: int = DIMENSION) -> None:
        self.name = name
        self.dimension = dimension
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.texts.extend(texts)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(f"{self.name} {text}", unigrams=True):
                row[blake2b(term.encode(), digest_size=2).digest()[0] % self.dimension] += 1
            own = blake2b(text.encode(), digest_size=self.dimension).digest()
            row += np.frombuffer(own, np.uint8) / 10_000  # no two texts have one vector
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


Open = Callable[..., LongTermMemory]


@pytest.fixture
def toy() -> ToyEmbedder:
    """Return a fresh embedder that notes what it was asked."""
    return ToyEmbedder()


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Open]:
    """Return what opens the store of this test; all are closed at its end."""
    opened: list[LongTermMemory] = []

    def open_memory(name: str = "memory.db", **options: object) -> LongTermMemory:
        options.setdefault("embedder", ToyEmbedder())
        options.setdefault("clock", FixedClock())
        place = name if name == ":memory:" else tmp_path / name
        opened.append(LongTermMemory.open(place, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_memory
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Open) -> LongTermMemory:
    """Return an empty store."""
    return open_memory()
