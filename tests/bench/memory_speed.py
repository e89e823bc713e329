"""How fast memory is, beside what people use today. CPU time, so a busy machine may run it.

    python tests/bench/memory_speed.py [--sizes 1000,10000,100000] [--peers all] [--json FILE]

Texts are made up: 12 to 39 words by Zipf's law, so that rare and common words stand in
proportion. Vectors are made beforehand (300 clusters, 512 dimensions), so embedding is in
no figure. Each system adds one record at a time where it can, and answers the same 60
questions with k = 20. Peers are no dependencies: install those you want to see into an
environment of your own (langgraph, langgraph-checkpoint-sqlite, pysqlite3-binary, chromadb,
mem0ai). One that is not installed is named and left out, and so is one that would add for
more than three minutes by its own rate at the size before.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

DIMENSION, CLUSTERS, VOCABULARY, QUERIES, K = 512, 300, 30_000, 60, 20
SMALL = 300  # records that fill SQLite's page cache and one batch of loading: what costs once
PEER_LIMIT_S = 60.0  # CPU seconds that a peer may take to add; then the rate so far counts
LEFT_OUT_S = 180.0  # a peer that would add for longer is left out


class Work:
    """Texts, vectors and questions, the same for every system and every run."""

    def __init__(self, size: int) -> None:
        random = np.random.default_rng(7)
        letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        words = ["".join(random.choice(letters, 4 + i % 6)) for i in range(VOCABULARY)]
        odds = 1 / np.arange(1, VOCABULARY + 1)
        odds /= odds.sum()
        count = size + 200 + QUERIES
        lengths = random.integers(12, 40, count)
        lengths[-QUERIES:] = random.integers(4, 9, QUERIES)
        picked = random.choice(VOCABULARY, int(lengths.sum()), p=odds)
        ends = np.cumsum(lengths)
        texts = [
            " ".join(words[i] for i in picked[end - n : end])
            for end, n in zip(ends, lengths, strict=True)
        ]
        centres = random.standard_normal((CLUSTERS, DIMENSION), np.float32)
        rows = centres[random.integers(0, CLUSTERS, count)]
        rows = rows + 0.8 * random.standard_normal((count, DIMENSION), np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        self.texts, self.extra = texts[:size], texts[size : size + 200]
        self.queries = texts[-QUERIES:]
        self.rows = rows.astype(np.float32)
        self.row_of = dict(zip(texts, range(count), strict=True))


class Precomputed:
    """An embedder that knows every text of the work beforehand."""

    name = "precomputed"
    dimension = DIMENSION
    semantic = True

    def __init__(self, work: Work) -> None:
        self._work = work

    def embed(self, texts: Sequence[str]) -> Any:
        return self._work.rows[[self._work.row_of[text] for text in texts]]


def cpu_ms(call: Callable[[], object]) -> float:
    """Return the CPU milliseconds of one call, all threads of the process."""
    start = time.process_time()
    call()
    return 1000 * (time.process_time() - start)


def memory_mb() -> float:
    """Return this process's own memory now, without files (Linux), or its greatest so far."""
    try:
        resident, files = Path("/proc/self/statm").read_text(encoding="ascii").split()[1:3]
        return (int(resident) - int(files)) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def adds(texts: Sequence[str], add: Callable[[str], object], limit_s: float = 1e9) -> float:
    """Add texts one at a time; return adds a CPU-second."""
    start = time.process_time()
    done = 0
    while done < len(texts) and time.process_time() - start < limit_s:
        add(texts[done])
        done += 1
    return done / (time.process_time() - start)


def ours(work: Work) -> Iterator[tuple[str, float]]:
    """Measure agentkit."""
    from agentkit.memory.long import LongTermMemory
    from agentkit.memory.recall import recall

    size = len(work.texts)
    embedder = Precomputed(work)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        memory = LongTermMemory.open(path, embedder=embedder)
        recall(memory, work.queries[0], tenant="t")
        if size <= 10_000:
            yield "adds a CPU-second", adds(work.texts, lambda t: memory.add(t, tenant="t"))
        else:
            ms = cpu_ms(lambda: memory.add_all(work.texts, tenant="t"))
            yield "adds a CPU-second, in one batch", 1000 * size / ms
        memory.close()

        once = beyond_vectors_mb(Path(folder) / "small.db", work.texts[:SMALL], embedder)
        yield f"memory beyond vectors at {SMALL}, MB", once
        grown = memory_of(path) - 4e-6 * DIMENSION * size
        yield "memory beyond vectors, MB", grown
        if size > SMALL:
            yield "bytes a record more", 1e6 * (grown - once) / (size - SMALL)
        memory = LongTermMemory.open(path, embedder=embedder)
        yield (
            "open and first recall, CPU ms",
            cpu_ms(lambda: recall(memory, work.queries[0], tenant="t", k=K)),
        )
        recall(memory, work.queries[1], tenant="t", k=K)
        times = [cpu_ms(lambda q=q: recall(memory, q, tenant="t", k=K)) for q in work.queries]
        yield "recall, median CPU ms", statistics.median(times)
        more = [cpu_ms(lambda t=t: memory.add(t, tenant="t")) for t in work.extra]
        yield "one more, mean CPU ms", statistics.mean(more)
        recall(memory, work.queries[0], tenant="t")
        one = memory.records(tenant="t", limit=20)
        gone = [cpu_ms(lambda r=r: memory.forget(r.id, tenant="t")) for r in one]
        yield "forget one, median CPU ms", statistics.median(gone)
        yield "file, MB", path.stat().st_size / 1e6
        memory.close()


