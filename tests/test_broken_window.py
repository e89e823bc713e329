"""The promises of slim, summary and compression, and that their broken twins break them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agentkit.compress import compress
from agentkit.messages import ToolResult, assistant, user
from agentkit.slim import slim
from agentkit.summary import summarise
from agentkit.tokens import Counter
from tests.broken import window_report as broken

COUNT = Counter.for_model("reader")
RULE = "Never send parcels of more than 20 kg, 超重的一律不要发货。"


def json_stays_json_and_says_what_is_missing(slim: Callable[..., Any]) -> bool:
    rows = [{"order": f"A-{n}", "state": "已发货"} for n in range(300)]
    small = slim(ToolResult("c", "t", json.dumps(rows)), count=COUNT, budget=300)
    try:
        read = json.loads(small.result.text)
    except ValueError:
        return False
    kept = sum(isinstance(row, dict) for row in read)
    return any(row == f"… {300 - kept} of 300 left out …" for row in read)


def a_constraint_is_quoted_whole(summarise: Callable[..., Any]) -> bool:
    return f"- {RULE}" in summarise([user(RULE), assistant("ok")], count=COUNT).text


def done_means_that_the_target_is_reached(compress: Callable[..., Any]) -> bool:
    talk = [m for n in range(9) for m in (user(f"{RULE} {n}"), assistant("ok " * 300))]
    result = compress(talk, count=COUNT, target=200)
    return not result.done or result.after <= 200


CASES = [
    (json_stays_json_and_says_what_is_missing, slim, broken.slim_by_characters),
    (json_stays_json_and_says_what_is_missing, slim, broken.slim_without_a_word),
    (a_constraint_is_quoted_whole, summarise, broken.summarise_by_halves),
    (done_means_that_the_target_is_reached, compress, broken.compress_at_any_price),
]


@pytest.mark.parametrize(("holds", "ours", "twin"), CASES)
def test_ours_keeps_the_promise_and_the_twin_does_not(holds: Any, ours: Any, twin: Any) -> None:
    assert holds(ours)
    assert not holds(twin)
