"""The command line: what it takes, and what it gives back."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentkit import cli
from agentkit.errors import SetupError

ROOT = Path(__file__).resolve().parents[1]


def test_arguments_behind_two_dashes_are_handed_on() -> None:
    options = cli.parse(["lab", "--port", "8899", "--", "--debug", "--", "x"])

    assert (options.command, options.port, options.rest) == ("lab", 8899, ["--debug", "--", "x"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["lba"],
        ["lab", "--port", "x"],
        ["lab", "--port", "0"],
        ["lab", "--port=-1"],
        ["lab", "--port", "65536"],
        ["doctor", "--", "x"],
        ["demo", "--lang", "fr"],
    ],
)
def test_arguments_that_make_no_sense_end_with_two(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.parse(arguments)

    assert stopped.value.code == 2


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.parse([])

    assert stopped.value.code == 0
    assert "doctor" in capsys.readouterr().out


def test_every_command_of_the_help_has_a_function() -> None:
    shown = cli._parser().format_help()

    assert all(f"\n    {command} " in shown for command in cli.COMMANDS)


@pytest.mark.parametrize("error", [SetupError("What.", hint="Do."), KeyboardInterrupt()])
def test_an_error_is_said_in_words_and_ends_with_its_status(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(options: Any) -> int:
        raise error

    monkeypatch.setitem(cli.COMMANDS, "doctor", fail)

    status = cli.main(["doctor"])

    is_setup = isinstance(error, SetupError)
    assert status == (1 if is_setup else 130)
    assert capsys.readouterr().err == ("agentkit: What.\nHint: Do.\n" if is_setup else "")


def test_the_command_says_its_version_from_any_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentkit", "--version"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )

    assert (done.returncode, done.stdout) == (0, "agentkit 0.1.0\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe breaks in another way there")
def test_a_reader_that_goes_away_ends_a_command_quietly(tmp_path: Path) -> None:
    """As `agentkit window FILE | head -1` does."""
    path = tmp_path / "talk.json"
    path.write_text('[{"role": "user", "content": "你好"}]', encoding="utf-8")
    command = [sys.executable, "-m", "agentkit", "window", str(path)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.close()
        _, said = started.communicate(timeout=120)

    assert (started.returncode, said) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no such device here")
@pytest.mark.parametrize("output", ["/dev/full", "&-"])
@pytest.mark.parametrize(
    "command", ["window talk.json", "window talk.json --json", "doctor --json"]
)
def test_an_output_that_takes_nothing_is_said_and_no_success(
    tmp_path: Path, command: str, output: str
) -> None:
    (tmp_path / "talk.json").write_text('[{"role": "user", "content": "你好"}]', encoding="utf-8")
    program = f"{shlex.quote(sys.executable)} -m agentkit {command} >{output}"

    done = subprocess.run(
        program, shell=True, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=120
    )

    why = "it is closed" if output == "&-" else "No space left on device"
    said = f"agentkit: The output cannot be written: {why}.\nHint: Write it somewhere else.\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_a_file_that_the_system_refuses_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(options: Any) -> int:
        raise OSError(errno.ENAMETOOLONG, "File name too long", "报告" * 200)

    monkeypatch.setitem(cli.COMMANDS, "doctor", fail)

    status = cli.main(["doctor"])

    said = capsys.readouterr().err
    assert status == 1
    assert said.startswith("agentkit: A file '" + "报告" * 100 + "' cannot be used")
    assert "cannot be used: File name too long.\nHint: Give another path.\n" in said


def test_a_chat_without_standard_input_ends_at_once(tmp_path: Path) -> None:
    """As under a service or a scheduler; bytes that are no UTF-8 are no reason to fall either."""
    command = [sys.executable, "-m", "agentkit", "chat", "--notes-file", str(tmp_path / "n.json")]
    closed = f"import sys; sys.stdin = None; from agentkit import cli; cli.main({command[3:]})"
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8"}

    without = subprocess.run([sys.executable, "-c", closed], capture_output=True, timeout=120)
    bytes_ = subprocess.run(
        command, input=b"caf\xe9\n\n", capture_output=True, timeout=120, env=strict
    )

    assert (without.returncode, without.stderr) == (0, b"")
    assert (bytes_.returncode, bytes_.stderr) == (0, b"")
    assert b"\nagent  " in bytes_.stdout.replace(b"\r\n", b"\n")


def test_the_conversations_reach_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentkit import demo

    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(demo, "run_demo", lambda **given: calls.append(given) or 3)
    monkeypatch.setattr(demo, "run_chat", lambda **given: calls.append(given) or 4)

    statuses = [
        cli.main(["demo", "--lang", "zh", "--notes-file", "n.json"]),
        cli.main(["chat", "--model", "openai:x", "--memory", "m.sqlite"]),
    ]

    assert statuses == [3, 4]
    assert calls == [
        {"lang": "zh", "notes_file": Path("n.json"), "model": None},
        {"notes_file": None, "model": "openai:x", "memory_file": Path("m.sqlite")},
    ]