def beyond_vectors_mb(path: Path, texts: Sequence[str], embedder: Precomputed) -> float:
    """Return what a store of these texts takes in memory beyond its vectors."""
    from agentkit.memory.long import LongTermMemory

    with LongTermMemory.open(path, embedder=embedder) as memory:
        memory.add_all(texts, tenant="t")
    return memory_of(path) - 4e-6 * DIMENSION * len(texts)


def memory_of(path: Path) -> float:
    """Return how much a process of its own grows by a store, in MB; the median of three."""
    command = [sys.executable, __file__, "--memory-of", str(path)]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(3)]
    return statistics.median(float(run.stdout) for run in runs)


def grown_mb(path: str) -> float:
    """Return how much a fresh process grows by loading a store, once the code is warm."""
    from agentkit.memory.long import LongTermMemory
    from agentkit.memory.recall import recall

    class Fixed:
        name, dimension, semantic = Precomputed.name, DIMENSION, True

        def embed(self, texts: Sequence[str]) -> Any:
            return np.full((len(texts), DIMENSION), DIMENSION**-0.5, np.float32)

    with LongTermMemory.open(":memory:", embedder=Fixed()) as small:
        small.add("one", tenant="t")
        recall(small, "one", tenant="t")
    gc.collect()
    before = memory_mb()
    memory = LongTermMemory.open(path, embedder=Fixed(), read_only=True)
    recall(memory, "one", tenant="t")
    gc.collect()
    return memory_mb() - before


def tenants(work: Work) -> Iterator[tuple[str, float]]:
    """Measure agentkit with 100 tenants of 1,000 records each."""
    from agentkit.memory.long import LongTermMemory
    from agentkit.memory.recall import recall

    with tempfile.TemporaryDirectory() as folder:
        memory = LongTermMemory.open(Path(folder) / "memory.db", embedder=Precomputed(work))
        share = len(work.texts) // 100
        for number in range(100):
            texts = work.texts[number * share : (number + 1) * share]
            memory.add_all(texts, tenant=f"t{number}")
        first = cpu_ms(lambda: recall(memory, work.queries[0], tenant="t50", k=K))
        yield "first recall of a tenant, CPU ms", first
        times = [cpu_ms(lambda q=q: recall(memory, q, tenant="t50", k=K)) for q in work.queries]
        yield "recall, median CPU ms", statistics.median(times)
        memory.close()


def rank_bm25_and_faiss(work: Work) -> Iterator[tuple[str, float]]:
    """Measure what the notebook's reader builds: rank-bm25 and a flat faiss index."""
    import faiss
    from rank_bm25 import BM25Okapi

    faiss.omp_set_num_threads(1)
    tokens = [text.split() for text in work.texts]
    size = len(tokens)
    start = time.process_time()
    keyword = BM25Okapi(tokens)
    rebuild = 1000 * (time.process_time() - start)
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(work.rows[:size])
    yield "one more, mean CPU ms", rebuild

    def query(text: str) -> None:
        words = keyword.get_scores(text.split())
        row = work.rows[work.row_of[text]][None, :]
        near, places = index.search(row, min(200, size))
        total = words / max(words.max(), 1e-9)
        total[places[0]] += near[0]
        np.argpartition(total, size - K)

    times = [cpu_ms(lambda q=q: query(q)) for q in work.queries]
    yield "recall, median CPU ms", statistics.median(times)


def langgraph(work: Work) -> Iterator[tuple[str, float]]:
    """Measure LangGraph's in-memory store, which no process outlives."""
    from langgraph.store.memory import InMemoryStore

    yield from langgraph_store(InMemoryStore(index=langgraph_index(work)), work)


def langgraph_sqlite(work: Work) -> Iterator[tuple[str, float]]:
    """Measure LangGraph's SQLite store; it needs an sqlite3 that loads extensions."""
    import pysqlite3
    from langgraph.store.sqlite import SqliteStore

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/store.db"
        connection = pysqlite3.connect(path, check_same_thread=False, isolation_level=None)
        store = SqliteStore(connection, index=langgraph_index(work))
        store.setup()
        yield from langgraph_store(store, work)
        connection.close()


def langgraph_index(work: Work) -> dict[str, Any]:
    """Return how a LangGraph store finds the vectors that were made beforehand."""

    def embed(texts: Sequence[str]) -> list[list[float]]:
        bare = [json.loads(text)["text"] if text.startswith("{") else text for text in texts]
        return [work.rows[work.row_of[text]].tolist() for text in bare]

    return {"dims": DIMENSION, "embed": embed, "fields": ["text"]}


