"""The set-up of .venv, by a real pip in a small checkout that needs no network.

The small checkout holds the kit's own files that run on the standard library, in a folder
with a space and Chinese letters in its name, and a build backend of twenty lines.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentkit import __main__ as door

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 300
PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "agentkit"
version = "0.1.0"
dependencies = []
[dependency-groups]
dev = []
"""
BACKEND = """\
import tomllib
import zipfile
from pathlib import Path

INFO = "agentkit-0.1.0.dist-info"


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = "agentkit-0.1.0-py3-none-any.whl"
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = ["Metadata-Version: 2.1", "Name: agentkit", "Version: 0.1.0"]
    lines += [f"Requires-Dist: {line}" for line in project["dependencies"]]
    files = {
        "_agentkit.pth": str(Path.cwd()),
        f"{INFO}/METADATA": "\\n".join(lines) + "\\n",
        f"{INFO}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files[f"{INFO}/RECORD"] = "".join(f"{file},,\\n" for file in [*files, f"{INFO}/RECORD"])
    with zipfile.ZipFile(Path(wheel_directory, name), "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)
    return name
"""
STANDARD = ["__main__", "bootstrap", "checkout", "cli", "errors", "lab", "setup_env"]
STANDARD += ["working_copy"]
NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'


class SmallCheckout:
    """A checkout of the kit's door, and a way to run it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.stamp = root / ".venv" / "agentkit-setup.json"
        for folder in ("agentkit", "notebooks", ".ci"):
            (root / folder).mkdir(parents=True)
        for name in STANDARD:
            shutil.copy(ROOT / "agentkit" / f"{name}.py", root / "agentkit")
        self.write("agentkit/__init__.py", "")
        self.write("notebooks/00_start_here.ipynb", NOTEBOOK)
        self.write(".ci/constraints.txt", "")
        self.write("backend.py", BACKEND)
        self.write("pyproject.toml", PROJECT)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8", newline="\n")

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AGENTKIT_", "PIP_"))}
        return subprocess.Popen(
            [sys.executable, "-m", "agentkit", *arguments],
            cwd=self.root,
            env={**kept, "PIP_NO_INDEX": "1", "PIP_RETRIES": "0", "PYTHONUTF8": "1", **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )

    def run(self, *arguments: str, **variables: str) -> tuple[int, str]:
        child = self.start(*arguments, **variables)
        said, _ = child.communicate(timeout=LIMIT_S)
        return child.returncode, said

    def state(self) -> str:
        return str(json.loads(self.stamp.read_text(encoding="utf-8"))["state"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SmallCheckout:
    """Return a checkout whose .venv the first command made."""
    checkout = SmallCheckout(tmp_path_factory.mktemp("kit") / "我的 kit")
    status, said = checkout.run("reset", "0")
    assert (status, checkout.state()) == (0, "ready"), said
    assert "Making" in said
    assert "00_start_here.ipynb: restored" in said
    return checkout


@pytest.fixture
def checkout(made: SmallCheckout) -> SmallCheckout:
    """Return that checkout with its project file as it was."""
    made.write("pyproject.toml", PROJECT)
    return made


def test_the_next_start_sets_nothing_up(checkout: SmallCheckout) -> None:
    checkout.run("reset", "0")

    status, said = checkout.run("reset", "0")

    assert (status, said) == (0, "00_start_here.ipynb: restored\n")


def test_the_exit_status_and_the_hint_come_through(checkout: SmallCheckout) -> None:
    status, said = checkout.run("reset", "77")

    assert status == 1
    assert "Hint: One of: 00_start_here.ipynb" in said


def test_a_mistyped_command_installs_nothing(tmp_path: Path) -> None:
    fresh = SmallCheckout(tmp_path / "kit")

    status, said = fresh.run("lba")

    assert status == 2
    assert "invalid choice" in said
    assert not (fresh.root / ".venv").exists()


def test_an_update_installs_what_is_new(checkout: SmallCheckout) -> None:
    checkout.write("pyproject.toml", PROJECT + "# a newer version\n")

    status, said = checkout.run("reset", "0")

    assert status == 0
    assert "Installing" in said
    assert "Making" not in said


def test_a_package_that_cannot_be_found_is_said_and_the_next_start_goes_on(
    checkout: SmallCheckout,
) -> None:
    broken = PROJECT.replace("dependencies = []", 'dependencies = ["surely-not-there>=1"]')
    checkout.write("pyproject.toml", broken)

    status, said = checkout.run("reset", "0")

    assert (status, checkout.state()) == (1, "failed")
    assert "surely-not-there" in said
    assert "agentkit-setup.log" in said
    checkout.write("pyproject.toml", PROJECT)
    status, said = checkout.run("reset", "0")
    assert status == 0
    assert "Making" not in said


def test_without_a_network_the_hint_is_about_the_network(checkout: SmallCheckout) -> None:
    broken = PROJECT.replace("dependencies = []", 'dependencies = ["surely-not-there>=1"]')
    checkout.write("pyproject.toml", broken)
    nowhere = {
        "PIP_NO_INDEX": "0",
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
    }

    status, said = checkout.run("reset", "0", **nowhere)

    assert status == 1
    assert "could not reach its package index" in said
    assert "Traceback" not in said


def test_a_set_up_that_was_killed_is_begun_anew(checkout: SmallCheckout) -> None:
    checkout.stamp.write_text('{"state": "installing", "wants": "", "dev": false}\n')
    half = checkout.root / ".venv" / "half-made"
    half.write_text("")

    status, said = checkout.run("reset", "0")

    assert status == 0
    assert "cut short" in said
    assert not half.exists()
    assert checkout.state() == "ready"


def test_an_environment_that_lost_a_package_is_mended_at_the_next_start(
    checkout: SmallCheckout,
) -> None:
    checkout.run("reset", "0")
    (info,) = (checkout.root / ".venv").glob("[Ll]ib/**/site-packages/agentkit-*.dist-info")
    shutil.rmtree(info)

    status, said = checkout.run("reset", "0")

    assert status == 1
    assert "still lacks: agentkit" in said
    status, said = checkout.run("reset", "0")
    assert status == 0, said


def test_two_starts_at_once_make_one_environment(tmp_path: Path) -> None:
    fresh = SmallCheckout(tmp_path / "kit")

    children = [fresh.start("reset", "0") for _ in range(2)]
    said = [child.communicate(timeout=LIMIT_S)[0] for child in children]

    assert [child.returncode for child in children] == [0, 0], said
    assert sum("Making" in text for text in said) == 1
    assert fresh.state() == "ready"


@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="no pip here to lend")
def test_an_environment_without_pip_borrows_one(tmp_path: Path) -> None:
    """As on Debian without ensurepip, or where uv made .venv."""
    fresh = SmallCheckout(tmp_path / "kit")
    command = [sys.executable, "-m", "venv", "--without-pip", str(fresh.root / ".venv")]
    subprocess.run(command, check=True, timeout=LIMIT_S)

    status, said = fresh.run("reset", "0")

    assert status == 0, said
    assert "cut short" not in said


def test_the_link_to_the_checkout_can_be_read_in_any_code_page(checkout: SmallCheckout) -> None:
    """By design: before Python 3.13 a .pth file is read in the machine's code page."""
    checkout.run("reset", "0")
    (link,) = (checkout.root / ".venv").glob("[Ll]ib/**/site-packages/_agentkit.pth")
    folder = "Scripts" if os.name == "nt" else "bin"
    python = checkout.root / ".venv" / folder / "python"

    done = subprocess.run(
        [python, "-c", "import agentkit; print(ascii(agentkit.__file__))"],
        cwd=checkout.root.parent,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
    )

    assert link.read_bytes().isascii()
    assert done.stdout.strip() == ascii(str(checkout.root / "agentkit" / "__init__.py"))


@pytest.mark.parametrize("name", ["__main__", "__init__"])
def test_old_pythons_can_read_the_door(name: str) -> None:
    source = (ROOT / "agentkit" / f"{name}.py").read_text(encoding="utf-8")

    ast.parse(source, feature_version=(3, 7))


def test_an_old_python_is_told_what_to_do() -> None:
    said = door.refusal((3, 9), None)

    assert said == (
        "agentkit needs Python 3.11 to 3.14; this is Python 3.9.\n"
        "Hint: install Python 3.14 and run the same command with it."
    )
    assert "python3.12 -m agentkit lab" in door.refusal((3, 9), "python3.12")
