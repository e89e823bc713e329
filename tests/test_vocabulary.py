"""Counts are tiktoken's own, and texts that stop tiktoken are counted too."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from agentkit import vocabulary
from agentkit.errors import SetupError
from agentkit.vocabulary import LONG, RUN_BLOCK, SHIPPED, load_vocabulary
from tests.histories import STEADY

PIECES = [
    "report ",
    "报告",
    "，",
    "🙂",
    "👩‍👩‍👧‍👦",
    "\n\n",
    "  ",
    "12345",
    "don't",
    "é",
    "<|endoftext|>",
]
MIXED = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=30).map("".join)


def by_tiktoken(text: str, name: str = "o200k_base") -> int:
    return len(tiktoken.get_encoding(name).encode_ordinary(text))


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "note for next week: finish the project report, focus on the performance tests",
        "帮我记一下：下周要完成结项报告，重点是性能测试部分",
        "<|endoftext|> is text when a user types it",
        "🙂🙂 e\u0301 \u202e",
    ],
)
def test_short_texts_count_as_in_tiktoken(name: str, text: str) -> None:
    """By reference: tiktoken."""
    assert load_vocabulary(name).count(text) == by_tiktoken(text, name)


@STEADY
@given(MIXED)
def test_any_text_counts_as_in_tiktoken(text: str) -> None:
    """By reference: tiktoken."""
    assert load_vocabulary().count(text) == by_tiktoken(text)


@STEADY
@given(MIXED, st.sampled_from("a哈 \n7🙂-"), st.integers(0, 40))
def test_a_long_text_with_a_run_counts_as_in_tiktoken(text: str, character: str, more: int) -> None:
    """By reference: tiktoken. The run is long enough to be shortened, whatever is around it."""
    long = text + character * (3 * RUN_BLOCK + 1 + more) + text + " word" * (LONG // 5)

    assert load_vocabulary().count(long) == by_tiktoken(long)


BORDERS = [3 * RUN_BLOCK, 3 * RUN_BLOCK + 1, 4 * RUN_BLOCK + 5]  # tried by hand: up to 7 blocks


@pytest.mark.parametrize("around", [("报告", "。"), ("1 ", "\n2")])
@pytest.mark.parametrize("character", ["a", "哈", " ", "\n", "\t", "7", "🙂", "-", "é", "\u3000"])
def test_runs_around_the_border_of_a_block_are_exact(
    character: str, around: tuple[str, str]
) -> None:
    """By reference: tiktoken."""
    before, after = around
    filler = " word" * (LONG // 5)  # only a long text is shortened
    for length in BORDERS:
        text = f"{before}{character * length}{after}{filler}"
        assert load_vocabulary().count(text) == by_tiktoken(text), length


@pytest.mark.parametrize("character", [" ", "\n", "\t", "a", "哈", "🙂", "0", "="])
def test_a_million_of_one_character_is_counted(character: str) -> None:
    """By hand: a run of this length is its blocks; tiktoken panics on that much white space."""
    vocabulary_ = load_vocabulary()
    blocks, rest = divmod(1_000_000, RUN_BLOCK)
    block = by_tiktoken(character * 2 * RUN_BLOCK) - by_tiktoken(character * RUN_BLOCK)

    tokens = vocabulary_.count(character * 1_000_000)

    assert tokens == (blocks - 1) * block + by_tiktoken(character * (RUN_BLOCK + rest))


def test_white_space_of_all_kinds_is_counted_in_parts() -> None:
    """By design: each part is at most one token off."""
    space = " \n\t\u3000" * 100_000

    tokens = load_vocabulary().count(f"a{space}b")

    part = by_tiktoken(" \n\t\u3000" * 10_000)
    assert abs(tokens - 10 * part) <= 30


def test_pieces_are_the_tokens_as_text() -> None:
    assert load_vocabulary().pieces("性能测试 tests") == ["性能", "测试", " tests"]
    assert load_vocabulary().pieces("🧾") == ["\ufffd"] * 3
    assert load_vocabulary().pieces("") == []


def test_the_shipped_files_are_the_ones_that_tiktoken_would_fetch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By reference: the sums that tiktoken itself checks (tiktoken_ext/openai_public.py)."""
    sums = {
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    }
    monkeypatch.setattr(vocabulary, "_folder", lambda: tmp_path)

    for name, file in SHIPPED.items():
        vocabulary._place(name)
        assert hashlib.sha256((tmp_path / file).read_bytes()).hexdigest() == sums[name]

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(SHIPPED.values())


def test_a_half_written_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_folder", lambda: tmp_path)
    target = tmp_path / SHIPPED["cl100k_base"]
    target.write_bytes(b"half")

    vocabulary._place("cl100k_base")

    assert target.stat().st_size > 1_000_000


def test_a_folder_of_the_users_own_is_respected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "mine"))
    folder = vocabulary._folder.__wrapped__()

    assert folder == tmp_path / "mine"


def test_a_home_that_cannot_be_written_to_is_worked_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_, **__: str(blocked))

    folder = vocabulary._folder.__wrapped__()

    assert folder.is_dir()
    assert not folder.is_relative_to(blocked)
    folder.rmdir()


def test_an_unknown_vocabulary_says_which_are_known() -> None:
    with pytest.raises(SetupError) as caught:
        load_vocabulary("no_such_base")

    assert "o200k_base" in caught.value.hint
    assert "TIKTOKEN_CACHE_DIR" in caught.value.hint


def test_a_full_disk_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vocabulary, "_folder", lambda: tmp_path)
    monkeypatch.setattr("tempfile.NamedTemporaryFile", no_space)

    with pytest.raises(SetupError, match="No space left") as caught:
        load_vocabulary.__wrapped__("o200k_base")

    assert "TIKTOKEN_CACHE_DIR" in caught.value.hint