def langgraph_store(store: Any, work: Work) -> Iterator[tuple[str, float]]:
    """Measure either of LangGraph's stores."""
    ids = iter(range(10**9))

    def add(text: str) -> None:
        store.put(("t",), str(next(ids)), {"text": text})

    yield "adds a CPU-second", adds(work.texts, add, LEFT_OUT_S)
    few = work.queries[: QUERIES if len(work.texts) < 50_000 else 3]
    times = [cpu_ms(lambda q=q: store.search(("t",), query=q, limit=K)) for q in few]
    yield "recall, median CPU ms", statistics.median(times)


def chroma(work: Work) -> Iterator[tuple[str, float]]:
    """Measure Chroma on disk; adds stop after a minute of CPU."""
    import chromadb
    from chromadb.config import Settings

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = chromadb.PersistentClient(folder, Settings(anonymized_telemetry=False))
        table = client.create_collection("memories", embedding_function=None)

        def add(text: str) -> None:
            at = work.row_of[text]
            table.add(ids=[str(at)], documents=[text], embeddings=[work.rows[at].tolist()])

        yield "adds a CPU-second", adds(work.texts, add, PEER_LIMIT_S)

        def query(text: str) -> None:
            row = work.rows[work.row_of[text]].tolist()
            table.query(query_embeddings=[row], n_results=K)

        times = [cpu_ms(lambda q=q: query(q)) for q in work.queries]
        yield "records that were added", table.count()
        yield "recall, median CPU ms", statistics.median(times)


def mem0(work: Work) -> Iterator[tuple[str, float]]:
    """Measure mem0 with a local store, without its language model; a minute of CPU."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("OPENAI_API_KEY", "none")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["MEM0_DIR"] = folder
        from mem0 import Memory

        store = {"collection_name": "t", "path": f"{folder}/q", "embedding_model_dims": DIMENSION}
        memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": {**store, "on_disk": True}},
                "history_db_path": f"{folder}/history.db",
            }
        )

        class Model:
            def embed(self, text: str, *_: object, **__: object) -> list[float]:
                return list(work.rows[work.row_of[text]].tolist())

            def embed_batch(self, texts: Sequence[str], *_: object) -> list[list[float]]:
                return [self.embed(text) for text in texts]

        memory.embedding_model = Model()
        yield (
            "adds a CPU-second",
            adds(work.texts, lambda t: memory.add(t, user_id="t", infer=False), PEER_LIMIT_S),
        )
        times = [
            cpu_ms(lambda q=q: memory.search(q, filters={"user_id": "t"}, top_k=K))
            for q in work.queries
        ]
        yield "recall, median CPU ms", statistics.median(times)


PEERS: dict[str, Callable[[Work], Iterator[tuple[str, float]]]] = {
    "rank-bm25 + faiss": rank_bm25_and_faiss,
    "langgraph, in memory": langgraph,
    "langgraph, sqlite": langgraph_sqlite,
    "chroma": chroma,
    "mem0": mem0,
}


class Report:
    """Prints each figure as it is measured, and keeps all of them."""

    def __init__(self) -> None:
        self.found: list[dict[str, object]] = []
        self._rates: dict[str, float] = {}

    def measure(self, system: str, size: int, figures: Iterator[tuple[str, float]]) -> None:
        """Take the figures of one system; say so when it is not installed."""
        try:
            for name, value in figures:
                figure = {"system": system, "size": size, "figure": name, "value": value}
                self.found.append(figure)
                print(f"{system:20} {size:>7}  {name:36} {value:>12,.2f}", flush=True)
                if name == "adds a CPU-second":
                    self._rates[system] = value
        except ImportError as error:
            print(f"{system:20} {size:>7}  not installed ({error.name})", flush=True)

    def peer(self, system: str, work: Work) -> None:
        """Measure a peer, unless its own rate says that it would add for too long."""
        size = len(work.texts)
        needs = size / self._rates.get(system, float("inf"))
        if needs > LEFT_OUT_S:
            print(f"{system:20} {size:>7}  left out: it would add for about {needs:,.0f} CPU s")
        else:
            self.measure(system, size, PEERS[system](work))


def main() -> None:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument(
        "--peers", default="rank-bm25 + faiss", help="'all', or names with ';' between"
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.memory_of:
        print(grown_mb(chosen.memory_of))
        return
    peers = list(PEERS if chosen.peers == "all" else filter(None, chosen.peers.split(";")))
    report = Report()
    for size in map(int, chosen.sizes.split(",")):
        work = Work(size)
        report.measure("agentkit", size, ours(work))
        if size >= 100_000:
            report.measure("agentkit, 100 tenants", size, tenants(work))
        for peer in peers:
            report.peer(peer, work)
    if chosen.json:
        chosen.json.write_text(json.dumps(report.found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
