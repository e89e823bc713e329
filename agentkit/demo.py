"""One conversation in the terminal: the main job of the kit, without a browser.

    agentkit demo ─▶ note server (a real process) ─▶ two turns, printed step by step
                     ─▶ exit status 0 if the note is in its file and was found again

The demo has a note file of its own, so what it makes up never stands among the user's notes.

Read after: session.py, host/, demo_lines.py.     Read next: cli.py.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import platformdirs

from agentkit import events
from agentkit.demo_lines import NEW, SENTENCES, Language, cost_line, line, show
from agentkit.errors import AgentkitError
from agentkit.host import McpHost, ServerChanged
from agentkit.memory.long import LongTermMemory
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.messages import ToolCall
from agentkit.models import load_model
from agentkit.session import Session
from agentkit.text import printable, terms
from agentkit.tools import ToolSpec
from agentkit.trace import Trace

CONVERSATIONS: dict[Language, tuple[str, str]] = {
    "en": (
        "note for next week: finish the project report, focus on the performance tests",
        "did I note anything about the report?",
    ),
    "zh": (
        "帮我记一下：下周要完成结项报告，重点是性能测试部分",
        "我之前记过关于报告的事吗？",
    ),
}
READ_ONLY = "may only be read: this conversation changes nothing that is remembered"
CHAT_TENANT = "you"  # one person talks in a terminal
CHAT_WAIT_S = 2.0  # for another process that holds the memory; somebody waits for the answer
FOUND_WORDS = 2  # of a note, in what the last turn brought or said


def notes_config(notes_file: Path) -> dict[str, object]:
    """Return the `mcpServers` block of the kit's own note server, for one file."""
    arguments = ["-m", "servers.notes", "--file", str(notes_file)]
    return {"mcpServers": {"notes": {"command": sys.executable, "args": arguments}}}


def default_notes_file() -> Path:
    """Return where a chat keeps its notes: a folder of the user, as the server's own default."""
    return _data_folder() / "notes.json"


def demo_notes_file() -> Path:
    """Return where the demo keeps its made-up note: beside the user's own, never among them."""
    return _data_folder() / "demo_notes.json"


def _data_folder() -> Path:
    return Path(platformdirs.user_data_dir("agentkit", appauthor=False))


def run_demo(
    *, lang: Language = "en", notes_file: Path | None = None, model: str | None = None
) -> int:
    """Run the conversation and print it; return 0 if it worked, else 1.

    Args:
        lang: Of the conversation and of what is said around it.
        notes_file: Where the note goes; by default a file that only the demo writes.
        model: As in `AGENTKIT_MODEL`.
    """
    return asyncio.run(_demo(lang, notes_file or demo_notes_file(), model))


async def _demo(lang: Language, notes_file: Path, model: str | None) -> int:
    said = SENTENCES[lang]
    try:
        trace = Trace()
        async with McpHost(notes_config(notes_file), on_event=_into(trace)) as host:
            session = Session(model=load_model(model), host=host, trace=trace)
            print(said["begin"].format(name=session.agent.model.name, tools=len(host.tools())))
            for text in CONVERSATIONS[lang]:
                print(f"\n{line('you', text, lang)}")
                await _turn(session, text, lang)
    except AgentkitError as error:
        print(printable(f"\n{said['failed'].format(why=error)}", keep="\n"), file=sys.stderr)
        return 1
    return _judge(session, notes_file, lang)


async def _turn(session: Session, text: str, lang: Language = "en") -> None:
    """Run one turn and print what happened in it."""
    before = len(session.trace)
    try:
        await session.ask(text)
    finally:  # of a turn that fails, what it did until then
        lines = [show(entry, lang) for entry in list(session.trace)[before:]]
        cost = cost_line(list(session.monitor.report().snapshots), lang)
        print(*filter(None, [*lines, cost]), sep="\n")


def _into(trace: Trace) -> Callable[[ServerChanged], None]:
    """Return what puts a host's events into a trace."""
    return lambda change: trace.append(
        events.ServerChanged(change.server, change.state, change.reason), turn=""
    )


def _judge(session: Session, notes_file: Path, lang: Language) -> int:
    """Say whether the note is in its file and was found again."""
    said, wrong = SENTENCES[lang], _what_is_wrong(session, notes_file, lang)
    if wrong:
        print(printable(f"\n{said['failed'].format(why=wrong)}", keep="\n"), file=sys.stderr)
        return 1
    print(f"\n{printable(said['worked'].format(file=notes_file))}")
    return 0


