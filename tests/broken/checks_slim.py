"""Broken slimmers: the package's with one fault each, by the check that must notice it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from agentkit.messages import ToolResult
from agentkit.slim import Slim, slim


def _with_text(small: Slim, text: str) -> Slim:
    return replace(small, result=replace(small.result, text=text))


def eager(result: ToolResult, **options: Any) -> Slim:
    """Cut what would have fitted."""
    small = slim(result, **options)
    whole = small.how == "whole" and not result.is_error
    return _with_text(small, small.result.text[:-1]) if whole else small


def generous(result: ToolResult, *, budget: int, **options: Any) -> Slim:
    """Take twice the budget."""
    return slim(result, budget=budget * 2 if len(result.text) > 300 else budget, **options)


def headstrong(result: ToolResult, **options: Any) -> Slim:
    """Keep the head alone."""
    small = slim(result, **options)
    cut = small.how == "head and tail"
    return _with_text(small, small.result.text.rpartition("\n")[0]) if cut else small


def silent(result: ToolResult, **options: Any) -> Slim:
    """Cut, and do not say how much there was."""
    small = slim(result, **options)
    gone = small.result.text.replace(" of 917", "").replace(" of 100", "")
    return _with_text(small, gone)


def mute(result: ToolResult, **options: Any) -> Slim:
    """Pass nothing on as nothing."""
    small = slim(result, **options)
    return _with_text(small, result.text) if small.how == "empty" else small


def careless(result: ToolResult, **options: Any) -> Slim:
    """Call a failure without words an empty answer."""
    return slim(replace(result, is_error=False) if not result.text else result, **options)


def blunt(result: ToolResult, **options: Any) -> Slim:
    """Treat JSON as a text: cut it at both ends."""
    small = slim(result, **options)
    if small.how != "json" or len(result.text) > 20_000:
        return small
    return slim(replace(result, text="text: " + result.text.replace("\n", " ")), **options)


def forgetful(result: ToolResult, **options: Any) -> Slim:
    """Forget that a call failed."""
    small = slim(result, **options)
    return replace(small, result=replace(small.result, is_error=not result.text))


def choosy(result: ToolResult, **options: Any) -> Slim:
    """Know nothing of fields."""
    options.pop("fields", None)
    return slim(result, **options)


def spacious(result: ToolResult, **options: Any) -> Slim:
    """Cut rows where dropping the spaces would do."""
    small = slim(result, **options)
    return _with_text(small, json.dumps(["gone"])) if small.how == "compact" else small


def greedy(result: ToolResult, *, budget: int, **options: Any) -> Slim:
    """Drop rows before it shortens a text in one."""
    small = slim(result, budget=budget, **options)
    if small.how != "json" or budget != 400:
        return small
    return _with_text(small, json.dumps(json.loads(small.result.text)[:1]))


def headless(result: ToolResult, **options: Any) -> Slim:
    """Cut a table without its head."""
    small = slim(result, **options)
    lines = small.how == "lines" and "," in small.result.text
    return _with_text(small, small.result.text.partition("\n")[2]) if lines else small


TWINS = {
    "a_short_result_stays_whole": eager,
    "the_budget_is_kept": generous,
    "both_ends_of_a_text_stay": headstrong,
    "what_is_missing_is_said": silent,
    "empty_is_an_answer": mute,
    "rows_stay_whole": blunt,
    "the_result_stays_the_same_call": forgetful,
    "declared_fields_are_chosen": choosy,
    "spaces_go_before_rows": spacious,
    "a_long_text_in_a_row_is_cut_in_the_row": greedy,
    "a_table_keeps_its_head": headless,
}


def _fitted(text: str, count: Any, budget: int, *, gap: str = "… {} rows left out") -> list[str]:
    """Return head, as many rows as fit, and the line about the rest."""
    head, rows = text.split("\n")[:2], text.split("\n")[2:]
    for keep in range(len(rows), -1, -1):
        lines = [*head, *rows[:keep], gap.format(len(rows) - keep)]
        if count("\n".join(lines)) <= budget:
            break
    return lines


def always_cuts(text: str, *, count: Any, budget: int) -> str:
    """Leave a row out of a table that fits, for the line that says so."""
    return "\n".join(_fitted(text, count, min(budget, count(text) - 1)))


def turns_the_head(text: str, *, count: Any, budget: int) -> str:
    """Put the line of dashes first."""
    lines = _fitted(text, count, budget)
    return text if count(text) <= budget else "\n".join([lines[1], lines[0], *lines[2:]])


def halves_the_rows(text: str, *, count: Any, budget: int) -> str:
    """Halve the rows until they fit, and do not count the line about the rest."""
    head, rows = text.split("\n")[:2], text.split("\n")[2:]
    keep = len(rows)
    while count("\n".join([*head, *rows[:keep]])) > budget:
        keep //= 2
    gap = f"… {len(rows) - keep} rows left out"
    return text if keep == len(rows) else "\n".join([*head, *rows[:keep], gap])


def counts_nothing(text: str, *, count: Any, budget: int) -> str:
    """Say that rows are missing, and not how many."""
    if count(text) <= budget:
        return text
    return "\n".join(_fitted(text, count, budget, gap="… some rows left out"))


TABLE_TWINS = {
    "a_small_table_stays": always_cuts,
    "the_head_stays": turns_the_head,
    "as_many_rows_as_fit_stay": halves_the_rows,
    "the_gap_is_counted": counts_nothing,
}
