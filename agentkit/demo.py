"""One conversation in the terminal: the main job of the kit, without a browser.

    agentkit demo ─▶ note server (a real process) ─▶ two turns, printed step by step
                     ─▶ exit status 0 if the note is in its file and was found again

Read after: session.py, host/.     Read next: cli.py.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import platformdirs

from agentkit import events
from agentkit.errors import AgentkitError
from agentkit.host import McpHost, ServerChanged
from agentkit.memory.long import LongTermMemory
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.messages import ToolCall
from agentkit.models import load_model
from agentkit.session import Session
from agentkit.snapshot import spent
from agentkit.text import terms
from agentkit.tools import ToolSpec
from agentkit.trace import Entry, Trace

CONVERSATIONS = {
    "en": (
        "note for next week: finish the project report, focus on the performance tests",
        "did I note anything about the report?",
    ),
    "zh": (
        "帮我记一下：下周要完成结项报告，重点是性能测试部分",
        "我之前记过关于报告的事吗？",
    ),
}
BAR_CHARS = 40
NEW = "/new"  # typed in a chat
CHAT_TENANT = "you"  # one person talks in a terminal
FOUND_WORDS = 2  # of a note, in what the last turn brought or said


def notes_config(notes_file: Path) -> dict[str, object]:
    """Return the `mcpServers` block of the kit's own note server, for one file."""
    arguments = ["-m", "servers.notes", "--file", str(notes_file)]
    return {"mcpServers": {"notes": {"command": sys.executable, "args": arguments}}}


def default_notes_file() -> Path:
    """Return where the demo and the chat keep their notes: a folder of the user."""
    return Path(platformdirs.user_data_dir("agentkit", appauthor=False)) / "notes.json"


def run_demo(*, lang: str = "en", notes_file: Path | None = None, model: str | None = None) -> int:
    """Run the conversation and print it; return 0 if it worked, else 1.

    Args:
        lang: "en" or "zh".
        notes_file: Where the note goes; by default the user's own note file.
        model: As in `AGENTKIT_MODEL`.
    """
    return asyncio.run(_demo(lang, notes_file or default_notes_file(), model))


async def _demo(lang: str, notes_file: Path, model: str | None) -> int:
    try:
        trace = Trace()
        async with McpHost(notes_config(notes_file), on_event=_into(trace)) as host:
            session = Session(model=load_model(model), host=host, trace=trace)
            print(f"model {session.agent.model.name}, {len(host.tools())} tools")
            for text in CONVERSATIONS[lang]:
                await _turn(session, text)
    except AgentkitError as error:
        print(f"\nIt did not work. {error}", file=sys.stderr)
        return 1
    return _judge(session, notes_file)


async def _turn(session: Session, text: str) -> None:
    """Run one turn and print what happened in it."""
    print(f"\nyou    {text}")
    before = len(session.trace)
    try:
        await session.ask(text)
    finally:  # of a turn that fails, what it did until then
        lines = [show(entry) for entry in list(session.trace)[before:]]
        print(*filter(None, [*lines, cost_line(session)]), sep="\n")


def cost_line(session: Session) -> str:
    """Return what the last turn cost, "" where that is said already."""
    shots = session.monitor.report().snapshots
    told = [spent(shot) for shot in shots[-2:]]
    if not told or told[-1] in told[:-1]:  # a model without a price has none in each turn
        return ""
    usage = shots[-1].usage
    cached = usage.cache_read if usage is not None else 0
    more = f"; {cached:,} of {usage.input:,} tokens from the cache" if usage and cached else ""
    return f"cost   {told[-1]}{more}"


def _into(trace: Trace) -> Callable[[ServerChanged], None]:
    """Return what puts a host's events into a trace."""
    return lambda change: trace.append(
        events.ServerChanged(change.server, change.state, change.reason), turn=""
    )


