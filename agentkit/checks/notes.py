"""What a note server must do: `CHECKS` for any, `FULL_CHECKS` for one that people rely on.

    build(path) ──▶ an MCPServer that keeps its notes in that file
        write_note(title, text)  ──▶ {"title": …}
        read_note(note)          ──▶ {"title": …, "text": …}    `note` is the title

Each check builds a server on a fresh file and calls it through an in-memory client:
no process, no wire, and the same answers that a host would get. They await, so run them
with `await run_checks_async(build, CHECKS)`.

Read after: checks/__init__.py, servers/notes.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp import Client, types

from agentkit.checks import expect, expect_equal
from agentkit.checks.expectations import RETURN
from agentkit.tokens import Counter

BuildServer = Callable[[Path], Any]
Call = tuple[str, Mapping[str, Any]]

LIMIT_S = 30.0  # for one call; it takes a few milliseconds
MAX_DESCRIPTION = 90  # STYLE section 7: the model reads every description in every turn
MAX_ERROR_CHARS = 500  # an error is a sentence or two, and does not send back what was sent


@contextmanager
def fresh_file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "notes.json"


def _client(server: Any) -> Client:
    """Return a client in memory; a function that made a server and kept it is told so."""
    expect(server is not None, "expected a server, got None.", hint=RETURN)
    return Client(server, read_timeout_seconds=LIMIT_S)


async def answers_of(server: Any, *calls: Call) -> list[types.CallToolResult]:
    """Return what a server answers to some calls, one after the other."""
    async with _client(server) as client:
        return [await client.call_tool(name, dict(arguments)) for name, arguments in calls]


async def tools_of(server: Any) -> dict[str, types.Tool]:
    async with _client(server) as client:
        return {tool.name: tool for tool in (await client.list_tools()).tools}


def _text(answer: types.CallToolResult) -> str:
    return "\n".join(block.text for block in answer.content if isinstance(block, types.TextContent))


def data_of(answer: types.CallToolResult, what: str) -> Mapping[str, Any]:
    """Return the structured result of a call that must have gone well."""
    expect(not answer.is_error, f"{what} failed: {_text(answer)[:200]}")
    data = answer.structured_content
    expect(
        isinstance(data, Mapping),
        f"{what} has no structured result.",
        hint="Annotate what the tool returns with a model: `-> Saved`.",
    )
    return data or {}


def error_of(answer: types.CallToolResult, what: str, *, tool: str) -> str:
    """Return the text of an error that tells the model something."""
    expect(
        answer.is_error,
        f"{what} went through as if all were well.",
        hint="Raise ToolError; text that is returned looks like success.",
    )
    text = _text(answer)
    expect(
        text.strip() != f"Error executing tool {tool}",
        f"{what} is an error without a reason: {text!r}.",
        hint="The SDK hides the text of every exception but ToolError.",
    )
    expect(
        len(text) <= MAX_ERROR_CHARS,
        f"the error has {len(text):,} characters; the model reads them all.",
        hint="Say the limit, and do not send back what was sent.",
    )
    return text


def writing(title: str, text: str) -> Call:
    return "write_note", {"title": title, "text": text}


def reading(note: str) -> Call:
    return "read_note", {"note": note}


async def _is_kept(build: BuildServer, title: str, text: str) -> None:
    with fresh_file() as path:
        _, read = await answers_of(build(path), writing(title, text), reading(title))
    expect_equal(data_of(read, "read_note").get("text"), text, f"the text of {title!r}")


async def a_written_note_can_be_read(build: BuildServer) -> None:
    """What was written under a title is read back under that title, word for word."""
    await _is_kept(build, "Report", "Finish it next week;\nfocus on the performance tests.")


async def chinese_and_emoji_survive(build: BuildServer) -> None:
    """下周 and 📝 come back as they went in."""
    await _is_kept(build, "下周", "下周要完成结项报告，重点是性能测试部分 📝")


async def a_person_can_read_the_file(build: BuildServer) -> None:
    """The file is UTF-8 text in which the notes can be read, Chinese ones too."""
    with fresh_file() as path:
        await answers_of(build(path), writing("下周", "性能测试"))
        expect(path.exists(), "there is no file where the notes were to be kept.")
        text = path.read_bytes().decode("utf-8", "replace")
    expect(
        "性能测试" in text,
        "the file does not show 性能测试.",
        hint=r"json.dumps writes \u6027\u80fd unless ensure_ascii=False.",
    )


async def writing_again_replaces(build: BuildServer) -> None:
    """A second note under the same title takes the place of the first."""
    calls = (writing("Report", "due Friday"), writing("Report", "due Monday"), reading("Report"))
    with fresh_file() as path:
        *_, read = await answers_of(build(path), *calls)
    expect_equal(data_of(read, "read_note").get("text"), "due Monday", "the text of 'Report'")


async def notes_outlive_the_server(build: BuildServer) -> None:
    """A server that is built anew on the same file has the old notes."""
    with fresh_file() as path:
        await answers_of(build(path), writing("Report", "due Friday"))
        [read] = await answers_of(build(path), reading("Report"))
    expect_equal(data_of(read, "read_note").get("text"), "due Friday", "the text after a restart")


async def two_servers_share_a_file(build: BuildServer) -> None:
    """Two servers on one file, taking turns, see each other's notes and undo none."""
    with fresh_file() as path:
        one, two = build(path), build(path)
        await answers_of(one, writing("first", "by one"))
        await answers_of(two, writing("second", "by two"))
        reads = await answers_of(one, reading("first"), reading("second"))
    got = [data_of(read, "read_note").get("text") for read in reads]
    expect_equal(got, ["by one", "by two"], "what the first server reads")


