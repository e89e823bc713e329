"""The command line: reads the arguments and hands over to one function a command.

    agentkit lab | reset | demo | chat | window | doctor | test

Nothing but the standard library is imported before a command is chosen, so that
`python -m agentkit` can read its arguments before anything is installed.

Read after: lab.py, doctor.py, runtests.py, demo.py.     Read next: bootstrap.py.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path

from agentkit.errors import AgentkitError

MAX_NAME_CHARS = 200  # of a file, in a complaint; the end of a path tells most
BROKEN_PIPE = 141  # what a shell calls a program that wrote to a pipe nobody reads any more


def parse(argv: list[str]) -> argparse.Namespace:
    """Read the arguments.

    Returns:
        `command`, that command's options, and `rest`: what stood behind `--`.

    Raises:
        SystemExit: After help was asked for (0), or for arguments that make no sense (2).
    """
    cut = argv.index("--") if "--" in argv else len(argv)
    parser = _parser()
    options = parser.parse_args(argv[:cut])
    options.rest = argv[cut + 1 :]
    if options.command is None:
        parser.print_help()
        parser.exit()
    if options.rest and options.command not in ("lab", "test"):
        parser.error(f"{options.command} takes nothing behind `--`.")
    return options


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    _fill_closed_streams()
    _speak_utf8()
    options = parse(sys.argv[1:] if argv is None else argv)
    try:
        status = int(COMMANDS[options.command](options))
        if sys.stdout is not None:
            sys.stdout.flush()  # a reader that went away is noticed here, not at the exit
        return status
    except AgentkitError as error:
        _complain(str(error))
        return 1
    except BrokenPipeError:  # as in `agentkit window FILE | head`
        _give_up_output()
        return BROKEN_PIPE
    except OSError as error:
        _complain(_in_words(error))
        return 1
    except KeyboardInterrupt:
        return 130


def _complain(text: str) -> None:
    """Tell a person what went wrong, if there is anywhere to tell it."""
    from agentkit.text import printable

    with suppress(OSError, AttributeError):
        sys.stderr.write(printable(f"agentkit: {text}\n", keep="\n"))
        sys.stderr.flush()


def _in_words(error: OSError) -> str:
    """Say what the system refused: a file that it names, or else the output."""
    said = error.strerror or str(error)
    if error.filename is not None:
        name = os.fsdecode(error.filename)[-MAX_NAME_CHARS:]
        return f"A file {name!r} cannot be used: {said}.\nHint: Give another path."
    _give_up_output()
    return f"The output cannot be written: {said}.\nHint: Write it somewhere else."


def _give_up_output() -> None:
    """Let what is still to be written go nowhere, so that the exit is quiet."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Closed(io.TextIOBase):
    """Stands for an output that was closed before we began, as by `>&-`."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "it is closed")


def _fill_closed_streams() -> None:
    """Keep files from taking the place of a standard stream that is closed.

    On Windows a program without a console has none from the start, and nobody misses them.
    """
    if sys.platform == "win32":
        return
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(free)
    sys.stdout = sys.stdout or _Closed()


def _speak_utf8() -> None:
    """Let a pipe on Windows carry what the kit prints, whatever the code page is."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")  # what is typed may be in any encoding
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentkit",
        description="Learn and prototype AI agents: decide what the model gets to read.",
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_lab(commands)
    _add_reset(commands)
    _add_conversations(commands)
    _add_window(commands)
    doctor = commands.add_parser("doctor", help="check this machine; say what to do")
    doctor.add_argument("--json", action="store_true", help="for programs")
    test = commands.add_parser("test", help="lint, types, tests and notebooks, in one go")
    test.add_argument("--fast", action="store_true", help="without notebooks and browser")
    test.epilog = "Anything behind `--` goes to pytest."
    return parser