def _what_is_wrong(session: Session, notes_file: Path, lang: Language) -> str:
    """Return why the conversation did not do what it should, "" if it did."""
    said = SENTENCES[lang]
    calls = [entry.data for entry in session.trace if entry.kind == "ToolCalled"]
    written = [c["arguments"] for c in calls if c["name"].endswith("write_note")]
    if not written:
        return said["no note"]
    try:
        kept = {note["title"]: note["text"] for note in _notes_in(notes_file)}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return said["unreadable"].format(file=notes_file, error=error)
    missing = [note for note in written if kept.get(note.get("title")) != note.get("text")]
    if missing:
        return said["not in file"].format(title=missing[0].get("title"), file=notes_file)
    asked = session.turns[-1]
    read = set(terms(" ".join(message.text for message in asked.messages[1:])))
    words = set(terms(" ".join(note["text"] for note in written)))
    return "" if len(words & read) >= FOUND_WORDS else said["not found"]


def _notes_in(notes_file: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(notes_file.read_text(encoding="utf-8"))["notes"]
    return found


def run_chat(
    *, notes_file: Path | None = None, model: str | None = None, memory_file: Path | None = None
) -> int:
    """Talk to the agent in the terminal until an empty line or the end of input.

    A window that fills is compressed, and `NEW` begins another conversation, which knows
    what this one has settled. Where the input is no terminal, each message is printed as if
    it had been typed, and a call that needs consent is refused: nobody is there to ask.

    Args:
        notes_file: Where notes go; by default the user's own note file.
        model: As in `AGENTKIT_MODEL`.
        memory_file: Where what is worth it is remembered, for this conversation and later
            ones. Without it nothing is.
    """
    return asyncio.run(_chat(notes_file or default_notes_file(), model, memory_file))


async def _chat(notes_file: Path, model: str | None, memory_file: Path | None) -> int:
    trace = Trace()
    try:
        async with (
            McpHost(notes_config(notes_file), on_event=_into(trace)) as host,
            AsyncExitStack() as stack,
        ):
            memory = None
            if memory_file is not None:
                store = LongTermMemory.open(memory_file, wait_s=CHAT_WAIT_S)
                memory = TenantMemory(stack.enter_context(store), tenant=CHAT_TENANT)
            session = Session(
                model=load_model(model),
                host=host,
                consent=_consent,
                trace=trace,
                memory=memory,
                compress=True,
            )
            name = session.agent.model.name
            print(f"model {name}; an empty line ends the conversation, {NEW} begins another")
            if memory_file is not None and not os.access(memory_file, os.W_OK):
                print(line("memory", f"{memory_file} {READ_ONLY}"))
            while text := (await asyncio.to_thread(_read_message)).strip():
                if text == NEW:
                    settled = session.handover.tokens
                    session = session.new_session(trace=trace)
                    print(f"window begun anew, with a summary of {settled:,} tokens")
                    continue
                try:
                    await _turn(session, text)
                except AgentkitError as error:
                    print(line("error", str(error)))
                while memory is not None and memory.outcome.failed:
                    print(line("memory", f"not done: {memory.outcome.failed.pop(0)}"))
    except AgentkitError as error:
        print(printable(f"\nIt did not work. {error}", keep="\n"), file=sys.stderr)
        return 1
    return 0


async def _consent(call: ToolCall, tool: ToolSpec) -> bool:
    """Ask in the terminal before a destructive call; without a terminal, allow nothing."""
    wanted = printable(f"{tool.name} {call.arguments_json()}")
    if not _is_terminal():
        print(f"refuse {wanted}: the input is no terminal, so there is nobody to ask")
        return False
    answer = await asyncio.to_thread(_read_line, f"allow  {wanted}? [y/N] ")
    return answer.strip().lower() in ("y", "yes", "是")


def _read_message() -> str:
    """Read what the user says next, and let it stand in what is printed exactly once."""
    print()
    if _is_terminal():  # which shows what is typed
        return _read_line(line("you", ""))
    text = _read_line("")
    if text.strip():
        print(line("you", text))
    return text


def _is_terminal() -> bool:
    """Return whether somebody types the input, rather than a file or another program."""
    return sys.stdin is not None and sys.stdin.isatty()


def _read_line(prompt: str) -> str:
    try:
        return input(prompt) if sys.stdin is not None else ""  # a closed one holds nothing
    except EOFError:
        return ""
