"""A real JupyterLab, started by `agentkit lab`, in a real browser without a screen.

    agentkit lab --folder … ──▶ server on 127.0.0.1 ◀── Chromium, driven by Playwright

One server serves all tests of this folder; each test has a page of its own. The page
keeps every request that left this machine and every error of the console, so a test can
ask that there were none.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentkit.doctor import find_browser

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "artifacts"
LIMIT_S = 180  # for a cold start on a busy machine; usually it takes ten
ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/lab\S*\?token=(\w+)")
HERE = re.compile(r"(?:https?|wss?)://127\.0\.0\.1[:/]|data:|blob:|about:")
SWITCHES = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
SWITCHES += ["--no-first-run", "--disable-gpu", "--disable-dev-shm-usage"]

# A widget far below must be in the page to be looked at.
TRACKER = "@jupyterlab/notebook-extension/tracker.jupyterlab-settings"

READY = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  const kernel = panel?.context?.sessionContext?.session?.kernel;
  return !!kernel && panel.context.isReady
    && kernel.connectionStatus === 'connected' && kernel.status === 'idle';
}"""
RUN = """() => {
  const commands = window.jupyterapp.commands;
  commands.execute('notebook:clear-all-cell-outputs')
    .then(() => { commands.execute('notebook:run-all-cells'); });
}"""  # not awaited: that can hang
FAILED = """() => window.jupyterapp.shell.currentWidget.content.widgets.flatMap(
  cell => cell.model.type !== 'code' ? [] : cell.model.outputs.toJSON()
    .filter(output => output.output_type === 'error'
      && !(cell.model.getMetadata('tags') ?? []).includes('raises-exception'))
    .map(output => `${output.ename}: ${output.evalue}`))"""
DONE = f"""() => {{
  const panel = window.jupyterapp.shell.currentWidget;
  const cells = panel.content.widgets.filter(
    cell => cell.model.type === 'code' && cell.model.sharedModel.getSource().trim());
  const ran = cells.filter(
    cell => cell.model.executionCount !== null && cell.promptNode?.textContent !== '[*]:');
  return panel.context.sessionContext.session.kernel.status === 'idle'
    && (ran.length === cells.length || ({FAILED})().length > 0);
}}"""
THEME = """theme => {
  window.jupyterapp.commands.execute('apputils:change-theme', {theme});
}"""
THEMES = {"light": ("JupyterLab Light", "true"), "dark": ("JupyterLab Dark", "false")}


@dataclass
class Lab:
    """A running JupyterLab.

    Attributes:
        folder: What it serves: a working copy of the series.
        address: E.g. "http://127.0.0.1:8888".
        token: Whoever has it may run code there.
    """

    folder: Path
    address: str
    token: str