def _version() -> str:
    from importlib import metadata

    try:
        return f"agentkit {metadata.version('agentkit')}"
    except metadata.PackageNotFoundError:
        return "agentkit (not installed yet: run `python -m agentkit lab`)"


def _port(text: str) -> int:
    if text.isdecimal() and 0 < int(text) < 65_536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; ports are 1 to 65535")


def _add_lab(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    lab = commands.add_parser("lab", help="open the notebooks in JupyterLab, in a copy of your own")
    lab.add_argument("--originals", action="store_true", help="open notebooks/ itself, for authors")
    lab.add_argument("--folder", type=Path, help="where your copy lies")
    lab.add_argument("--no-browser", action="store_true", help="print the address instead")
    lab.add_argument("--no-demo", action="store_true", help="skip the first turn in the terminal")
    lab.add_argument(
        "--port", type=_port, help="the port of JupyterLab (8888, or the next free one)"
    )
    lab.epilog = "Anything behind `--` goes to JupyterLab."


def _add_reset(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    reset = commands.add_parser("reset", help="start a notebook afresh; yours is kept beside it")
    reset.add_argument("notebooks", nargs="*", metavar="NOTEBOOK", help="03, or a whole name")
    reset.add_argument("--all", action="store_true", help="all of them")
    reset.add_argument("--folder", type=Path, help="where your copy lies")


def _add_conversations(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    demo = commands.add_parser("demo", help="one conversation with a real note server, here")
    demo.add_argument("--lang", choices=["en", "zh"], default="en")
    chat = commands.add_parser("chat", help="talk to the agent, here")
    chat.add_argument(
        "--memory", type=Path, metavar="FILE", help="remember across conversations, in this file"
    )
    for command in (demo, chat):
        command.add_argument(
            "--notes-file", type=Path, help="where notes go, instead of your data folder"
        )
        command.add_argument("--model", help="PROVIDER:NAME, instead of the offline reader")


def _add_window(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    window = commands.add_parser("window", help="what fills the window of a transcript")
    window.add_argument(
        "file", type=Path, metavar="FILE", help="of any agent, - for standard input; see the README"
    )
    window.add_argument("--json", action="store_true", help="for programs")
    window.add_argument("--html", type=Path, metavar="OUT", help="write one page as well")
    window.add_argument("--model", help="count and judge for another model")
    window.add_argument("--budget", type=int, metavar="N", help="judge for a window of N tokens")


def _lab(options: argparse.Namespace) -> int:
    from agentkit.lab import open_lab

    return open_lab(
        folder=options.folder,
        originals=options.originals,
        browser=not options.no_browser,
        demo=not options.no_demo,
        port=options.port,
        rest=options.rest,
    )


def _reset(options: argparse.Namespace) -> int:
    from agentkit.lab import reset_notebooks

    return reset_notebooks(options.notebooks, every=options.all, folder=options.folder)


def _demo(options: argparse.Namespace) -> int:
    from agentkit.demo import run_demo

    return run_demo(lang=options.lang, notes_file=options.notes_file, model=options.model)


def _chat(options: argparse.Namespace) -> int:
    from agentkit.demo import run_chat

    return run_chat(notes_file=options.notes_file, model=options.model, memory_file=options.memory)


def _window(options: argparse.Namespace) -> int:
    from agentkit.report.command import run_window

    return run_window(
        options.file,
        as_json_=options.json,
        html=options.html,
        model=options.model,
        budget=options.budget,
    )


def _doctor(options: argparse.Namespace) -> int:
    from agentkit.doctor import run_doctor

    return run_doctor(as_json=options.json)


def _test(options: argparse.Namespace) -> int:
    from agentkit.runtests import run_tests

    return run_tests(fast=options.fast, rest=options.rest)


COMMANDS = {
    "lab": _lab,
    "reset": _reset,
    "demo": _demo,
    "chat": _chat,
    "window": _window,
    "doctor": _doctor,
    "test": _test,
}


if __name__ == "__main__":
    sys.exit(main())
