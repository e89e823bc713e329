"""How slimming shortens data: fields, rows, lines; JSON stays JSON, and every cut says its size."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.messages import ToolResult
from agentkit.shrink import choose, cut_lines
from agentkit.slim import MAX_RESULT, Slim, slim
from agentkit.tokens import Counter
from tests.histories import JSON_VALUES, STEADY

COUNT = Counter.for_model("reader")


def slimmed(value: Any, **options: Any) -> Slim:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return slim(ToolResult("c1", "shop.list_orders", text), count=COUNT, **options)


def rows(n: int) -> list[dict[str, Any]]:
    return [
        {"order_no": f"A-{i}", "status": "已发货", "internal": i * 7919, "note": "付费用户" * 6}
        for i in range(n)
    ]


def test_declared_fields_are_chosen_and_renamed_even_where_all_would_fit() -> None:
    small = slimmed({"total": 2, "rows": rows(2)}, fields={"order_no": "order", "status": "状态"})

    read = json.loads(small.result.text)
    expected = [{"order": "A-0", "状态": "已发货"}, {"order": "A-1", "状态": "已发货"}]
    assert (small.how, read) == ("fields", {"total": 2, "rows": expected})


@pytest.mark.parametrize("value", ["no json", {"other": 1}, [1, 2]])
def test_fields_that_a_result_does_not_have_change_nothing(value: Any) -> None:
    assert slimmed(value, fields={"order_no": "order"}).how == "whole"


def test_an_error_keeps_every_word_whatever_the_tool_declares() -> None:
    said = ToolResult("c1", "t", '{"order_no": "A-1", "why": "closed"}', is_error=True)

    assert slim(said, count=COUNT, fields={"order_no": "order"}).result is said


@pytest.mark.parametrize("framed", [False, True])
def test_rows_are_cut_with_a_count_and_the_json_stays_json(framed: bool) -> None:
    small = slimmed({"rows": rows(300)} if framed else rows(300), budget=600)

    read = json.loads(small.result.text)
    read = read["rows"] if framed else read
    marks = [row for row in read if isinstance(row, str)]
    kept = [row for row in read if isinstance(row, dict)]
    assert small.how == "json"
    assert marks == [f"… {300 - len(kept)} of 300 left out …"]
    assert read[0] == rows(300)[0]
    assert read[-1] == rows(300)[-1]
    assert 400 < small.after <= 600


def test_the_accident_of_8_kb_raw_json_costs_a_fraction() -> None:
    """By design: 8 KB of pretty-printed JSON with long ids, as an order service sends it."""
    raw = json.dumps(rows(60), ensure_ascii=False, indent=2)

    small = slimmed(raw, fields={"order_no": "order", "status": "status"})

    assert len(raw.encode()) > 8_000
    assert small.before > MAX_RESULT
    assert small.after * 2 < small.before
    assert len(json.loads(small.result.text)) == 60


def test_spaces_go_before_rows() -> None:
    pretty = json.dumps(rows(30), ensure_ascii=False, indent=8)
    budget = COUNT(json.dumps(rows(30), ensure_ascii=False, separators=(",", ":")))

    small = slimmed(pretty, budget=budget)

    assert (small.how, json.loads(small.result.text)) == ("compact", rows(30))


def test_a_long_text_in_json_is_cut_inside_its_string() -> None:
    small = slimmed({"title": "report", "body": "性能测试 " * 4_000}, budget=300)

    read = json.loads(small.result.text)
    assert read["title"] == "report"
    assert "of 20000 characters left out" in read["body"]
    assert small.after <= 300


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("| id | name |\n|---|---|", "| {} | 报告 {} |"),
        ("id,name,status", "{},report {},open"),
        ("id\tname", "{}\treport {}"),
    ],
)
def test_a_table_keeps_its_head_and_whole_lines(head: str, row: str) -> None:
    lines = [row.format(i, i) for i in range(400)]

    small = slimmed(f"{head}\n" + "\n".join(lines), budget=200)

    read = small.result.text.split("\n")
    body = read[head.count("\n") + 1 :]
    said = [line for line in body if line not in lines]
    assert small.how == "lines"
    assert "\n".join(read[: head.count("\n") + 1]) == head
    assert said == [f"… [{400 - len(body) + 1} of 400 rows left out] …"]
    assert (body[0], body[-1]) == (lines[0], lines[-1])
    assert small.after <= 200


def test_prose_is_no_table() -> None:
    assert cut_lines("first, a line\nthen\nnothing alike\n" * 5, lambda _: True) is None


def test_one_json_value_a_line_loses_whole_lines() -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows(200)]

    small = slimmed("\n".join(lines), budget=400)

    assert small.how == "lines"
    assert json.loads(small.result.text.split("\n")[0]) == rows(1)[0]


def test_deep_data_comes_back_as_json_or_ends() -> None:
    deep: Any = "leaf " * 3_000
    for _ in range(300):
        deep = {"inner": deep}

    small = slimmed(deep, budget=400)

    assert small.after <= 400 or small.how == "head and tail"


def test_choosing_looks_into_frames_and_not_beyond_what_it_chose() -> None:
    value = {"page": 1, "items": [{"id": 1, "sub": {"id": 2, "x": 3}}]}

    assert choose(value, {"id": "id"}) == {"page": 1, "items": [{"id": 1}]}
    assert choose(value, {"sub": "s"}) == {"page": 1, "items": [{"s": {"id": 2, "x": 3}}]}


@STEADY
@given(JSON_VALUES, st.integers(0, 200))
def test_whatever_is_cut_as_json_is_json_and_within_the_budget(value: Any, budget: int) -> None:
    small = slimmed([value] * 30, budget=budget)

    if small.how in ("json", "compact"):
        json.loads(small.result.text)
        assert small.after <= budget
    assert small.after <= max(budget, 0) + 40
