"""What a slimmer must do: `CHECKS` for any, `FULL_CHECKS` for one that meets real tools.

    slim(result, *, count, budget) ──▶ something with `.result`, the ToolResult that is read

Sizes are in words here, so each can be seen by eye.

Read after: checks/__init__.py, slim.py.
Built in:   notebooks/07_tool_results_eat_the_window.ipynb
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentkit.checks import expect, expect_equal, expect_text, foresee_each, shown
from agentkit.checks.window import count_words
from agentkit.messages import ToolResult
from agentkit.slim import slim as _slim

Slimmer = Callable[..., Any]
NOTICE = 15  # words that may say what is missing, beyond the budget
ROWS = [{"order": f"SO-{1001 + i}", "note": f"row {i} of many rows"} for i in range(100)]


def result_of(text: str, *, is_error: bool = False) -> ToolResult:
    """Return a result with this text."""
    return ToolResult("c1", "shop.find_orders", text, is_error=is_error)


def _read(slim: Slimmer, text: str, *, budget: int = 40, **options: Any) -> str:
    """Return what a model reads of a result."""
    read = slim(result_of(text), count=count_words, budget=budget, **options).result.text
    return expect_text(read, "what is read")


def _words(first: int, last: int) -> str:
    return " ".join(f"w{n}" for n in range(first, last + 1))


def a_short_result_stays_whole(slim: Slimmer) -> None:
    """A result that fits the budget is not touched, to the last token."""
    for text in (_words(1, 40), "报告 已完成", '{"total": 2}'):
        expect_equal(_read(slim, text), text, "a result that fits")


def the_budget_is_kept(slim: Slimmer) -> None:
    """What is read of a long result is at most the budget, and a notice."""
    for text in (_words(1, 900), "\n".join(["报告 完成"] * 400), json.dumps(ROWS)):
        size = count_words(_read(slim, text))
        expect(size <= 40 + NOTICE, f"{size} words are read with a budget of 40.")


def both_ends_of_a_text_stay(slim: Slimmer) -> None:
    """Of a long text the first words stay, and the last: a log ends with what went wrong."""
    text = _read(slim, f"started {_words(1, 900)} failed: 磁盘已满")
    expect(text.startswith("started w1 w2 "), f"it begins with {text[:40]!r}.")
    expect(text.endswith(" w900 failed: 磁盘已满"), f"it ends with {text[-40:]!r}.")


def what_is_missing_is_said(slim: Slimmer) -> None:
    """A cut says how large the whole was: a model that sees no gap counts what it sees."""
    for text, size in ((_words(1, 917), "917"), (json.dumps(ROWS), "100")):
        said = re.search(rf"(?<!\w){size}(?!\w)", _read(slim, text))
        expect(said, f"nothing says that there were {size}.")


def empty_is_an_answer(slim: Slimmer) -> None:
    """An empty result becomes a sentence that says so, and a failed call does not."""
    for text in ("", "[]", "{}", " \n"):
        said = _read(slim, text)
        expect(count_words(said) >= 3, f"of {text!r} the model reads {said!r}.")
    failed = slim(result_of("", is_error=True), count=count_words, budget=40).result
    expect_equal(failed, result_of("", is_error=True), "an error without words")


def rows_stay_whole(slim: Slimmer) -> None:
    """Long JSON stays JSON, made of whole rows: half an object invites guessing the rest."""
    read = json.loads(_read(slim, json.dumps(ROWS)))
    kept = [row for row in read if isinstance(row, dict)]
    expect(kept[:2] == ROWS[:2], f"the first two rows are {kept[:2]}.")
    expect(all(row in ROWS for row in kept), "a row was changed.")


def the_result_stays_the_same_call(slim: Slimmer) -> None:
    """Only the text changes: id, name and whether it failed stay."""
    long = result_of(_words(1, 900), is_error=True)
    read = slim(long, count=count_words, budget=40).result
    got = (read.call_id, read.name, read.is_error)
    expect_equal(got, (long.call_id, long.name, True), "id, name, is_error")


CHECKS = (
    a_short_result_stays_whole,
    the_budget_is_kept,
    both_ends_of_a_text_stay,
    what_is_missing_is_said,
    empty_is_an_answer,
    rows_stay_whole,
    the_result_stays_the_same_call,
)


def declared_fields_are_chosen(slim: Slimmer) -> None:
    """Fields that a tool declares are kept and renamed, also inside a frame, and no others."""
    text = json.dumps({"total": 1, "rows": [{"order_no": "A-1", "etag": "x", "state": "open"}]})
    read = json.loads(_read(slim, text, fields={"order_no": "order", "state": "state"}))
    expect_equal(read["rows"], [{"order": "A-1", "state": "open"}], "the rows")


def spaces_go_before_rows(slim: Slimmer) -> None:
    """JSON that fits without its line breaks loses nothing else."""
    rows = [{"n": i} for i in range(30)]
    text = json.dumps(rows, indent=4)
    expect_equal(json.loads(_read(slim, text)), rows, "30 rows that fit in one line")


def a_long_text_in_a_row_is_cut_in_the_row(slim: Slimmer) -> None:
    """One long text does not cost the other rows."""
    rows = [{"n": 1, "body": "word " * 3_000}, {"n": 2, "body": "short"}]
    text = _read(slim, json.dumps(rows), budget=400)
    expect_equal([row["n"] for row in json.loads(text)], [1, 2], "the rows that stay")


def a_table_keeps_its_head(slim: Slimmer) -> None:
    """A table is cut by lines, and the names of its columns stay."""
    lines = ["order,state,city", *(f"SO-{n},open,苏州" for n in range(200))]
    read = _read(slim, "\n".join(lines)).split("\n")
    expect_equal(read[:2], lines[:2], "the first lines")
    kept = [line for line in read if line in lines]
    expect(len(kept) == len(read) - 1, "a line was cut in the middle, or the gap is not said.")


FULL_CHECKS = (
    *CHECKS,
    declared_fields_are_chosen,
    spaces_go_before_rows,
    a_long_text_in_a_row_is_cut_in_the_row,
    a_table_keeps_its_head,
)


PUZZLE: Mapping[str, str] = {
    "a short answer": "3 orders are open",
    "no rows": "[]",
    "40 rows of JSON": json.dumps(ROWS[:40]),
    "a long letter": _words(1, 300),
}


def the_ways_are_foreseen(guess: Sequence[str] | None) -> None:
    """You name the way (`how`) in which `slim` treats each result of `PUZZLE`, in order."""
    if guess is None:
        raise NotImplementedError
    ways = [_slim(result_of(t), count=count_words, budget=100).how for t in PUZZLE.values()]
    foresee_each(
        guess,
        ways,
        list(PUZZLE),
        choices=("whole", "empty", "compact", "json", "head and tail"),
        hint="Does it fit as it is? Without its spaces? If not: has it rows?",
    )


PREDICT_CHECKS = (the_ways_are_foreseen,)

Cutter = Callable[..., str]
TABLE = "\n".join(["| order | state |", "|---|---|", *(f"| SO-{n} | 等待 |" for n in range(50))])


BUDGETS = (60, 87, 150)  # words; the table has 256, and 9, 14 or more of its 50 rows fit


def _cut(cut: Cutter, budget: int) -> list[str]:
    """Return the lines that a model reads of the table."""
    return expect_text(cut(TABLE, count=count_words, budget=budget), "what is read").split("\n")


def a_small_table_stays(cut: Cutter) -> None:
    """A table that fits is not touched."""
    read = expect_text(cut(TABLE, count=count_words, budget=256), "what is read")
    lines = TABLE.split("\n")
    expect(read == TABLE, f"{len(lines)} lines of 256 words fit in 256, and came back changed: "
           f"{len(read.split(chr(10)))} lines of {count_words(read)} words.")  # fmt: skip


def the_head_stays(cut: Cutter) -> None:
    """The two lines of the head are the first two lines, whatever is cut."""
    for budget in BUDGETS:
        expect_equal(_cut(cut, budget)[:2], TABLE.split("\n")[:2], "the first two lines")


def as_many_rows_as_fit_stay(cut: Cutter) -> None:
    """Whole rows stay, from the top, as many as fit beside head and notice."""
    lines = TABLE.split("\n")
    for budget in BUDGETS:
        read = _cut(cut, budget)
        size = count_words("\n".join(read))
        hint = "The line that counts the gap has words, too."
        expect(size <= budget, f"{size} words are read with a budget of {budget}.", hint=hint)
        rows = [line for line in read[2:] if line in lines]
        expect_equal(rows, lines[2 : 2 + len(rows)], "the rows")
        expect(
            size + count_words(lines[2]) > budget,
            f"with a budget of {budget} you keep {len(rows)} rows and use {size} words; one more "
            "row of 5 words would fit.",
            hint="Add rows one by one, or take them away one by one, until it fits.",
        )


def the_gap_is_counted(cut: Cutter) -> None:
    """One line says how many rows are left out."""
    lines = TABLE.split("\n")
    for budget in BUDGETS:
        read = _cut(cut, budget)
        said = [line for line in read if line not in lines]
        left = len(lines) - len([line for line in read if line in lines])
        expect(len(said) == 1, f"expected one line beside head and rows, got {shown(said)}.")
        number = re.search(rf"(?<!\d){left}(?!\d)", said[0])
        expect(number, f"{left} of 50 rows are left out, and the line says {said[0]!r}.")
        expect(
            count_words(said[0]) <= NOTICE,
            f"the line has {count_words(said[0])} words, in place of rows; {NOTICE} will do.",
        )


TABLE_CHECKS = (a_small_table_stays, the_head_stays, as_many_rows_as_fit_stay, the_gap_is_counted)


def the_answer_is_cut_out(attempt: tuple[Slimmer, str, str] | None) -> None:
    """A fact that is in your result is in nothing that is left of it at 100 words."""
    if attempt is None or attempt[1] is None:
        raise NotImplementedError
    slim, text, fact = attempt
    expect_text(text, "your text")
    expect(fact and fact in text, f"the fact {fact!r} is not in the result.")
    expect(
        count_words(fact) <= 20,
        f"the fact has {count_words(fact)} words; at most 20 are asked for.",
    )
    read = slim(result_of(text), count=count_words, budget=100).result.text
    expect(fact not in read, "it is still there.", hint="Where does `slim` not look at all?")


BREAK_CHECKS = (the_answer_is_cut_out,)