async def an_unknown_note_is_an_error_to_learn_from(build: BuildServer) -> None:
    """Reading a note that is not there fails, and the error names one that is."""
    calls = (writing("Report for next week", "due Friday"), reading("Report next week"))
    with fresh_file() as path:
        _, read = await answers_of(build(path), *calls)
    text = error_of(read, "reading a note that is not there", tool="read_note")
    expect(
        "Report for next week" in text,
        f"the error does not say which note there is: {text!r}.",
        hint="Ask: with which text could a model make a better second call?",
    )


async def a_long_title_is_refused(build: BuildServer) -> None:
    """A title of 10,000 characters is refused with the limit, and nothing is saved."""
    with fresh_file() as path:
        server = build(path)
        [refused] = await answers_of(server, writing("long " * 2_000, "x"))
        text = error_of(refused, "a title of 10,000 characters", tool="write_note")
        saved = path.read_text(encoding="utf-8") if path.exists() else ""
    said = text.replace("10,000", "").replace("10000", "")
    expect(any(c.isdigit() for c in said), f"the error does not say the limit: {text!r}.")
    expect("long long" not in saved, "the note was saved all the same.")


async def descriptions_have_three_parts(build: BuildServer) -> None:
    """Each description says what the tool does, then `Use when`, then `Returns`."""
    with fresh_file() as path:
        tools = await tools_of(build(path))
    for name, tool in tools.items():
        text = tool.description or ""
        use, returns = text.find("Use when "), text.find("Returns ")
        expect(0 < use < returns, f"{name}: not in three parts: {text[:80]!r}.")


async def descriptions_are_short(build: BuildServer) -> None:
    """No description costs more than 90 tokens."""
    count = Counter.for_model("gpt-4o")
    with fresh_file() as path:
        tools = await tools_of(build(path))
    for name, tool in tools.items():
        tokens = count(tool.description or "")
        expect(
            tokens <= MAX_DESCRIPTION,
            f"{name} has {tokens} tokens of description; at most {MAX_DESCRIPTION} are allowed.",
        )


async def arguments_are_described(build: BuildServer) -> None:
    """Each argument says what it is, with an example after `e.g.`."""
    with fresh_file() as path:
        tools = await tools_of(build(path))
    for name, tool in tools.items():
        for argument, schema in tool.input_schema.get("properties", {}).items():
            expect(
                "e.g." in schema.get("description", ""),
                f"{name}: {argument} has no description with an example.",
                hint='Annotated[str, Field(description="Short title, e.g. …")]',
            )


