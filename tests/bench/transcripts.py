"""How fast, and in how little memory, `agentkit window` reads a large transcript.

    python tests/bench/transcripts.py [MB] [--keep FILE]

Writes a Claude Code transcript of that many megabytes (100), half English code and half
Chinese and English talk, and reports on it in a process of its own. Beside it, in turns:
the time to tokenise the text of its messages once. Both hold the loading of the vocabulary.
At the end: the ratio of the two, and how far the totals are from those of the whole text.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

RUNS = 3  # of each, in turns: the machine is busy at times
WORDS = (
    "def return import self index table queue worker retry cache report order user plan async "
    "await class None True response request payload handler schema column migration timeout "
    "error value result config parser stream socket thread lock shard token window budget"
).split()
HAN = "下周要完成结项报告重点是性能测试部分请先检查数据库连接再决定是否升级版本用户订单状态"


def code(random_: random.Random, lines: int) -> str:
    """Return something that looks like the text of a source file."""
    out = []
    for number in range(1, lines + 1):
        words = random_.choices(WORDS, k=random_.randint(3, 9))
        indent = " " * 4 * random_.randint(0, 3)
        out.append(
            f"{number:>6}→{indent}{words[0]} {words[1]}_{number % 97}({', '.join(words[2:])})"
        )
    return "\n".join(out)


def talk(random_: random.Random) -> str:
    """Return a sentence or two, in English or Chinese."""
    if random_.random() < 0.5:
        return "".join(random_.choices(HAN, k=random_.randint(20, 160))) + "。"
    return " ".join(random_.choices(WORDS, k=random_.randint(8, 60))) + "."


def entries(size_bytes: int) -> Iterator[tuple[str, str]]:
    """Yield lines of a transcript and the text of their messages."""
    random_, written, number = random.Random(7), 0, 0
    head = {"isSidechain": False, "cwd": "/home/dev/shop", "sessionId": "5e0f", "version": "2.0.74"}
    parent = None
    while written < size_bytes:
        number += 1
        call = f"toolu_{number}"
        if number % 12 == 1:
            text = talk(random_)
            message: dict[str, object] = {"role": "user", "content": text}
            steps = [("user", message, text, {})]
        else:
            said, result = talk(random_), code(random_, random_.randint(20, 260))
            path = f"app/module_{number % 400}.py"
            blocks = [
                {"type": "text", "text": said},
                {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}},
            ]
            usage = {
                "input_tokens": 4,
                "cache_creation_input_tokens": random_.randint(200, 4_000),
                "cache_read_input_tokens": random_.randint(10_000, 150_000),
                "output_tokens": random_.randint(40, 400),
            }
            answer = {
                "id": f"msg_{number}",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": blocks,
                "usage": usage,
            }
            back = {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call, "content": result}],
            }
            extra = {"toolUseResult": {"file": {"filePath": path, "numLines": 9}}}
            steps = [("assistant", answer, said, {}), ("user", back, result, extra)]
        for kind, message, text, more in steps:
            uuid = f"{number:08x}-{kind}"
            entry = {"parentUuid": parent, **head, "type": kind, "message": message, "uuid": uuid}
            line = json.dumps({**entry, **more}, ensure_ascii=False)
            parent = uuid
            written += len(line.encode()) + 1
            yield line, text


MEASURED = """
import contextlib, io, json, sys, time
from pathlib import Path
from agentkit.report.command import run_window
start, cpu = time.perf_counter(), time.process_time()
out = io.StringIO()
with contextlib.redirect_stdout(out):
    run_window(Path(sys.argv[1]), as_json_=True)
spent = time.perf_counter() - start, time.process_time() - cpu
parts = {line["name"]: line["tokens"] for line in json.loads(out.getvalue())["sections"]}
print(sum(n for name, n in parts.items() if name != "tool calls"), *spent, end=" ")
"""
TOKENISED = """
import sys, time
from agentkit.tokens import MESSAGE_OVERHEAD, Counter
texts = open(sys.argv[1], encoding="utf-8").read().split("\\x00")
start, cpu = time.perf_counter(), time.process_time()
count = Counter.for_model("claude-sonnet-4-5")
total = sum(count.once(text) + MESSAGE_OVERHEAD for text in texts if text)
print(total, time.perf_counter() - start, time.process_time() - cpu, end=" ")
"""
PEAK = """
import sys
try:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(peak / (1024 * 1024 if sys.platform == "darwin" else 1024))
except ImportError:
    print(float("nan"))
"""


def measured(program: str, path: Path) -> tuple[float, float, float, float]:
    """Return tokens, seconds of wall, seconds of CPU and peak MB of a program of its own."""
    command = [sys.executable, "-c", program + PEAK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    tokens, wall, cpu, peak = map(float, done.stdout.split()[-4:])
    return tokens, wall, cpu, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mb", nargs="?", type=int, default=100)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "large.jsonl"
        texts = Path(folder) / "texts"
        chars = 0
        with (
            path.open("w", encoding="utf-8", newline="\n") as file,
            texts.open("w", encoding="utf-8", newline="\n") as only_text,
        ):
            for line, text in entries(options.mb * 1_000_000):
                file.write(line + "\n")
                only_text.write(text + "\x00")
                chars += len(text)
        print(
            f"{path.stat().st_size / 1e6:.0f} MB of JSONL, {chars / 1e6:.0f} M characters of text"
        )
        print(f"{'':<28}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}")
        spent, tokens = [0.0, 0.0], [0.0, 0.0]
        for _ in range(RUNS):
            for at, (name, program, file) in enumerate(
                (
                    ("agentkit window", MEASURED, path),
                    ("tokenise the text once", TOKENISED, texts),
                )
            ):
                tokens[at], wall, cpu, peak = measured(program, file)
                spent[at] += cpu
                print(f"{name:<28}{wall:>8.1f}{cpu:>8.1f}{peak:>9.0f}")
        print(f"CPU ratio {spent[0] / spent[1]:.2f}, tokens {tokens[0] / tokens[1] - 1:+.2%}")


if __name__ == "__main__":
    main()
