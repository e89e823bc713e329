"""What the repository promises around its code: versions, names, texts that must agree."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import agentkit
from agentkit import __main__ as door
from agentkit import cli

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSTRAINTS = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines()
TEXTS = (".py", ".md", ".toml", ".txt", ".cfg", ".json", ".ipynb", ".yml", "run")
NOT_OURS = {"LICENSE"}

# Written in pieces, so that this file does not hold what it looks for. A made-up home folder
# in an example is no fault; that of whoever runs the tests is.
PLACES = re.compile(
    "|".join(
        [
            "pypi" + r"\.org",
            "files\\.python" + "hosted",
            "registry\\.npm" + "js",
            "conda\\.ana" + "conda",
            r"(?<![\w.])/(?:root|work)" + r"/[\w.]",
            re.escape(str(Path.home())) + r"[/\\]\w",
            re.escape(str(ROOT)),
        ]
    )
)


def tracked() -> list[Path]:
    """Return the text files that git would commit."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    paths = [ROOT / line for line in done.stdout.splitlines()]
    return [p for p in paths if p.name.endswith(TEXTS) and p.name not in NOT_OURS and p.is_file()]


def places_in(text: str) -> list[str]:
    """Return where a text names a package index or a folder of one machine."""
    return [match.group() for match in PLACES.finditer(text)]


def test_no_file_names_a_package_index_or_a_folder_of_one_machine() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: git knows which files are ours")

    found = {str(path.relative_to(ROOT)): places_in(_read(path)) for path in tracked()}

    assert {path: places for path, places in found.items() if places} == {}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "see https://pypi" + ".org/simple",
        '"/work' + '/main/x.py"',
        str(Path.home() / "kit" / "a.py"),
        f"File {ROOT}",
    ],
)
def test_a_place_is_found(text: str) -> None:
    assert places_in(text) != []


def normal(name: str) -> str:
    """Return a package's name in the one form that package indexes compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def loose(lines: list[str]) -> list[str]:
    """Return the lines that are not one exact version, with or without a marker."""
    exact = re.compile(r"[a-z0-9-]+==[\w.]+( ; .+)?")
    return [
        line for line in lines if line and not line.startswith("#") and not exact.fullmatch(line)
    ]


def test_constraints_are_exact() -> None:
    assert loose(CONSTRAINTS) == []


@pytest.mark.parametrize("line", ["mcp>=2.3", "mcp", "mcp @ https://example.org/mcp.whl"])
def test_a_loose_constraint_is_found(line: str) -> None:
    assert loose([line]) == [line]


def test_constraints_cover_every_requirement() -> None:
    requirements = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        requirements += extra
    pinned = {normal(re.split("==", line)[0]) for line in CONSTRAINTS}

    names = {normal(re.split(r"[^\w.-]", line)[0]) for line in requirements}

    assert names - pinned == set()


def test_constraints_hold_for_every_system_and_python() -> None:
    """By hand: these are needed on Windows, on macOS and before Python 3.12 alone."""
    for needle in ("pywin32==", "appnope==", "python_full_version < '3.12'"):
        assert any(needle in line for line in CONSTRAINTS), needle


def test_the_door_asks_for_the_same_python_as_the_project() -> None:
    low, high = re.findall(r"3\.(\d+)", PROJECT["project"]["requires-python"])
    oldest, newest = (3, int(low)), (3, int(high) - 1)

    assert (oldest, newest) == (door.OLDEST, door.NEWEST)


def test_every_requirement_of_the_door_is_one_it_can_read() -> None:
    """By design: the door compares `>=`, `<` and `==` only, before anything is installed."""
    for line in PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]:
        assert re.fullmatch(r"[\w.-]+((>=|<|==)[\d.]+,?)+", line), line


def test_versions_agree() -> None:
    version = PROJECT["project"]["version"]

    assert getattr(agentkit, "__version__", version) == version
    assert re.search(rf"^## \[({re.escape(version)}|Unreleased)\]", changelog(), re.MULTILINE)


def changelog() -> str:
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def changelog_faults(text: str) -> list[str]:
    """Return the lines that break the form of Keep a Changelog."""
    version = re.compile(r"## \[(Unreleased|\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}|Unreleased)\]?")
    kinds = (
        "### Added",
        "### Changed",
        "### Deprecated",
        "### Removed",
        "### Fixed",
        "### Security",
    )
    lines = text.splitlines()
    wrong = [line for line in lines if line.startswith("## ") and not version.fullmatch(line)]
    return wrong + [line for line in lines if line.startswith("### ") and line not in kinds]


def test_the_changelog_keeps_its_form() -> None:
    assert changelog().startswith("# Changelog\n")
    assert changelog_faults(changelog()) == []


@pytest.mark.parametrize("line", ["## 0.1", "## [0.1.0]", "### New"])
def test_a_changelog_line_of_another_form_is_found(line: str) -> None:
    assert changelog_faults(line) == [line]


def test_contributing_fits_on_a_page() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) < 80


def unknown_commands(text: str) -> list[str]:
    """Return the commands of the kit that a text shows and the command line does not take."""
    shown = re.findall(r"(?:^\s*|`|-m |run )agentkit ([a-z][^`\n|#]*)", text, re.MULTILINE)
    return [line for line in shown if not _is_known(line.split())]


def _is_known(words: list[str]) -> bool:
    try:
        cli.parse(words)
    except SystemExit as stopped:
        return stopped.code == 0
    return True


def test_the_readme_shows_only_commands_that_exist() -> None:
    assert "python -m agentkit lab" in README
    assert "python -m agentkit test" in README
    assert unknown_commands(README) == []


@pytest.mark.parametrize("line", ["agentkit lba", "x `agentkit lab --teacher` y"])
def test_a_command_that_does_not_exist_is_found(line: str) -> None:
    assert len(unknown_commands(line)) == 1


def names_in(text: str) -> list[str]:
    """Return the words of the block behind the README's line about public names."""
    block = re.search(r"^The public names[^\n]*\n+```\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    return block[1].split() if block else []


def test_the_public_names_are_few_and_those_of_the_readme() -> None:
    assert len(agentkit.__all__) <= 25
    assert names_in(README) == agentkit.__all__
    for name in agentkit.__all__:
        assert getattr(agentkit, name).__name__ == name


def test_a_public_name_the_readme_lacks_is_found() -> None:
    assert names_in("The public names:\n\n```\nCounter pack\n```\n") == ["Counter", "pack"]
    assert names_in(README.replace(" pack\n", "\n")) != agentkit.__all__


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")

    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_working_copy_and_artefacts_are_ignored() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    paths = ["my_notebooks/00_start_here.ipynb", "artifacts/junit.xml", ".venv/x", ".venv.lock"]
    command = ["git", "check-ignore", *paths]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")

    assert done.stdout.splitlines() == paths
