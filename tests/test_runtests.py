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


def test_the_closing_line_counts_what_pytest_counted(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(REPORT, encoding="utf-8")

    assert runtests.closing_line(report) == "4 passed, 3 failed, 3 skipped"


def test_without_a_report_nothing_passed(tmp_path: Path) -> None:
    assert runtests.closing_line(tmp_path / "none.xml").startswith("0 passed, 0 failed, 0 skipped")


@pytest.fixture
def statuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, int]:
    """Return the exit statuses that each step will have, by name; all pass at first."""
    chosen = dict.fromkeys([*runtests.STEPS, "tests"], 0)
    monkeypatch.setattr(runtests, "ARTIFACTS", tmp_path)
    monkeypatch.setattr(runtests, "_step", lambda name, command: (name, chosen[name], 1.0))
    return chosen


def test_all_steps_pass(statuses: dict[str, int]) -> None:
    assert runtests.run_tests() == 0


@pytest.mark.parametrize("name", ["lint", "format", "types", "tests"])
def test_one_step_that_fails_fails_all_and_the_others_still_run(
    name: str, statuses: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    statuses[name] = 1

    assert runtests.run_tests(fast=True) == 1

    table = capsys.readouterr().out
    assert table.count(" ok ") == 3
    assert f"{name:<9} FAILED" in table


def test_a_package_has_no_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtests, "is_checkout", lambda: False)

    with pytest.raises(SetupError) as caught:
        runtests.run_tests()

    assert "Clone" in caught.value.hint