def show(entry: Entry) -> str:
    """Return one line for an event of a turn, "" for one that needs none."""
    data = entry.data
    match entry.kind:
        case "Packed":
            return f"       {bar(data['tokens'], data['budget'] - data['reserve'])}"
        case "ToolCalled":
            arguments = json.dumps(data["arguments"], ensure_ascii=False)
            return f"call   {data['name']} {arguments}"
        case "ToolReturned":
            said = " ".join(data["text"].split())
            mark = "error " if data["is_error"] else "result"
            return f"{mark} {said if len(said) <= 160 else said[:159] + '…'}"
        case "Stopped":
            return f"guard  {data['reason']}"
        case "ServerChanged":
            return f"server {data['server']} is {data['state']}: {data['reason']}"
        case "Answered":
            return f"agent  {data['text']}"
        case "Recalled" if data["hits"]:
            best = data["hits"][0]["text"]
            return f"recall {len(data['hits'])}, first: {best}"
        case "Wrote":
            return f"memory {data['outcome']}: {data['text']} ({data['reason']})"
        case "Compressed":
            sizes = f", {data['before']:,} → {data['after']:,} tokens" if data["rounds"] else ""
            return f"window {data['reason']}{sizes}"
        case "HandoverWritten":
            return f"window nearly full; {NEW} goes on from a summary of {data['tokens']:,} tokens"
        case "Forgot":
            return f"memory forgot {len(data['record_ids'])} ({data['reason']})"
    return ""


def bar(used: int, usable: int) -> str:
    """Return the window as a line of text: how much of it the model is about to read."""
    filled = min(BAR_CHARS, round(BAR_CHARS * used / max(usable, 1)))
    share = 100 * used / max(usable, 1)
    return f"[{'#' * filled}{'.' * (BAR_CHARS - filled)}] {used} of {usable} tokens, {share:.0f} %"


def _judge(session: Session, notes_file: Path) -> int:
    """Say whether the note is in its file and was found again."""
    wrong = _what_is_wrong(session, notes_file)
    if wrong:
        print(f"\nIt did not work: {wrong}", file=sys.stderr)
        return 1
    print(f"\nIt worked: the note is in {notes_file}")
    return 0


def _what_is_wrong(session: Session, notes_file: Path) -> str:
    """Return why the conversation did not do what it should, "" if it did."""
    calls = [entry.data for entry in session.trace if entry.kind == "ToolCalled"]
    written = [c["arguments"] for c in calls if c["name"].endswith("write_note")]
    if not written:
        return "no note was written."
    try:
        kept = {note["title"]: note["text"] for note in _notes_in(notes_file)}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{notes_file} cannot be read ({error})."
    missing = [note for note in written if kept.get(note.get("title")) != note.get("text")]
    if missing:
        return f"{missing[0].get('title')!r} is not in {notes_file}."
    asked = session.turns[-1]
    read = set(terms(" ".join(message.text for message in asked.messages[1:])))
    words = set(terms(" ".join(note["text"] for note in written)))
    return "" if len(words & read) >= FOUND_WORDS else "the note was not found again."


def _notes_in(notes_file: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(notes_file.read_text(encoding="utf-8"))["notes"]
    return found


def run_chat(
    *, notes_file: Path | None = None, model: str | None = None, memory_file: Path | None = None
) -> int:
    """Talk to the agent in the terminal until an empty line or the end of input.

    A window that fills is compressed, and `NEW` begins another conversation, which knows
    what this one has settled.

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
                store = stack.enter_context(LongTermMemory.open(memory_file))
                memory = TenantMemory(store, tenant=CHAT_TENANT)
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
            while text := (await asyncio.to_thread(_read_line, "you    ")).strip():
                if text == NEW:
                    settled = session.handover.tokens
                    session = session.new_session(trace=trace)
                    print(f"window begun anew, with a summary of {settled:,} tokens")
                    continue
                try:
                    await _turn(session, text)
                except AgentkitError as error:
                    print(f"error  {error}")
    except AgentkitError as error:
        print(f"\nIt did not work. {error}", file=sys.stderr)
        return 1
    return 0


async def _consent(call: ToolCall, tool: ToolSpec) -> bool:
    """Ask in the terminal before a destructive call."""
    question = f"allow  {tool.name} {call.arguments_json()}? [y/N] "
    return (await asyncio.to_thread(_read_line, question)).strip().lower() in ("y", "yes", "是")


def _read_line(prompt: str) -> str:
    try:
        return input(prompt) if sys.stdin is not None else ""  # a closed one holds nothing
    except EOFError:
        return ""
