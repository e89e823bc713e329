"""What the README shows is what happens: scripts run, servers answer, the excerpt is real."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import ipywidgets
import pytest

from agentkit import McpHost, cli, demo

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LIMIT_S = 120  # for a start on a busy machine; usually it takes three

# Of the excerpt: a tool result that fills the window, and a rule that matters more.
TALK = [
    {"role": "system", "content": "You keep orders. Answer in the language of the user."},
    {"role": "user", "content": "Never promise a date. Which orders are on hold?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "list_orders", "arguments": '{"status": "on hold"}'},
            }
        ],
    },
    {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "order A-1001: 12 e-bikes, status on hold; " * 60,
    },
    {"role": "assistant", "content": "Sixty, all of them A-1001."},
    {"role": "user", "content": "好的，谢谢。What is the credit limit?"},
    {"role": "assistant", "content": "I have not looked that up."},
]


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


SCRIPTS = blocks(README, "python")


def run_script(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder of its own, as somebody who has set nothing up."""
    script = folder / "script.py"
    script.write_text(source, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith("AGENTKIT_")}
    home = str(folder / "home")
    env.update(HOME=home, XDG_DATA_HOME=home, LOCALAPPDATA=home, PYTHONUTF8="1")
    return subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
    )


@pytest.mark.parametrize(
    ("source", "said", "left"),
    list(
        zip(
            SCRIPTS,
            ["finish the project report", "peanuts", "Do not change the public API.", ""],
            [{"notes.json"}, {"memory.sqlite"}, set(), {"my_rules.json"}],
            strict=True,
        )
    ),
    ids=["agent", "memory", "window", "values"],
)
def test_a_script_runs_as_it_stands_and_writes_only_beside_itself(
    tmp_path: Path, source: str, said: str, left: set[str]
) -> None:
    done = run_script(source, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout
    there = {path.name for path in tmp_path.iterdir()}
    assert left <= there
    assert not list((tmp_path / "home").rglob("*.json"))


def test_a_script_that_lacks_an_import_is_seen_to_fail(tmp_path: Path) -> None:
    done = run_script(
        SCRIPTS[3].replace("import RULES_FILE, load_rules", "import RULES_FILE"), tmp_path
    )

    assert done.returncode == 1
    assert "load_rules" in done.stderr


def servers_of(text: str, folder: Path) -> dict[str, dict[str, object]]:
    """Return the README's `mcpServers`, each with this Python and with files of a folder."""
    (block,) = [found for found in blocks(text, "json") if "mcpServers" in found]
    asked = json.loads(block)["mcpServers"]
    return {
        name: {
            "command": sys.executable,
            "args": ["-m", f"servers.{entry['command'].rpartition('agentkit-')[2]}"]
            + [arg.replace("/path/to", str(folder)) for arg in entry["args"]],
        }
        for name, entry in asked.items()
    }


def test_every_server_of_the_readme_starts_with_what_is_shown(tmp_path: Path) -> None:
    config = servers_of(README, tmp_path)

    async def tools() -> set[str]:
        async with McpHost({"mcpServers": config}) as host:
            return {tool.name.partition(".")[0] for tool in host.tools()}

    assert set(config) == {"notes", "memory", "knowledge", "database"}
    assert asyncio.run(tools()) == set(config)


def test_a_memory_server_without_its_tenant_does_not_start(tmp_path: Path) -> None:
    """What the README says of it, and why the test above can fail."""
    done = subprocess.run(
        [sys.executable, "-m", "servers.memory", "--file", str(tmp_path / "m.db")],
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        env={**os.environ, "AGENTKIT_MEMORY_TENANT": ""},
    )

    assert done.returncode != 0
    assert "--tenant" in done.stderr


def excerpt(text: str) -> list[str]:
    """Return the lines that the README shows of a report, without those that say "…"."""
    (shown,) = [block for block in blocks(text, "") if "usable tokens" in block]
    return [line for line in shown.splitlines() if line and line != "…"]


def test_the_excerpt_of_a_report_is_real(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK, ensure_ascii=False), encoding="utf-8")
    command = re.search(r"`python -m agentkit (window talk\.json [^`]*)`", README)
    assert command

    status = cli.main(command[1].replace("talk.json", str(path)).split())

    said = capsys.readouterr().out.splitlines()
    assert status == 0
    shown = excerpt(README)
    assert 5 <= len(shown) <= 8
    assert [line for line in said if line in shown] == shown


def test_the_pictures_of_the_readme_can_be_imported_and_are_all_there_are() -> None:
    lines = re.findall(r"`from (agentkit\.viz\.\w+) import (\w+)`", README)
    modules = [path.stem for path in (ROOT / "agentkit" / "viz").glob("*.py")]
    there = {
        name
        for module in modules
        for name, thing in vars(import_module(f"agentkit.viz.{module}")).items()
        if isinstance(thing, type) and issubclass(thing, ipywidgets.Widget)
    }

    assert {name for _, name in lines} == there
    for module, name in lines:
        assert getattr(import_module(module), name).__module__ == module
        assert f"`{name}(" in README


def test_the_files_outside_of_the_folder_are_named() -> None:
    for path in (demo.demo_notes_file(), demo.default_notes_file()):
        assert f"`{path.name}`" in README