async def reading_tools_say_so(build: BuildServer) -> None:
    """read_note says that it only reads, and write_note does not say that."""
    with fresh_file() as path:
        tools = await tools_of(build(path))
    for name, wanted in (("read_note", True), ("write_note", False)):
        expect(name in tools, f"there is no tool {name}; there are {sorted(tools)}.")
        hints = tools[name].annotations
        says = bool(hints and hints.read_only_hint)
        expect_equal(
            says,
            wanted,
            f"{name} says that it only reads",
            hint="annotations=ToolAnnotations(read_only_hint=True)",
        )


async def results_are_structured(build: BuildServer) -> None:
    """Both tools promise named fields, and give them."""
    with fresh_file() as path:
        server = build(path)
        tools = await tools_of(server)
        answers = await answers_of(server, writing("Report", "due Friday"), reading("Report"))
    for name, answer in zip(("write_note", "read_note"), answers, strict=True):
        expect(name in tools, f"there is no tool {name}; there are {sorted(tools)}.")
        promised = (tools[name].output_schema or {}).get("properties", {})
        expect("title" in promised, f"{name} promises no field `title`: {sorted(promised)}.")
        expect_equal(data_of(answer, name).get("title"), "Report", f"`title` of {name}")


CHECKS = (
    a_written_note_can_be_read,
    chinese_and_emoji_survive,
    a_person_can_read_the_file,
    writing_again_replaces,
    notes_outlive_the_server,
    two_servers_share_a_file,
    an_unknown_note_is_an_error_to_learn_from,
    a_long_title_is_refused,
    descriptions_have_three_parts,
    descriptions_are_short,
    arguments_are_described,
    reading_tools_say_so,
    results_are_structured,
)


async def writers_at_once_lose_nothing(build: BuildServer) -> None:
    """Two servers write 10 notes each at the same time, and all 20 are there."""
    titles = [[f"{name} {i}" for i in range(10)] for name in ("one", "two")]
    with fresh_file() as path:
        await asyncio.gather(*(_write_at_once(build(path), part) for part in titles))
        flat = [title for part in titles for title in part]
        reads = await answers_of(build(path), *(reading(title) for title in flat))
    lost = [title for title, read in zip(flat, reads, strict=True) if read.is_error]
    expect(not lost, f"{len(lost)} of {len(flat)} acknowledged notes are lost.")


async def _write_at_once(server: Any, titles: Sequence[str]) -> None:
    async with _client(server) as client:
        calls = [client.call_tool(*writing(title, "x")) for title in titles]  # type: ignore[arg-type]
        answers = await asyncio.gather(*calls)
    for answer in answers:
        data_of(answer, "write_note")


async def a_damaged_file_is_kept(build: BuildServer) -> None:
    """A file cut in half is kept beside; the error says so, and the next call works."""
    with fresh_file() as path:
        await answers_of(build(path), writing("Report", "due Friday"))
        half = path.read_bytes()[:-20]
        path.write_bytes(half)
        first, second = await answers_of(build(path), reading("Report"), reading("Report"))
        kept = [other for other in path.parent.iterdir() if other.read_bytes() == half]
    text = error_of(first, "a file that is cut in half", tool="read_note")
    expect("damaged" in text, f"the error does not say that the file is damaged: {text!r}.")
    expect(kept, "the damaged file was kept nowhere.")
    expect_equal(data_of(second, "the second call").get("text"), "due Friday", "the text")


async def half_an_emoji_harms_nothing(build: BuildServer) -> None:
    """Text that is no valid Unicode is mended or refused, and no other note is lost."""
    calls = (writing("Report", "due Friday"), writing("half", "\ud83d"), reading("Report"))
    with fresh_file() as path:
        *_, read = await answers_of(build(path), *calls)
    expect_equal(data_of(read, "read_note").get("text"), "due Friday", "the text of 'Report'")


async def wrong_arguments_are_told_the_form(build: BuildServer) -> None:
    """A number for a title is refused with arguments that would be taken."""
    with fresh_file() as path:
        [refused] = await answers_of(build(path), ("write_note", {"title": 7, "text": "x"}))
    text = error_of(refused, "a number for a title", tool="write_note")
    expect('{"title": ' in text, f"the error shows no arguments that work: {text!r}.")


FULL_CHECKS = (
    *CHECKS,
    writers_at_once_lose_nothing,
    a_damaged_file_is_kept,
    half_an_emoji_harms_nothing,
    wrong_arguments_are_told_the_form,
)
