"""Checks this machine and says what to do about each thing that is missing.

    python   vocabulary   servers   kernel   folder   disk   model      needed
    browser  node                                                       optional

Each check tries the thing itself: a server is started and asked, a kernel computes
1 + 1. Every wait has a limit.

Read after: cli.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from agentkit import checkout, lab
from agentkit.errors import AgentkitError, SetupError

WAIT_S = 120  # a cold start on a slow disk with a virus scanner; usually it takes three
NEEDED_BYTES = 500_000_000  # vocabularies, notes and traces, with room to breathe
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge")
BROWSER_PATHS = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
        r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe",
        r"%ProgramFiles%\Microsoft\Edge\Application\msedge.exe",
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        name: What was looked at, e.g. "kernel".
        state: "optional" is missing too, but nothing in the series needs it.
        found: What is there, or what went wrong, e.g. "Python 3.12.1".
        advice: What to do about it; empty when it is ok.
    """

    name: str
    state: Literal["ok", "missing", "optional"]
    found: str
    advice: str = ""


def run_doctor(*, as_json: bool = False) -> int:
    """Print one finding a line as it comes; return 1 if something needed is missing."""
    findings = []
    for name, check, needed in CHECKS:
        findings.append(examine(name, check, needed=needed))
        if not as_json:
            print(line_of(findings[-1]), flush=True)
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    return int(any(finding.state == "missing" for finding in findings))


def examine(name: str, check: Callable[[], str], *, needed: bool) -> Finding:
    """Run one check, which returns what it found or raises."""
    try:
        return Finding(name, "ok", check())
    except AgentkitError as error:
        what, advice = error.what, error.hint
    except Exception as error:  # noqa: BLE001 - a broken machine breaks in any way it likes
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        advice = f"Reinstall the kit: {_reinstall()}"
    return Finding(name, "missing" if needed else "optional", what, advice)


def line_of(finding: Finding) -> str:
    """Return a finding as text: one line, and a second one if there is something to do."""
    line = f"{finding.state:<9} {finding.name:<11} {finding.found}"
    return f"{line}\n{'':<22}→ {finding.advice}" if finding.advice else line


def _reinstall() -> str:
    if checkout.is_checkout():
        return f"delete {checkout.ROOT / '.venv'} and run `python -m agentkit lab`."
    return f"{sys.executable} -m pip install --force-reinstall agentkit"


def _python() -> str:
    lacking = checkout.missing(dev=False) if checkout.is_checkout() else []
    if lacking:
        raise SetupError(f"{sys.executable} lacks {', '.join(lacking)}.", hint=_reinstall())
    version = ".".join(map(str, sys.version_info[:3]))
    return f"Python {version} with all that the kit needs, in {sys.prefix}"


def _vocabulary() -> str:
    from agentkit.tokens import Counter

    counter = Counter.for_model("gpt-4o")
    if not counter.exact or counter("你好 hello") != 2:
        raise SetupError("the vocabulary counts wrongly.", hint=_reinstall())
    return f"{counter.basis}, read from this disk"


def _servers() -> str:
    """Start the note server in another folder and list its tools over stdio."""
    asked: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": _hello()},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "servers.notes", "--file", f"{folder}/notes.json"]
        tools = _ask(command, lines, cwd=folder)
    return f"notes answers over stdio with {len(tools)} tools: {', '.join(tools)}"


def _hello() -> dict[str, object]:
    client = {"name": "agentkit-doctor", "version": "1"}
    return {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}


def _ask(command: list[str], lines: str, *, cwd: str) -> list[str]:
    """Send all lines, keep the wire open until the second answer, return the tools' names."""
    try:
        with subprocess.Popen(
            command,
            cwd=cwd,
            encoding="utf-8",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            return _tools(server, lines)
    except (OSError, ValueError, KeyError, StopIteration) as error:  # it died, or made no sense
        raise SetupError(
            f"the note server gave no answer within {WAIT_S} s ({type(error).__name__}).",
            hint=f"Run {' '.join(command[:3])} --help and read what it says.",
        ) from error


def _tools(server: subprocess.Popen[str], lines: str) -> list[str]:
    end = _kill_later(server)
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        server.stdin.write(lines)
        server.stdin.flush()
        answer = next(said for said in map(json.loads, server.stdout) if said.get("id") == 2)
        return [tool["name"] for tool in answer["result"]["tools"]]
    finally:
        end()


def _kill_later(server: subprocess.Popen[str]) -> Callable[[], None]:
    """Kill a process after `WAIT_S`; the function returned ends it now."""
    import threading

    timer = threading.Timer(WAIT_S, server.kill)
    timer.start()

    def end() -> None:
        timer.cancel()
        server.kill()

    return end


def _kernel() -> str:
    """Start the kernel that JupyterLab would start, and let it say who it is."""
    from jupyter_client.manager import KernelManager

    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # as `agentkit lab` sets it
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=WAIT_S)
        said: list[str] = []
        client.execute_interactive(
            "import sys; print(1 + 1, sys.executable)",
            timeout=WAIT_S,
            output_hook=lambda message: said.append(message["content"].get("text", "")),
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    result, _, python = "".join(said).strip().partition(" ")
    if result != "2" or not os.path.samefile(python, sys.executable):
        hint = "Remove the kernel in your home folder: jupyter kernelspec remove python3"
        raise SetupError(f"the kernel python3 is another Python's: {python}", hint=hint)
    return "python3 starts, is this Python, and 1 + 1 is 2"


def _folder() -> str:
    """Write where the working copy goes, and leave nothing behind."""
    place = lab.copy_folder()
    there = next(path for path in (place, *place.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return f"{place} can be written"
    except OSError as error:
        hint = "Name a folder of yours: agentkit lab --folder PATH"
        raise SetupError(f"{place} cannot be written: {error}", hint=hint) from error


def _disk() -> str:
    place = lab.copy_folder()
    there = next(path for path in (place, *place.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < NEEDED_BYTES:
        hint = f"Make {(NEEDED_BYTES - free) / 1e6:.0f} MB of room."
        raise SetupError(f"{free / 1e6:.0f} MB free, {NEEDED_BYTES / 1e6:.0f} needed", hint=hint)
    return f"{free / 1e9:.0f} GB free"


def _model() -> str:
    from agentkit.models import SETTING, load_model

    setting = os.environ.get(SETTING, "reader")
    return (
        f"{load_model().name} ({SETTING}={setting})" if setting != "reader" else "reader, offline"
    )


def _browser() -> str:
    found = find_browser()
    if found is None:
        hint = "Only the tests need it: install Chromium, Chrome or Edge, or set CHROMIUM to one."
        raise SetupError("no Chromium, Chrome or Edge was found", hint=hint)
    return found


def find_browser() -> str | None:
    """Return the path of a browser that Playwright can drive, or None.

    The variable CHROMIUM comes first, then the search path, then where the system's
    installers put browsers.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    paths = [os.path.expandvars(path) for path in BROWSER_PATHS.get(sys.platform, ())]
    found = [shutil.which(name) for name in BROWSERS] + [p for p in paths if Path(p).is_file()]
    return next((path for path in found if path), None)


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        hint = "Only tests against servers from npm need it: install Node 20 or later."
        raise SetupError("no Node was found", hint=hint)
    return node


CHECKS: list[tuple[str, Callable[[], str], bool]] = [
    ("python", _python, True),
    ("vocabulary", _vocabulary, True),
    ("servers", _servers, True),
    ("kernel", _kernel, True),
    ("folder", _folder, True),
    ("disk", _disk, True),
    ("model", _model, True),
    ("browser", _browser, False),
    ("node", _node, False),
]
