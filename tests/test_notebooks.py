"""The series as files: that it is whole, and that each notebook keeps to the rules.

Whether a notebook prints what it shows is not asked here: `pytest notebooks` runs them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import agentkit
from tests.notebooks import build, guards
from tests.notebooks.guards import GUARDS, LESSON_GUARDS, Guard, Lesson

ROOT = Path(__file__).resolve().parents[1]
SERIES = [
    "00_start_here",
    "01_counting_what_a_model_reads",
    "02_the_context_window",
    "03_watching_the_window_fill",
    "04_a_note_server",
    "05_a_host_that_speaks_stdio",
    "06_the_loop",
    "07_tool_results_eat_the_window",
    "08_short_term_and_working_memory",
    "09_long_term_memory_and_recall",
    "12_many_servers",
]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def package_names() -> frozenset[str]:
    """Return the public names, and every public function and class of the package's modules."""
    names = set(agentkit.__all__)
    for path in (ROOT / "agentkit").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
    return frozenset(name for name in names if not name.startswith("_") and name != "main")


def test_the_series_is_whole() -> None:
    assert [path.stem for path in PATHS] == SERIES


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.__name__)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_keeps_to_the_rules(path: Path, guard: Guard) -> None:
    assert list(guard(Lesson.read(path))) == []


@pytest.mark.parametrize("guard", LESSON_GUARDS, ids=lambda guard: guard.__name__)
@pytest.mark.parametrize("path", PATHS[1:], ids=lambda path: path.stem)
def test_a_lesson_builds_checks_and_hands_over(path: Path, guard: Guard) -> None:
    assert list(guard(Lesson.read(path))) == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_defines_no_name_of_the_package(path: Path) -> None:
    lesson = Lesson.read(path)

    assert list(guards.names_nothing_of_the_package(lesson, package_names())) == []


def test_no_name_is_defined_in_two_notebooks() -> None:
    assert shared([Lesson.read(path) for path in PATHS]) == []


def shared(lessons: list[Lesson]) -> list[str]:
    """Return the functions and classes that two notebooks define."""
    return [
        f"{one.path.stem} and {other.path.stem} define {name}"
        for one, other in combinations(lessons, 2)
        for name in sorted(guards.defined(one) & guards.defined(other))
    ]


GOOD = """\
# %% [markdown]
# # A good notebook 好
#
# | time | you need | you build | it becomes |
# |---|---|---|---|
# | 30 min | 02 | `tiny_pack` | `window` |
#
# You see what fills the window, as [02](02_good.ipynb) promised; notebooks 10, 11 and 13 wait.
#
# | route | notebooks |
# |---|---|
# | 90 minutes | 02, 12 |
#
# A budget of 400 is 75 % full at 300.
#
# ```
# a ─▶ b
# ```
# %%
from agentkit import pack
from agentkit.checks import run_checks
from agentkit.nb import show_source
# %%
def tiny_pack(sections):
    return sections[:400]
# %%
run_checks(tiny_pack, [])
# %%
run_checks(pack, [])
show_source(pack)
# %% tags=["raises-exception"]
1 / 0
# %% [markdown]
# ## Exercises
# Build one.
# %%
def mine():
    raise NotImplementedError


0.75, await x, 300
"""


@pytest.fixture
def good(tmp_path: Path) -> Lesson:
    """Return a notebook that no guard has anything to say about."""
    path = tmp_path / "03_good.ipynb"
    notebook = build.notebook_of(GOOD, name=path.name)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for count, cell in enumerate(code, 1):
        cell.execution_count = count
    code[4].outputs = [
        build.nbformat.v4.new_output("error", ename="ZeroDivisionError", evalue="", traceback=[])
    ]
    build.quieten(notebook)
    build.save(notebook, path)
    (tmp_path / "02_good.ipynb").write_text("{}", encoding="utf-8")
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "exercises_03.py").write_text("", encoding="utf-8")
    return Lesson.read(path)


def test_a_good_notebook_passes_every_guard(good: Lesson) -> None:
    assert [fault for guard in GUARDS + LESSON_GUARDS for fault in guard(good)] == []
    assert list(guards.names_nothing_of_the_package(good, package_names())) == []


def _code(cells: list[Any], place: int) -> Any:
    return [cell for cell in cells if cell.cell_type == "code"][place]


def _say(text: str) -> Callable[[list[Any]], None]:
    def change(cells: list[Any]) -> None:
        cells[0].source += "\n" + text

    return change


