"""Each exercise of the series, tried wrongly: it fails, and what is said helps.

A prediction that is wrong is told where to look and never the answer, so that there is a
second try. Whatever has the wrong form is told which form is asked for.
"""

from __future__ import annotations

import ast
import re
import sys
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import pytest

from agentkit.checks import (
    CheckResult,
    check_results_async,
    host,
    loop_exercises,
    memory_exercises,
    monitor,
    notes_exercises,
    recall_exercises,
    servers,
    slim,
    tokens,
    window,
)
from agentkit.host import McpHost
from agentkit.messages import ToolCall
from agentkit.slim import slim as package_slim
from agentkit.window import Section
from servers.database import build_server as build_database
from servers.notes import build_server as build_notes
from tests.broken import exercises as wrong
from tests.broken.checks_notes_servers import Sound
from tests.broken.checks_servers import Sound as SoundDatabase
from tests.broken.loop_loops import right as tiny_loop
from tests.notebooks.built import NOTEBOOKS
from tests.notebooks.guards import Lesson

pytestmark = pytest.mark.anyio

NOTES = wrong.listing(Sound)
SIX = ["ok", "error", "error", "ok", "error", "error"]
FIVE = [False, True, False, True, False]
CALLS = [ToolCall(f"c{n}", "sky.weather", {"day": f"day {n}"}) for n in range(6)]

