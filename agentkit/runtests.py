"""Lint, format, types and tests in one go, as CI and README call them.

    ruff check ─▶ ruff format ─▶ mypy ─▶ pytest ─▶ a table, and one closing line

A step that fails does not stop the next one: a newcomer sees everything at once.

Read after: cli.py.     Read next: ../tests/conftest.py.
"""

from __future__ import annotations

import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

from agentkit.checkout import ROOT, is_checkout
from agentkit.errors import SetupError

ARTIFACTS = ROOT / "artifacts"  # git ignores it, CI keeps it
STEPS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
}


def run_tests(*, fast: bool = False, rest: list[str] | None = None) -> int:
    """Run every step and return 0 only if all of them passed.

    Args:
        fast: Without the notebooks and the browser.
        rest: Further arguments for pytest.

    Raises:
        SetupError: This is not a checkout: a package carries no tests.
    """
    if not is_checkout():
        raise SetupError(
            "The tests come with the repository, not with the installed package.",
            hint="Clone the repository and run `python -m agentkit test` in it.",
        )
    ARTIFACTS.mkdir(exist_ok=True)
    report = ARTIFACTS / "junit.xml"
    report.unlink(missing_ok=True)
    rows = [_step(name, command) for name, command in STEPS.items()]
    rows.append(_step("tests", _pytest(report, fast=fast) + (rest or [])))

    print("\nstep      result   seconds")
    for name, status, seconds in rows:
        print(f"{name:<9} {'ok' if status == 0 else 'FAILED':<8} {seconds:7.0f}")
    print(f"\n{closing_line(report)}")
    return int(any(status != 0 for _, status, _ in rows))


def _pytest(report: Path, *, fast: bool) -> list[str]:
    command = ["pytest", "-r", "fEs", "--durations=25", f"--junitxml={report}"]
    return [*command, "tests", "--ignore=tests/browser"] if fast else command


def _step(name: str, command: list[str]) -> tuple[str, int, float]:
    print(f"\n── {name}: {' '.join(command)}", flush=True)
    start = time.perf_counter()
    status = subprocess.run([sys.executable, "-m", *command], cwd=ROOT).returncode
    return name, status, time.perf_counter() - start


def closing_line(report: Path) -> str:
    """Return e.g. "312 passed, 0 failed, 1 skipped" from pytest's JUnit report."""
    if not report.exists():
        return "0 passed, 0 failed, 0 skipped: pytest did not get as far as its report"
    suites = list(ET.parse(report).getroot().iter("testsuite"))
    count = {
        key: sum(int(suite.get(key, 0)) for suite in suites)
        for key in ("tests", "failures", "errors", "skipped")
    }
    failed, skipped = count["failures"] + count["errors"], count["skipped"]
    return f"{count['tests'] - failed - skipped} passed, {failed} failed, {skipped} skipped"
