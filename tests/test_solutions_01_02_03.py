"""The solutions of notebooks 01, 02 and 03 do what their exercises ask."""

from typing import Any

import pytest

from agentkit.checks import check_results
from agentkit.checks import monitor as monitor_checks
from agentkit.checks import tokens as tokens_checks
from agentkit.checks import window as window_checks
from notebooks.solutions import s01_counting_what_a_model_reads as s01
from notebooks.solutions import s02_the_context_window as s02
from notebooks.solutions import s03_watching_the_window_fill as s03

SOLVED = [
    (s01.GUESS, tokens_checks.PREDICT_CHECKS),
    (s01.SolvedTally, tokens_checks.TALLY_CHECKS),
    (s01.DEAR, tokens_checks.BREAK_CHECKS),
    (s02.GUESS, window_checks.PREDICT_CHECKS),
    (s02.solved_pack, window_checks.REFUSE_CHECKS),
    (s02.WASTE, window_checks.BREAK_CHECKS),
    (s03.GUESS, monitor_checks.PREDICT_CHECKS),
    (s03.solved_lost, monitor_checks.LOST_CHECKS),
    (s03.BLIND, monitor_checks.BREAK_CHECKS),
]


@pytest.mark.parametrize(("solution", "wanted"), SOLVED)
def test_a_solution_keeps_every_promise_of_its_exercise(solution: Any, wanted: Any) -> None:
    assert [str(r) for r in check_results(solution, wanted) if r.outcome != "ok"] == []
