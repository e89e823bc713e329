"""When a turn has called enough tools."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit.errors import BudgetError
from agentkit.guard import MAX_TIMEOUT_S, Limits, Step, is_empty, verdict
from agentkit.messages import ToolCall, ToolResult


def pair(text: str, *, name: str = "notes.search_notes", error: bool = False, **arguments: Any):
    return ToolCall("c", name, arguments), ToolResult("c", name, text, is_error=error)


def step(*pairs: tuple[ToolCall, ToolResult]) -> Step:
    return list(pairs)


def test_a_turn_without_calls_goes_on() -> None:
    assert verdict([], Limits()) is None


def test_rounds_are_counted_and_not_calls() -> None:
    """By hand: 2 rounds of 3 calls are 2 rounds."""
    steps = [step(*(pair(f"{r}{n}", q=f"{r}{n}") for n in range(3))) for r in range(2)]

    assert verdict(steps, Limits(max_rounds=3)) is None
    assert verdict(steps, Limits(max_rounds=2)) == "2 rounds of tool calls without an answer"


def test_the_same_call_is_no_repetition_while_its_result_changes() -> None:
    steps = [step(pair("waiting", id=1)), step(pair("done", id=1))]

    assert verdict(steps, Limits()) is None


def test_the_same_result_of_another_call_is_no_repetition() -> None:
    steps = [step(pair("ok", id=1)), step(pair("ok", id=2))]

    assert verdict(steps, Limits()) is None


@pytest.mark.parametrize("error", [False, True])
def test_a_repeated_pair_stops_also_when_it_is_an_error_or_not_in_a_row(error: bool) -> None:
    again = pair("笔记不存在", error=error, title="报告", limit=5)
    other_order = (ToolCall("d", again[0].name, {"limit": 5, "title": "报告"}), again[1])

    steps = [step(again), step(pair("x", id=9)), step(other_order)]

    assert verdict(steps, Limits(max_rounds=9)) == "the same call brought the same result 2 times"
    assert verdict(steps, Limits(max_rounds=9, max_same=3)) is None


def test_unread_arguments_are_compared_as_they_were_written() -> None:
    def unread(text: str) -> tuple[ToolCall, ToolResult]:
        return ToolCall("c", "t", unread=text), ToolResult("c", "t", "not JSON", is_error=True)

    assert verdict([step(unread("{a")), step(unread("{b"))], Limits()) is None
    assert verdict([step(unread("{a")), step(unread("{a"))], Limits()) is not None


@pytest.mark.parametrize(
    ("text", "data", "empty"),
    [
        ("", None, True),
        (" \n", None, True),
        ("[]", None, True),
        ("{}", {}, True),
        ("null", None, True),
        ("0", None, False),
        ("nothing here", None, False),
        ("…", {"result": []}, True),
        ("…", {"result": [0]}, False),
        ("…", {"query": "报告", "hits": [], "total": 0, "remark": "No note matches."}, True),
        ("…", {"hits": [], "total": 3}, False),
        ("…", {"id": "n0001", "title": "x", "tags": []}, False),
        ("…", {"notes": [], "total": 0, "next_offset": None}, True),
        ("…", {"ok": True}, False),
    ],
)
def test_a_result_is_empty_when_it_found_nothing(text: str, data: Any, empty: bool) -> None:
    """By design: an empty list beside a title is a thing with an empty list, not nothing."""
    assert is_empty(ToolResult("c", "t", text, data=data)) is empty


def test_an_error_is_not_empty() -> None:
    assert not is_empty(ToolResult("c", "t", "", is_error=True))


def test_empty_results_are_counted_over_the_whole_turn() -> None:
    steps = [step(pair("[]", q=1)), step(pair("x", q=2)), step(pair("", q=3))]

    assert verdict(steps, Limits(max_rounds=9)) == "2 results were empty"
    assert verdict(steps[:2], Limits(max_rounds=9)) is None


@pytest.mark.parametrize("wrong", [{"max_rounds": 0}, {"max_empty": 0}, {"max_same": -1}])
def test_a_limit_under_one_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(BudgetError, match="at least 1"):
        Limits(**wrong)


@pytest.mark.parametrize("timeout_s", [0, -1, MAX_TIMEOUT_S + 0.1, float("nan")])
def test_a_time_limit_is_above_zero_and_at_most_half_a_minute(timeout_s: float) -> None:
    with pytest.raises(BudgetError, match="second tool to look"):
        Limits(timeout_s=timeout_s)
