"""The test command: its closing line and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit import runtests
from agentkit.errors import SetupError

REPORT = """\
<testsuites><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10">
</testsuite></testsuites>
"""
ALL_GREEN = """\
<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="1" tests="10">
</testsuite></testsuites>
"""


def test_the_closing_line_counts_what_pytest_counted(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(REPORT, encoding="utf-8")

    assert runtests.closing_line(report) == "4 passed, 3 failed, 3 skipped"


def test_without_a_report_nothing_passed(tmp_path: Path) -> None:
    assert runtests.closing_line(tmp_path / "none.xml").startswith("0 passed, 0 failed, 0 skipped")


@pytest.mark.parametrize(
    ("report", "steps", "line"),
    [
        (REPORT, ["lint"], "4 passed, 4 failed, 3 skipped; FAILED: lint"),
        (
            REPORT,
            ["lint", "types", "tests"],
            "4 passed, 5 failed, 3 skipped; FAILED: lint, types, tests",
        ),
        (ALL_GREEN, ["tests"], "9 passed, 1 failed, 1 skipped; FAILED: tests"),
        (ALL_GREEN, [], "9 passed, 0 failed, 1 skipped"),
    ],
)
def test_the_closing_line_counts_and_names_each_step_that_failed(
    tmp_path: Path, report: str, steps: list[str], line: str
) -> None:
    """By hand: 3 tests failed in one report and none in the other, where pytest itself did."""
    path = tmp_path / "junit.xml"
    path.write_text(report, encoding="utf-8")

    assert runtests.closing_line(path, failed_steps=steps) == line


def test_the_closing_line_names_a_step_even_where_no_report_is(tmp_path: Path) -> None:
    line = runtests.closing_line(tmp_path / "none.xml", failed_steps=["lint", "tests"])

    assert line.startswith("0 passed, 2 failed, 0 skipped: ")
    assert line.endswith("; FAILED: lint, tests")


@pytest.fixture
def statuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, int]:
    """Return the exit statuses that each step will have, by name; all pass at first."""
    chosen = dict.fromkeys([*runtests.STEPS, "tests"], 0)
    monkeypatch.setattr(runtests, "ARTIFACTS", tmp_path)

    def step(name: str, command: list[str]) -> tuple[str, int, float]:
        if name == "tests":
            (tmp_path / "junit.xml").write_text(ALL_GREEN, encoding="utf-8")
        return name, chosen[name], 1.0

    monkeypatch.setattr(runtests, "_step", step)
    return chosen


def test_all_steps_pass(statuses: dict[str, int], capsys: pytest.CaptureFixture[str]) -> None:
    assert runtests.run_tests() == 0

    said = capsys.readouterr().out
    assert said.splitlines()[-1] == "9 passed, 0 failed, 1 skipped"
    assert "FAILED" not in said


@pytest.mark.parametrize("name", ["lint", "format", "types", "tests"])
def test_one_step_that_fails_fails_all_and_the_others_still_run(
    name: str, statuses: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    statuses[name] = 1

    assert runtests.run_tests(fast=True) == 1

    table = capsys.readouterr().out
    assert table.count(" ok ") == 3
    assert f"{name:<9} FAILED" in table
    assert f"\nFAILED: {name}." in table
    assert table.splitlines()[-1] == f"9 passed, 1 failed, 1 skipped; FAILED: {name}"


def test_a_package_has_no_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtests, "is_checkout", lambda: False)

    with pytest.raises(SetupError) as caught:
        runtests.run_tests()

    assert "Clone" in caught.value.hint
