"""What a tokenizer, a running total and a counter of messages must do.

    tokenizer  .pieces(text) ──▶ its tokens as text      CHECKS
               .count(text)  ──▶ how many they are
    tally      .add(section, text), .total, .totals      TALLY_CHECKS

The checks hold for a tokenizer that was trained on one page and for one that was
trained on the web: they ask for promises, not for numbers.

Read after: checks/__init__.py, tokens.py.
Built in:   notebooks/01_counting_what_a_model_reads.ipynb
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentkit.checks import expect, expect_equal, expect_text, kind_of
from agentkit.tokens import Counter

ENGLISH = "note for next week: finish the project report, focus on the performance tests"
CHINESE = "帮我记一下：下周要完成结项报告，重点是性能测试部分"


def nothing_costs_nothing(tokenizer: Any) -> None:
    """An empty text has no tokens."""
    expect_equal(tokenizer.count(""), 0, "tokens of an empty text")


def count_is_the_number_of_pieces(tokenizer: Any) -> None:
    """What is counted is what is cut, in both languages."""
    for text in (ENGLISH, CHINESE, "报告 report 报告"):
        expect_equal(tokenizer.count(text), len(tokenizer.pieces(text)), f"tokens of {text!r}")


def the_text_comes_back_whole(tokenizer: Any) -> None:
    """The pieces joined are the text: white space and capitals are text too."""
    for text in (ENGLISH, "Two  spaces,\n\tthen a tab ", "REPORT Report report"):
        expect_equal("".join(tokenizer.pieces(text)), text, "the pieces joined")


def any_text_can_be_counted(tokenizer: Any) -> None:
    """No character is unknown, and none costs more tokens than it has bytes."""
    for text in ("哈", "🙂", "ſ", "\x00", "𰻝", "e\u0301"):
        tokens, size_bytes = tokenizer.count(text), len(text.encode())
        expect(1 <= tokens <= size_bytes, f"{text!r} has {size_bytes} bytes and {tokens} tokens.")


def special_looking_text_is_text(tokenizer: Any) -> None:
    """A user who types `<|endoftext|>` has typed letters, and ends nothing."""
    text = "what does <|endoftext|> mean?"
    expect(tokenizer.count("<|endoftext|>") > 1, "`<|endoftext|>` counts as a single token.")
    expect_equal("".join(tokenizer.pieces(text)), text, "the pieces joined")


def what_is_common_is_cheap(tokenizer: Any) -> None:
    """A sentence of common words has fewer tokens than bytes, in both languages."""
    for text in (ENGLISH, CHINESE):
        tokens, size_bytes = tokenizer.count(text), len(text.encode())
        expect(tokens < size_bytes, f"{text!r} has {size_bytes} bytes and {tokens} tokens.")


def the_same_text_counts_the_same(tokenizer: Any) -> None:
    """A count depends on the text alone, not on what was counted before."""
    first = [tokenizer.count(text) for text in (ENGLISH, CHINESE)]
    again = [tokenizer.count(text) for text in (CHINESE, ENGLISH)]
    expect_equal(again[::-1], first, "tokens the second time")


CHECKS = (
    nothing_costs_nothing,
    count_is_the_number_of_pieces,
    the_text_comes_back_whole,
    any_text_can_be_counted,
    special_looking_text_is_text,
    what_is_common_is_cheap,
    the_same_text_counts_the_same,
)

# A tally is made with a way to count: tally(count) has add(section, text), total, totals.
MakeTally = Callable[[Callable[[str], int]], Any]


def an_empty_tally_is_zero(tally: MakeTally) -> None:
    """Before anything is added the total is 0."""
    expect_equal(tally(len).total, 0, "total of nothing")


def the_total_is_the_sum(tally: MakeTally) -> None:
    """The total is the sum over all sections; a section adds up."""
    mine = tally(len)
    said = (("system", "be brief"), ("history", "hi"), ("history", "你好吗"), ("history", "hi"))
    for section, text in said:
        mine.add(section, text)
    expect_equal(mine.total, 15, "total of 8, 2, 3 and once more 2")
    expect_equal(mine.totals, {"system": 8, "history": 7}, "totals by section")


def a_new_turn_costs_its_own_text(tally: MakeTally) -> None:
    """Each text is counted once, when it is added; the total counts nothing again."""
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    mine = tally(count)
    for turn in range(50):
        mine.add("history", f"turn {turn}")
        expect(mine.total > 0, "the total is 0 after a turn was added.")
    expect_equal(len(counted), 50, "texts counted in 50 turns")


def tallies_do_not_share(tally: MakeTally) -> None:
    """Two tallies are two conversations."""
    first, second = tally(len), tally(len)
    first.add("history", "hello")
    second.add("history", "hi")
    expect_equal(second.total, 2, "total of the other tally")


TALLY_CHECKS = (
    an_empty_tally_is_zero,
    the_total_is_the_sum,
    a_new_turn_costs_its_own_text,
    tallies_do_not_share,
)


def the_dearest_is_named(guess: str | None) -> None:
    """Of "report", "reporting", "报告" and "🧾", you name the one with the most tokens."""
    if guess is None:
        raise NotImplementedError
    count = Counter.for_model("gpt-4o")
    sizes = {text: count(text) for text in ("report", "reporting", "报告", "🧾")}
    expect(
        isinstance(guess, str) and guess in sizes,
        f"{kind_of(guess)} is none of the four.",
        hint="Write one of `choices`, with its quotes.",
    )
    expect(
        sizes[guess] == max(sizes.values()),
        f"{guess!r} has {sizes[guess]} token(s), and another of the four has more.",
        hint="Which of them was rarely on the page?",
    )


def ten_characters_cost_thirty(text: str | None) -> None:
    """At most 10 characters cost at least 30 tokens of gpt-4o."""
    if text is None:
        raise NotImplementedError
    tokens = Counter.for_model("gpt-4o")(expect_text(text, "your text"))
    expect(len(text) <= 10, f"your text has {len(text)} characters; at most 10 are asked for.")
    expect(
        tokens >= 30,
        f"{text!r} costs {tokens} tokens; 30 are asked for.",
        hint="What is a model rarely shown?",
    )


PREDICT_CHECKS = (the_dearest_is_named,)
BREAK_CHECKS = (ten_characters_cost_thirty,)