# What is predicted, by its checks: a wrong guess, what it is told, and what it may not be told.
GUESSES: list[tuple[Any, Any, str, str]] = [
    (tokens.PREDICT_CHECKS, "reporting", "another of the four has more", "🧾' has"),
    (tokens.PREDICT_CHECKS, 3, "the number 3 is none of the four", ""),
    (window.PREDICT_CHECKS, ["rules", "question"], "right about 3 of 5", "round"),
    (window.PREDICT_CHECKS, ["question", "rules"], "not the order of reading", "round"),
    (window.PREDICT_CHECKS, ["rules", "round 1", "round 3", "question"], "12 words", "round 2"),
    (window.PREDICT_CHECKS, ["rules", "round 9"], "not in PUZZLE: ['round 9']", ""),
    (window.PREDICT_CHECKS, "rules", "expected a list, got the text 'rules'", ""),
    (monitor.PREDICT_CHECKS, 9, "9 is too high", "8"),
    (monitor.PREDICT_CHECKS, 7, "7 is too low", "8"),
    (monitor.PREDICT_CHECKS, "8", "expected a number, got the text '8'", ""),
    (monitor.PREDICT_CHECKS, True, "expected a number, got the value True", ""),
    (notes_exercises.PREDICT_CHECKS, (NOTES, ["ok"] * 6), "look again at call 2, call 3", ""),
    (notes_exercises.PREDICT_CHECKS, (NOTES, ["ok"]), "expected 6, got 1", ""),
    (notes_exercises.PREDICT_CHECKS, (NOTES, "ok"), "got the text 'ok'", ""),
    (notes_exercises.PREDICT_CHECKS, (NOTES, [*SIX[:5], "bad"]), "'ok' or 'error'", ""),
    (host.PREDICT_CHECKS, [2, 2, 2], "2 of 3 are right; look again at writing", "1"),
    (host.PREDICT_CHECKS, ["2", "1", "2"], "expected a number in each", ""),
    (host.PREDICT_CHECKS, 3, "expected a list, got the number 3", ""),
    (loop_exercises.PREDICT_CHECKS, [2, 3], "look again at the same, something new", "4"),
    (loop_exercises.PREDICT_CHECKS, [3], "expected 2, got 1", ""),
    (slim.PREDICT_CHECKS, ["whole", "empty", "compact", "json"], "40 rows of JSON, a long", "head"),
    (
        slim.PREDICT_CHECKS,
        ["whole"],
        "Give one for each, in this order: a short answer, no",
        "head",
    ),
    (slim.PREDICT_CHECKS, ["whole", "empty", "rows", "json"], "got the text 'rows'", ""),
    (memory_exercises.PREDICT_CHECKS, 8, "8 is too high", "7"),
    (memory_exercises.PREDICT_CHECKS, "7", "got the text '7'", ""),
    (recall_exercises.PREDICT_CHECKS, 0, "does not come first", "export is slow"),
    (recall_exercises.PREDICT_CHECKS, 4, "from 0 to 3, got the number 4", ""),
    (servers.PREDICT_CHECKS, (build_database, [True] * 5), "statement 1, statement 3", "False"),
    (servers.PREDICT_CHECKS, (build_database, [0, 1]), "expected 5, got 2", ""),
    (servers.PREDICT_CHECKS, (build_database, ["no"] * 5), "True or False", ""),
]
# What is built.
BUILT: list[tuple[Any, Any, str]] = [
    (tokens.TALLY_CHECKS, wrong.CountsATextOnce, "expected 15, got 13"),
    (tokens.TALLY_CHECKS, wrong.HasAMethodTotal, "write @property above it"),
    (window.REFUSE_CHECKS, wrong.refuses_one_by_one, "6 words of rank 0 into 5: expected BudgetE"),
    (window.REFUSE_CHECKS, wrong.refuses_by_value, "expected BudgetError, got ValueError: no."),
    (window.REFUSE_CHECKS, wrong.names_kept, "the check needs `.kept`, and the list ["),
    (window.REFUSE_CHECKS, wrong.forgets_to_return, "`.kept`, and None has none. Hint: Does your"),
    (monitor.LOST_CHECKS, wrong.lost_in_the_first_message, "expected [], got ['budget']"),
    (monitor.LOST_CHECKS, wrong.lost_all_or_none, "expected ['语言'], got ['budget', '语言']"),
    (monitor.LOST_CHECKS, wrong.lost_as_text, "expected a list, got the text '语言'"),
    (monitor.LOST_CHECKS, wrong.forgets_to_return, "expected a list, got None. Hint: Does your"),
    (
        notes_exercises.LIST_CHECKS,
        wrong.listing(wrong.LeavesOutLessThanNothing),
        "total and left_out, when all three come: expected (3, 0), got (3, -17)",
    ),
    (
        notes_exercises.LIST_CHECKS,
        wrong.listing(wrong.NamesWithoutFields),
        "`notes`: expected a `title` in each, got ['a', 'b', '下周']",
    ),
    (notes_exercises.LIST_CHECKS, wrong.forgets_to_return, "expected a server, got None. Hint: Do"),
    (host.SEVERAL_CHECKS, wrong.forgets_to_return, "the check needs `.open`, and None has none"),
    (host.SEVERAL_CHECKS, wrong.AnswersNothing, "the check needs `.text`, and None has none"),
    (host.SEVERAL_CHECKS, wrong.ClosesTheFirst, "1 of 2 servers still run after close()"),
    (host.SEVERAL_CHECKS, wrong.AsksTheLast, "expected ['1', '0'], got ['1', '2']"),
    (loop_exercises.DESCRIBE_CHECKS, lambda: "Query weather.", "missed: do I need an umbrella"),
    (loop_exercises.DESCRIBE_CHECKS, wrong.forgets_to_return, "expected a text, got None"),
    (slim.TABLE_CHECKS, wrong.halves_and_counts, "one more row of 5 words would fit"),
    (slim.TABLE_CHECKS, wrong.forgets_the_line, "The line that counts the gap has words, too"),
    (slim.TABLE_CHECKS, wrong.cuts_in_a_row, "expected one line beside head and rows"),
    (slim.TABLE_CHECKS, wrong.says_what_stayed, "are left out, and the line says"),
    (slim.TABLE_CHECKS, wrong.forgets_to_return, "expected a text, got None"),
    (memory_exercises.LASTING_CHECKS, wrong.lasts_with_numbers, "'The fair has 30 stands.'"),
    (memory_exercises.LASTING_CHECKS, wrong.lasts_in_lower_case, "Never book on a Friday"),
    (memory_exercises.LASTING_CHECKS, wrong.lasts_if_nothing_is_asked, "You must ask Ada first"),
    (memory_exercises.LASTING_CHECKS, wrong.lasts_as_one_text, "expected a list, got the text"),
    (recall_exercises.RANK_CHECKS, wrong.ranks_from_zero, "Does your first place count as 0?"),
    (recall_exercises.RANK_CHECKS, wrong.ranks_with_scores, "expected [3], got [(3, 0.0)]"),
    (recall_exercises.RANK_CHECKS, wrong.forgets_to_return, "expected a list, got None"),
    (servers.MOUNT_CHECKS, wrong.picks_by_letters, "expected [], got ['knowledge']"),
    (servers.MOUNT_CHECKS, wrong.picks_the_best, "expected ['notes', 'database'], got ["),
    (servers.MOUNT_CHECKS, wrong.picks_a_name, "expected a list, got the text 'database'"),
]
# What is to be broken.
BROKEN: list[tuple[Any, Any, str]] = [
    (tokens.BREAK_CHECKS, "token" * 4, "20 characters; at most 10"),
    (tokens.BREAK_CHECKS, "ten chars!", "30 are asked for"),
    (tokens.BREAK_CHECKS, ["🧾"] * 10, "expected a text, got the list"),
    (
        window.BREAK_CHECKS,
        ([Section("a", "x " * 11, rank=1)], 10),
        "a section of 11 words never fits into 10",
    ),
    (window.BREAK_CHECKS, [Section("a", "x")], "a list of sections and a budget"),
    (monitor.BREAK_CHECKS, [Section("a", "x " * 60), Section("b", "x " * 50)], "60 words are in"),
    (monitor.BREAK_CHECKS, "word", "expected a list, got the text 'word'"),
    (notes_exercises.BREAK_CHECKS, (build_notes, "x"), "the old note is still there"),
    (notes_exercises.BREAK_CHECKS, (build_notes, 5), "expected a text, got the number 5"),
    (host.BREAK_CHECKS, (McpHost, {"command": sys.executable, "args": ["-c", "1"]}), "came back"),
    (host.BREAK_CHECKS, (McpHost, ["python"]), "expected an entry with a `command`"),
    (loop_exercises.BREAK_CHECKS, (tiny_loop, CALLS[:2]), "expected 6, got 2"),
    (loop_exercises.BREAK_CHECKS, (tiny_loop, [CALLS[0]] * 6), "it was stopped after 2"),
    (loop_exercises.BREAK_CHECKS, (tiny_loop, ["today"] * 6), 'expected calls of "sky.weather"'),
    (
        loop_exercises.BREAK_CHECKS,
        (tiny_loop, [ToolCall(f"c{n}", "sky.rain", {"day": str(n)}) for n in range(6)]),
        'expected calls of "sky.weather"',
    ),
    (slim.BREAK_CHECKS, (package_slim, "the key " * 100, "the key"), "it is still there"),
    (slim.BREAK_CHECKS, (package_slim, "a " * 500, "the key"), "is not in the result"),
    (slim.BREAK_CHECKS, (package_slim, 5, "the key"), "expected a text, got the number 5"),
    (memory_exercises.BREAK_CHECKS, "Please never book a night train.", "a constraint"),
    (memory_exercises.BREAK_CHECKS, "Hi", "too short"),
    (memory_exercises.BREAK_CHECKS, ["Never."], "expected a text, got the list"),
    (recall_exercises.BREAK_CHECKS, ("Ana eats.", "Ana sleeps."), "to the second: not, never,"),
    (recall_exercises.BREAK_CHECKS, ("走", "不走"), "0.8 is asked for"),
    (recall_exercises.BREAK_CHECKS, ["I like tea"], 'expected 2, got 1. Hint: Write ("…", "…")'),
    (recall_exercises.BREAK_CHECKS, "Ana is not here", "expected a list, got the text"),
    (servers.BREAK_CHECKS, (SoundDatabase, "SELECT page FROM visits"), "Rows are capped"),
    (servers.BREAK_CHECKS, (SoundDatabase, f"SELECT '{'x' * 200}'"), "at most 200 are asked"),
    (servers.BREAK_CHECKS, (SoundDatabase, 5), "expected a text, got the number 5"),
]


