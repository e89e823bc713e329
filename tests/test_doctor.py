"""The doctor: what it finds here, and what it says of a machine that lacks something."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agentkit import doctor
from agentkit.doctor import CHECKS, Finding, examine, line_of
from agentkit.errors import SetupError


@pytest.mark.parametrize(("name", "check"), [(name, check) for name, check, need in CHECKS if need])
def test_what_is_needed_is_here(name: str, check: Callable[[], str]) -> None:
    found = examine(name, check, needed=True)

    assert found.state == "ok", line_of(found)


def failing() -> str:
    raise SetupError("It is not there.", hint="Install it.")


def breaking() -> str:
    raise ZeroDivisionError("oh\nno")


@pytest.mark.parametrize(("needed", "state"), [(True, "missing"), (False, "optional")])
def test_what_is_missing_comes_with_advice(needed: bool, state: str) -> None:
    found = examine("thing", failing, needed=needed)

    assert found == Finding("thing", state, "It is not there.", "Install it.")  # type: ignore[arg-type]
    assert line_of(found).splitlines()[1].strip() == "→ Install it."


def test_a_check_that_breaks_is_a_finding_too() -> None:
    found = examine("thing", breaking, needed=True)

    assert (found.state, found.found) == ("missing", "ZeroDivisionError: oh no")
    assert found.advice


@pytest.mark.parametrize(("needed", "status"), [(True, 1), (False, 0)])
def test_only_what_is_needed_makes_it_fail(
    needed: bool, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "CHECKS", [("a", lambda: "there", True), ("b", failing, needed)])

    assert doctor.run_doctor(as_json=True) == status

    assert [found["name"] for found in json.loads(capsys.readouterr().out)] == ["a", "b"]


def test_a_server_that_does_not_answer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "WAIT_S", 0.01)

    found = examine("servers", doctor._servers, needed=True)

    assert found.state == "missing"
    assert "servers.notes --help" in found.advice


def test_a_full_disk_is_said_in_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 9, 100_000_000)
    )

    found = examine("disk", doctor._disk, needed=True)

    assert (found.state, found.found) == ("missing", "100 MB free, 500 needed")
    assert found.advice == "Make 400 MB of room."


def test_a_model_setting_that_means_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTKIT_MODEL", "nobody:x")

    found = examine("model", doctor._model, needed=True)

    assert found.state == "missing"
    assert "openai:" in found.advice


def test_a_named_browser_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "none"))

    assert doctor.find_browser() is None
    assert examine("browser", doctor._browser, needed=False).state == "optional"