def _put(place: int, source: str) -> Callable[[list[Any]], None]:
    def change(cells: list[Any]) -> None:
        _code(cells, place).source = source

    return change


def _set(place: int, **values: Any) -> Callable[[list[Any]], None]:
    def change(cells: list[Any]) -> None:
        _code(cells, place).update(values)

    return change


def _stream(name: str, text: str) -> Callable[[list[Any]], None]:
    return _set(0, outputs=[build.nbformat.v4.new_output("stream", name=name, text=text)])


def _many(cells: list[Any]) -> None:
    cells += [build.nbformat.v4.new_code_cell("1") for _ in range(20)]


BROKEN: list[tuple[Guard, Callable[[list[Any]], None], str]] = [
    (guards.is_valid, _set(0, id="abc"), "cell ids"),
    (guards.is_of_no_machine, _stream("stdout", "/home/ann/kit"), "a place of one machine"),
    (guards.was_run_in_order, _set(1, execution_count=None), "not run once"),
    (guards.was_run_in_order, _set(1, execution_count=9), "not run once"),
    (guards.shows_no_error_by_accident, _set(4, metadata={}), "ZeroDivisionError"),
    (guards.shows_no_error_by_accident, _stream("stderr", "Warning"), "standard error"),
    (guards.is_small, _stream("stdout", "x" * 200_001), "bytes, over"),
    (guards.is_small, _many, "code cells, over"),
    (guards.is_small, _say("word " * 1200), "words, over"),
    (guards.is_small, _put(0, "1\n" * 26), "lines, over"),
    (guards.begins_as_all_do, lambda cells: cells.pop(0), "no title"),
    (guards.begins_as_all_do, lambda cells: cells[0].update(source="# A\n\nb"), "header table"),
    (guards.reads_plainly, _say("This is just a test."), "'just'"),
    (guards.reads_plainly, _say("Done!"), "exclamation"),
    (guards.reads_plainly, _say("Done \U0001f600"), "emoji"),
    (guards.draws_in_text, _say("![a picture](x.png)"), "links an image"),
    (guards.draws_in_text, _say("```\n" + "x" * 73 + "\n```"), "lines of up to 73"),
    (guards.draws_in_text, _say("```\n" + "x\n" * 13 + "```"), "13 lines"),
    (guards.links_lead_somewhere, _say("[04](04_gone.ipynb)"), "leads nowhere"),
    (guards.links_lead_somewhere, _say("[out](../README.md)"), "leads nowhere"),
    (guards.numbers_are_seen, _say("It takes 1,234 tokens."), "1,234"),
    (guards.numbers_are_seen, _say("\n## Sizes\n\n| a | size |\n|---|---|\n| b | 91 |"), "91"),
    (guards.checks_both, _put(3, "show_source(pack)"), "not on yours and the package's"),
    (guards.checks_both, _put(3, "run_checks(pack, [])"), "never shows"),
    (guards.has_exercises, _put(5, "1"), "NotImplementedError"),
    (guards.has_exercises, lambda cells: cells[-2].update(source="## More"), "no section"),
]


@pytest.mark.parametrize(("guard", "change", "said"), BROKEN, ids=lambda part: str(part)[:40])
def test_a_broken_notebook_is_caught(
    guard: Guard, change: Callable[[list[Any]], None], said: str, good: Lesson
) -> None:
    change(good.notebook.cells)

    assert any(said in fault for fault in guard(good))


def test_metadata_of_a_machine_is_caught(good: Lesson) -> None:
    good.notebook.metadata.kernelspec = {"name": "conda-ann"}
    good.notebook.metadata.widgets = {}

    assert len(list(guards.is_of_no_machine(good))) == 2


def test_a_missing_solution_is_caught(good: Lesson) -> None:
    (good.path.parent / "solutions" / "exercises_03.py").unlink()

    assert list(guards.has_exercises(good)) == ["solutions/ has nothing for 03"]


def test_a_package_name_in_a_notebook_is_caught(good: Lesson) -> None:
    _put(1, "def pack(): ...")(good.notebook.cells)

    faults = guards.names_nothing_of_the_package(good, package_names())

    assert list(faults) == ["it defines pack, which the package has"]


def test_a_name_in_two_notebooks_is_caught(good: Lesson) -> None:
    found = shared([good, Lesson(Path("04_other.ipynb"), good.notebook)])

    assert found == [
        "03_good and 04_other define mine",
        "03_good and 04_other define tiny_pack",
    ]