LESSONS = [path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb"))][1:]


def exercised(stem: str) -> list[Any]:
    """Return the checks that a notebook runs behind the heading of its exercises."""
    lesson = Lesson.read(NOTEBOOKS / f"{stem}.ipynb")
    imports = [node for node in lesson.tree().body if isinstance(node, ast.ImportFrom)]
    known: dict[str, Any] = {}
    exec(compile(ast.Module([*imports], []), stem, "exec", dont_inherit=True), known)
    sources = "\n".join(cell.source for cell in lesson.notebook.cells)
    runs = r"run_checks(?:_async)?\(.*, ([\w.]*_CHECKS)\)"
    names = re.findall(runs, sources.partition("## Exercises")[2])
    return [attrgetter(name)(SimpleNamespace(**known)) for name in names]


@pytest.mark.parametrize("stem", LESSONS)
def test_every_exercise_of_the_series_has_a_wrong_solution_here(stem: str) -> None:
    tried = {id(checks) for checks, *_ in [*GUESSES, *BUILT, *BROKEN]}

    assert len(exercised(stem)) == 3
    assert [checks for checks in exercised(stem) if id(checks) not in tried] == []


async def failed(thing: Any, checks: Any) -> list[CheckResult]:
    return [r for r in await check_results_async(thing, checks) if r.outcome == "FAIL"]


@pytest.mark.parametrize(("checks", "guess", "told", "answer"), GUESSES)
async def test_a_wrong_guess_is_told_where_to_look_and_not_the_answer(
    checks: Any, guess: Any, told: str, answer: str
) -> None:
    [result] = await failed(guess, checks)

    assert told in result.got
    assert not answer or answer not in result.got


@pytest.mark.parametrize(("checks", "built", "told"), BUILT)
async def test_a_wrong_solution_fails_and_is_told_what_came_instead(
    checks: Any, built: Any, told: str
) -> None:
    results = await failed(built, checks)

    assert any(told in result.got for result in results), [result.got for result in results]


@pytest.mark.parametrize(("checks", "attempt", "told"), BROKEN)
async def test_what_breaks_nothing_fails_and_is_told_why(
    checks: Any, attempt: Any, told: str
) -> None:
    [result] = await failed(attempt, checks)

    assert told in result.got
