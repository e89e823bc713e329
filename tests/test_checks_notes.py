"""The checks of a note server: they pass on the kit's, and each fails on its broken twin alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentkit.checks import check_results_async
from agentkit.checks.notes import CHECKS, FULL_CHECKS
from agentkit.checks.notes_exercises import BREAK_CHECKS, LIST_CHECKS, PREDICT_CHECKS
from servers.notes import build_server
from tests.broken.checks_notes_servers import LISTS, SERVERS, MuteFailure, Sound, building
from tests.broken.checks_notes_stores import BREAKS

pytestmark = pytest.mark.anyio
ONLY_FULL = FULL_CHECKS[len(CHECKS) :]
RIGHT = ["ok", "error", "error", "ok", "error", "error"]


async def failed(thing: Any, checks: Any) -> list[str]:
    results = await check_results_async(thing, checks)
    return [result.name for result in results if result.outcome != "ok"]


async def test_the_server_of_the_kit_passes_all() -> None:
    assert await failed(build_server, (*FULL_CHECKS, *LIST_CHECKS)) == []


async def test_a_small_sound_server_passes_what_is_asked_of_any() -> None:
    assert await failed(building(Sound), (*CHECKS, *LIST_CHECKS)) == []


def test_every_check_has_a_broken_twin() -> None:
    assert list(SERVERS) == [check.__name__ for check in CHECKS]
    assert list(BREAKS) == [check.__name__ for check in ONLY_FULL]
    assert [*LISTS, *SERVERS] == [
        check.__name__ for check in dict.fromkeys((*LIST_CHECKS[: len(LISTS)], *CHECKS))
    ]


@pytest.mark.parametrize(("name", "kind"), SERVERS.items())
async def test_a_broken_twin_fails_its_check_alone(name: str, kind: type[Sound]) -> None:
    assert await failed(building(kind), CHECKS) == [name]


@pytest.mark.parametrize(("name", "kind"), LISTS.items())
async def test_a_broken_list_fails_its_check_alone(name: str, kind: type[Sound]) -> None:
    assert await failed(building(kind), LIST_CHECKS) == [name]


async def test_an_error_whose_words_are_hidden_teaches_nothing() -> None:
    name = "an_unknown_note_is_an_error_to_learn_from"

    results = await check_results_async(building(MuteFailure), CHECKS)

    [said] = [result.got for result in results if result.outcome != "ok"]
    assert [result.name for result in results if result.outcome != "ok"] == [name]
    assert "Hint: The SDK hides the text of every exception but ToolError." in said


@pytest.mark.parametrize(("name", "breaks"), BREAKS.items())
async def test_a_broken_store_fails_its_check_alone(
    name: str, breaks: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch)

    assert await failed(build_server, ONLY_FULL) == [name]


async def test_what_is_not_built_yet_is_todo() -> None:
    def build(path: Path) -> Any:
        raise NotImplementedError

    results = await check_results_async(build, (*FULL_CHECKS, *LIST_CHECKS))

    assert {result.outcome for result in results} == {"todo"}


@pytest.mark.parametrize(
    ("guess", "outcome"), [(None, "todo"), (["ok"] * 6, "FAIL"), (RIGHT[:5], "FAIL"), (RIGHT, "ok")]
)
async def test_a_prediction_is_judged_by_what_the_server_says(guess: Any, outcome: str) -> None:
    [small] = await check_results_async((building(Sound), guess), PREDICT_CHECKS)
    [full] = await check_results_async((build_server, guess), PREDICT_CHECKS)

    assert [small.outcome, full.outcome] == [outcome, outcome]


async def test_a_harmless_text_does_not_solve_the_break() -> None:
    [unsolved] = await check_results_async((building(Sound), None), BREAK_CHECKS)
    [harmless] = await check_results_async((building(Sound), "下周 📝"), BREAK_CHECKS)

    assert [unsolved.outcome, harmless.outcome] == ["todo", "FAIL"]
