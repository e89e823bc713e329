"""What the checkout asks of an interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import metadata

import pytest

from agentkit import checkout


@pytest.mark.parametrize(
    ("requirement", "installed", "met"),
    [
        ("mcp>=2.3,<3", "2.3.0", True),
        ("mcp>=2.3,<3", "2.10.1", True),
        ("mcp>=2.3,<3", "1.27.2", False),
        ("mcp>=2.3,<3", "3.0", False),
        ("nbval==0.11.0", "0.11", True),
        ("nbval==0.11.0", "0.11.1", False),
        ("openai>=2,<4", "4.0.0rc1", False),
        ("numpy", "1.0", True),
    ],
)
def test_bounds_are_compared_by_their_numbers(
    requirement: str, installed: str, met: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: installed)
    monkeypatch.setattr(checkout, "requirements", lambda *, dev: [requirement])
    monkeypatch.setattr(checkout, "_points_here", lambda: True)

    assert checkout.missing(dev=False) == ([] if met else [requirement])


def test_this_environment_has_what_the_tests_need() -> None:
    assert checkout.missing(dev=True) == []


def test_a_package_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "requirements", lambda *, dev: ["surely-not-installed>=1"])

    assert "surely-not-installed>=1" in checkout.missing(dev=False)


def test_the_tests_need_more_than_the_notebooks() -> None:
    more = set(checkout.requirements(dev=True)) - set(checkout.requirements(dev=False))

    assert any(line.startswith("pytest") for line in more)


@pytest.mark.parametrize("status", [0, 3])
def test_the_exit_status_of_a_command_is_passed_on(status: int) -> None:
    assert checkout.run([sys.executable, "-c", f"raise SystemExit({status})"]) == status


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals to die of")
def test_a_command_that_a_signal_ended_reports_what_a_shell_would() -> None:
    program = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"

    assert checkout.run([sys.executable, "-c", program]) == 128 + 15


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without a signal")
@pytest.mark.parametrize(("sent", "status"), [("SIGTERM", 128 + 15), ("SIGINT", 7)])
def test_a_signal_ends_the_child_and_not_the_wait_for_it(sent: str, status: int) -> None:
    """By design: the child decides what Ctrl-C means, here an exit status of seven."""
    child = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(7))\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()\n"
    )
    parent = (
        "import sys\nfrom agentkit.checkout import run\n"
        f"sys.exit(run([sys.executable, '-c', {child!r}]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        if sent == "SIGINT":
            os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to both
        else:
            process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=60) == status
