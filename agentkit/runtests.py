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
from collections.abc import Sequence
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
    failed = [name for name, status, _ in rows if status != 0]
    if failed:
        print(
            f"\nFAILED: {', '.join(failed)}. What went wrong stands above, below `── {failed[0]}`."
        )
    print(f"\n{closing_line(report, failed_steps=failed)}")
    return int(bool(failed))


def _pytest(report: Path, *, fast: bool) -> list[str]:
    command = ["pytest", "-r", "fEs", "--durations=25", f"--junitxml={report}"]
    return [*command, "tests", "--ignore=tests/browser"] if fast else command


def _step(name: str, command: list[str]) -> tuple[str, int, float]:
    print(f"\n── {name}: {' '.join(command)}", flush=True)
    start = time.perf_counter()
    status = subprocess.run([sys.executable, "-m", *command], cwd=ROOT).returncode
    return name, status, time.perf_counter() - start


def closing_line(report: Path, *, failed_steps: Sequence[str] = ()) -> str:
    """Return e.g. "312 passed, 1 failed, 1 skipped" from pytest's JUnit report.

    A step that failed counts as one, and is named behind the numbers: "...; FAILED: lint".
    The tests count by themselves, unless pytest failed and no test did.

    Args:
        report: Where pytest wrote; it may be missing.
        failed_steps: Names of steps, "tests" among them.
    """
    count = _counts(report)
    failed, skipped = count["failures"] + count["errors"], count["skipped"]
    passed = count["tests"] - failed - skipped
    failed += sum(step != "tests" or not failed for step in failed_steps)
    numbers = f"{passed} passed, {failed} failed, {skipped} skipped"
    if not report.exists():
        numbers += ": pytest did not get as far as its report"
    return f"{numbers}; FAILED: {', '.join(failed_steps)}" if failed_steps else numbers


def _counts(report: Path) -> dict[str, int]:
    suites = list(ET.parse(report).getroot().iter("testsuite")) if report.exists() else []
    return {
        key: sum(int(suite.get(key, 0)) for suite in suites)
        for key in ("tests", "failures", "errors", "skipped")
    }