@dataclass
class Visit:
    """One page in the browser, and what went on in it.

    Attributes:
        page: Playwright's page.
        outside: Addresses beyond this machine that the page asked for.
        errors: What the page wrote to its console as errors.
    """

    lab: Lab
    page: Any
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Keep requests that leave the machine, and errors, from now on."""
        keep = self.outside.append
        self.page.on("request", lambda r: None if HERE.match(r.url) else keep(r.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def open(self, notebook: str) -> None:
        """Open a notebook and wait until its kernel is there."""
        url = f"{self.lab.address}/lab/tree/{notebook}?reset&token={self.lab.token}"
        self.page.goto(url, timeout=LIMIT_S * 1000)
        self.page.wait_for_function(READY, timeout=LIMIT_S * 1000, polling=250)

    def run_all(self, notebook: str) -> list[str]:
        """Open a notebook, run all cells, and return the errors they ended with."""
        self.open(notebook)
        self.page.evaluate(RUN)
        self.page.wait_for_function(DONE, timeout=LIMIT_S * 1000, polling=250)
        failed: list[str] = self.page.evaluate(FAILED)
        return failed

    def keep_pictures(self, name: str, *, of: Any) -> None:
        """Save a screenshot in each theme, e.g. window_bar_light.png, with `of` in sight."""
        ARTIFACTS.mkdir(exist_ok=True)
        for theme in THEMES:
            self._go(theme)
            of.scroll_into_view_if_needed(timeout=LIMIT_S * 1000)
            self.page.screenshot(path=ARTIFACTS / f"{name}_{theme}.png")

    def _go(self, theme: str) -> None:
        """Switch JupyterLab to a theme, whatever an earlier test left, and wait for it."""
        label, light = THEMES[theme]
        self.page.evaluate(THEME, label)
        body = self.page.locator(f'body[data-jp-theme-light="{light}"]')
        body.wait_for(state="attached", timeout=LIMIT_S * 1000)
        curtain = self.page.locator("#jupyterlab-splash")
        curtain.wait_for(state="detached", timeout=LIMIT_S * 1000)


@pytest.fixture(scope="session")
def browser_path(require: Callable[[object, str], None]) -> str:
    path = find_browser()
    require(path, "no Chromium, Chrome or Edge was found; `agentkit doctor` says what to do")
    assert path is not None
    return path


@pytest.fixture(scope="session")
def lab(browser_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Start JupyterLab the way a learner does, with settings of nobody."""
    folder = tmp_path_factory.mktemp("my notebooks 我的")
    home = tmp_path_factory.mktemp("home")
    settings = home / "settings" / TRACKER
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}', encoding="utf-8")
    command = [sys.executable, "-m", "agentkit.cli", "lab", "--folder", str(folder)]
    command += ["--no-browser", "--no-demo", "--", "--ServerApp.ip=127.0.0.1"]
    command += ["--LabApp.expose_app_in_browser=True"]
    # ipykernel behaves otherwise where it sees pytest; a browser is no test to it
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    for variable in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        env[variable] = str(home / variable.lower())
    env["JUPYTERLAB_SETTINGS_DIR"] = str(home / "settings")
    env["JUPYTERLAB_WORKSPACES_DIR"] = str(home / "workspaces")
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**env, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as server:
        assert server.stdout is not None
        timer = threading.Timer(LIMIT_S, server.kill)
        timer.start()
        said: list[str] = []
        found = next(filter(None, map(ADDRESS.search, _kept(server.stdout, said))), None)
        timer.cancel()
        assert found, "".join(said)
        reader = threading.Thread(target=lambda: [*_kept(server.stdout, said)])
        reader.start()
        try:
            yield Lab(folder, found[1], found[2])
        finally:
            _shut_down(Lab(folder, found[1], found[2]))
            server.wait(timeout=LIMIT_S)
            reader.join(timeout=LIMIT_S)
            ARTIFACTS.mkdir(exist_ok=True)
            (ARTIFACTS / "jupyterlab.log").write_text(_without_token(said), encoding="utf-8")


def _kept(lines: Any, said: list[str]) -> Iterator[str]:
    for line in lines:
        said.append(line)
        yield line


def _without_token(said: list[str]) -> str:
    return re.sub(r"token=\w+", "token=…", "".join(said))


def _shut_down(lab: Lab) -> None:
    """Ask the server to end: it ends its kernels first, on every system alike."""
    import urllib.request

    request = urllib.request.Request(
        f"{lab.address}/api/shutdown",
        method="POST",
        headers={"Authorization": f"token {lab.token}"},
    )
    with urllib.request.urlopen(request, timeout=60):
        pass


@pytest.fixture(scope="module")
def chromium(browser_path: str) -> Iterator[Any]:
    """Start the browser for one file of tests: Playwright's event loop ends with it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        as_root = hasattr(os, "geteuid") and os.geteuid() == 0
        switches = [*SWITCHES, "--no-sandbox"] if as_root else SWITCHES
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=switches, timeout=LIMIT_S * 1000
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(lab: Lab, chromium: Any) -> Iterator[Visit]:
    context = chromium.new_context(viewport={"width": 1280, "height": 1400})
    made = Visit(lab, context.new_page())
    made.watch()
    yield made
    context.close()
