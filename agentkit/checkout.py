"""The checkout that the kit runs from, if it does, and what it asks of an interpreter.

    pyproject.toml ──requirements()──▶ lines ──missing()──▶ those that are not met here

Only the standard library is used: this runs before anything is installed.

Read after: errors.py.     Read next: setup_env.py.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

ROOT = Path(__file__).resolve().parent.parent


def run(command: list[str], *, env: dict[str, str] | None = None) -> int:
    """Run a command to its end and return its exit status, as a shell would.

    Ctrl-C reaches the child too; it decides what that means, and is waited for. Whoever
    ends this process ends the child as well.
    """
    with subprocess.Popen(command, env=env) as child:
        before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        try:
            status = _wait(child)
        finally:
            signal.signal(signal.SIGTERM, before)
    return status if status >= 0 else 128 - status


def _wait(child: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def is_checkout() -> bool:
    """Return whether the kit runs from its repository rather than from a package."""
    return (ROOT / "pyproject.toml").is_file() and (ROOT / "notebooks").is_dir()


def missing(*, dev: bool) -> list[str]:
    """Return the requirements that this interpreter does not meet.

    Args:
        dev: Whether to ask for what the tests need, too.
    """
    lacking = [line for line in requirements(dev=dev) if not _is_met(line)]
    return lacking if _points_here() else ["agentkit (editable, of this checkout)", *lacking]


def requirements(*, dev: bool) -> list[str]:
    """Return the requirement lines of the kit and, if asked, of its tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines: list[str] = list(project["project"]["dependencies"])
    return lines + project["dependency-groups"]["dev"] if dev else lines


def _is_met(requirement: str) -> bool:
    """Compare an installed version with bounds such as `>=2.3,<3`, by their numbers alone."""
    parts = re.match(r"([\w.-]+)(?:\[.*?\])?\s*([^;]*)", requirement)
    assert parts is not None, requirement
    try:
        have = _numbers(metadata.version(parts[1]))
    except metadata.PackageNotFoundError:
        return False
    for bound in filter(None, parts[2].replace(" ", "").split(",")):
        sign, wanted = re.match(r"([<>=!~]+)", bound), _numbers(bound.lstrip("<>=!~"))
        kept = {">=": have >= wanted, "<": have < wanted, "==": have == wanted}
        if sign is None or not kept[sign[1]]:
            return False
    return True


def _numbers(version: str) -> list[int]:
    """Return the release numbers without closing zeros, so that 3 and 3.0 are equal."""
    release = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def _points_here() -> bool:
    """Return whether `import agentkit` finds this checkout from any folder."""
    try:
        text = metadata.distribution("agentkit").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return False
    url = json.loads(text)["url"] if text else ""
    return bool(url) and Path(url2pathname(urlsplit(url).path)).resolve() == ROOT
