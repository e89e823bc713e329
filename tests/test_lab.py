"""How the series is opened, short of JupyterLab itself (see browser/)."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentkit import checkout, lab
from agentkit.errors import SetupError

SERIES = ["00_start_here.ipynb", "03_watching.ipynb"]


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of notebooks that stands in for the kit's own."""
    folder = tmp_path / "kit"
    folder.mkdir()
    for name in SERIES:
        (folder / name).write_text(f'{{"name": "{name}"}}', encoding="utf-8")
    monkeypatch.setattr(lab, "originals_folder", lambda: folder)
    return folder


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return what would have been started, instead of starting it."""
    calls: list[dict[str, Any]] = []

    def run(command: list[str], *, env: dict[str, str]) -> int:
        calls.append({"command": command, "env": env})
        return 0

    monkeypatch.setattr(lab, "run", run)
    return calls


def shown_turn(monkeypatch: pytest.MonkeyPatch, status: int) -> list[int]:
    """Put a demo of a given exit status in the place of the real one."""
    from agentkit import demo

    calls: list[int] = []

    def run_demo() -> int:
        calls.append(status)
        return status

    monkeypatch.setattr(demo, "run_demo", run_demo)
    return calls


def test_the_first_time_one_turn_is_shown_and_then_the_lab_opens(
    kit: Path, started: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = shown_turn(monkeypatch, 0)

    lab.open_lab(folder=tmp_path / "mine")
    lab.open_lab(folder=tmp_path / "mine")

    assert turns == [0]
    assert len(started) == 2
    assert sorted(path.name for path in (tmp_path / "mine").glob("*.ipynb")) == SERIES


def test_a_demo_that_fails_is_said_and_the_lab_opens_all_the_same(
    kit: Path,
    started: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown_turn(monkeypatch, 1)

    assert lab.open_lab(folder=tmp_path / "mine") == 0

    assert len(started) == 1
    assert "agentkit doctor" in capsys.readouterr().err


def test_the_lab_gets_the_kits_settings_and_keeps_the_users(
    kit: Path, started: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "theirs")
    monkeypatch.setattr(lab, "_is_free", lambda _: True)

    lab.open_lab(folder=tmp_path, demo=False, browser=False, port=8899, rest=["--debug"])

    command, env = started[0]["command"], started[0]["env"]
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={tmp_path.resolve()}" in command
    assert "--no-browser" in command
    assert "--port=8899" in command
    assert command[-1] == "--debug"
    *ours, theirs = env["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert theirs == "theirs"
    settings = settings_in(ours)
    assert settings["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def settings_in(folders: list[str]) -> dict[str, Any]:
    """Return what JupyterLab would read from these folders, each setting from one of them."""
    files = [Path(folder) / "labconfig" / "default_setting_overrides.json" for folder in folders]
    read = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return {name: values for each in read for name, values in each.items()}


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def test_a_port_in_use_is_said_and_so_is_the_one_that_is_taken(
    kit: Path,
    started: list[dict[str, Any]],
    taken: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lab.open_lab(folder=tmp_path, demo=False, port=taken)

    said = re.search(r"port (\d+) is in use; JupyterLab takes (\d+)", capsys.readouterr().out)
    assert said
    assert int(said[1]) == taken < int(said[2])
    assert f"--port={said[2]}" in started[0]["command"]


def test_a_free_port_is_taken_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = int(server.getsockname()[1])

    assert lab.free_port(free) == free
    assert capsys.readouterr().out == ""


def test_no_free_port_at_all_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "_is_free", lambda _: False)

    with pytest.raises(SetupError) as caught:
        lab.free_port(65_530)

    assert "--port" in caught.value.hint


def test_originals_are_opened_without_a_copy(
    kit: Path, started: list[dict[str, Any]], tmp_path: Path
) -> None:
    lab.open_lab(originals=True, folder=tmp_path / "mine")

    assert f"--ServerApp.root_dir={kit}" in started[0]["command"]
    assert not (tmp_path / "mine").exists()
    ours = started[0]["env"]["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert "@jupyter-widgets/jupyterlab-manager:plugin" not in settings_in(ours[:1])
    assert len(ours) == 1 + bool(os.environ.get("JUPYTER_CONFIG_PATH"))


@pytest.mark.parametrize("name", ["3", "03", "03_watching", "03_watching.ipynb"])
def test_a_notebook_is_found_by_number_or_name(kit: Path, tmp_path: Path, name: str) -> None:
    mine = tmp_path / "mine" / "03_watching.ipynb"
    mine.parent.mkdir()
    mine.write_text("mine", encoding="utf-8")

    assert lab.reset_notebooks([name], folder=mine.parent) == 0

    assert mine.read_text(encoding="utf-8") == (kit / mine.name).read_text(encoding="utf-8")
    assert mine.with_name("03_watching.mine-1.ipynb").read_text(encoding="utf-8") == "mine"


def test_all_are_restored_when_asked(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.reset_notebooks([], every=True, folder=tmp_path / "mine")

    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == SERIES


@pytest.mark.parametrize("names", [["3", "4"], ["../kit"], []])
def test_a_name_that_fits_nothing_restores_nothing(
    kit: Path, tmp_path: Path, names: list[str]
) -> None:
    with pytest.raises(SetupError) as caught:
        lab.reset_notebooks(names, folder=tmp_path / "mine")

    assert "03" in caught.value.hint
    assert not (tmp_path / "mine").exists()


def test_a_package_keeps_the_copy_in_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "is_checkout", lambda: False)

    assert lab.copy_folder().name == "agentkit_notebooks"
    assert checkout.ROOT not in lab.copy_folder().parents
    assert lab.originals_folder().name == "_notebooks"
