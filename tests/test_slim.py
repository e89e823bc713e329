"""A tool result that is small enough to read."""

from __future__ import annotations

import pytest

from agentkit.messages import ToolResult
from agentkit.slim import EMPTY, KEPT_ENDS, MAX_RESULT, slim
from agentkit.tokens import Counter

COUNT = Counter.for_model("reader")


def result(text: str, **fields: object) -> ToolResult:
    return ToolResult("c1", "notes.read_note", text, **fields)  # type: ignore[arg-type]


def test_a_short_result_stays_as_it_is() -> None:
    whole = result('{"title": "报告"}', data={"title": "报告"})

    small = slim(whole, count=COUNT)

    assert small.result is whole
    assert (small.before, small.after, small.how) == (COUNT(whole.text), COUNT(whole.text), "whole")


@pytest.mark.parametrize("extra", [0, 1])
def test_the_budget_itself_still_fits(extra: int) -> None:
    text = "a b " * 40
    budget = COUNT(text) - extra

    assert slim(result(text), count=COUNT, budget=budget).how == (
        "head and tail" if extra else "whole"
    )


@pytest.mark.parametrize(
    "text", ["lorem ipsum dolor ", "下周要完成结项报告，重点是性能测试部分。", "a", "🙂"]
)
def test_a_long_result_keeps_head_and_tail_and_counts_what_is_missing(text: str) -> None:
    long = "HEAD " + text * (40_000 // len(text)) + " TAIL"

    small = slim(result(long), count=COUNT)

    head, said, tail = small.result.text.split("\n")
    assert small.how == "head and tail"
    assert small.before == COUNT(long) > MAX_RESULT
    assert long.startswith(head)
    assert long.endswith(tail)
    assert head.startswith("HEAD ")
    assert tail.endswith(" TAIL")
    assert max(COUNT(head), COUNT(tail)) <= KEPT_ENDS
    missing = small.before - COUNT(head) - COUNT(tail)
    assert said == f"… [{missing} of {small.before} tokens left out] …"
    assert small.after == COUNT(small.result.text) <= 2 * KEPT_ENDS + 30


@pytest.mark.parametrize("text", ["", " \n", "[]", "{}", "null"])
def test_an_empty_result_says_that_empty_is_the_answer(text: str) -> None:
    small = slim(result(text), count=COUNT)

    assert small.result.text == EMPTY
    assert small.how == "empty"


@pytest.mark.parametrize("text", ["", "{}"])
def test_an_error_without_a_word_is_not_called_an_answer(text: str) -> None:
    assert slim(result(text, is_error=True), count=COUNT).result.text == text


def test_an_error_stays_an_error_when_it_is_cut() -> None:
    small = slim(result("broken " * 9_000, is_error=True), count=COUNT)

    assert small.result.is_error
    assert small.how == "head and tail"


def test_a_budget_of_nothing_says_at_least_what_is_missing() -> None:
    small = slim(result("one two three"), count=COUNT, budget=0)

    assert small.result.text == "\n… [3 of 3 tokens left out] …\n"
