"""The host at work: several servers, both eras, cells, hostile texts, many calls at once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp.types import ToolAnnotations

from agentkit.errors import (
    ArgumentError,
    ConfigError,
    HostError,
    ServerGoneError,
    ServerTimeoutError,
    UnknownToolError,
)
from agentkit.host import McpHost, ServerChanged, tier_of
from agentkit.messages import ToolCall
from tests.servers_for_tests import Watched, bare, is_gone, lines, pid_of, say

HALF = "\ud83d"  # half of an emoji, as a tokenizer may cut it


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_call_returns_what_the_server_says_in_both_eras(era: str) -> None:
    async with McpHost({"a": bare(era=era)}) as host:
        result = await say(host, "a.echo", text="hello 你好 😀")

    assert (result.call_id, result.name, result.is_error) == ("c1", "a.echo", False)
    assert result.text == "hello 你好 😀"


async def test_the_wire_shows_every_message_of_the_start_and_of_a_call() -> None:
    shown = {}
    for era in ("legacy", "modern"):
        host = McpHost({"a": bare(era=era)})
        with host.wire() as wire:
            await host.open()
        with host.wire() as call:
            await say(host, "a.echo", text="你好")
        await host.close()
        shown[era] = [(way, server, m.get("method", "answer")) for way, server, m in wire.messages]
        assert [way for way, _, _ in call.messages] == ["->", "<-"]
        assert call.messages[0][2]["params"]["arguments"] == {"text": "你好"}
        assert call.as_text().splitlines()[1].startswith('<- {"jsonrpc": "2.0", "id": ')

    ask, answer = ("->", "a"), ("<-", "a", "answer")
    assert shown["modern"] == [(*ask, "server/discover"), answer, (*ask, "tools/list"), answer]
    assert shown["legacy"] == [
        (*ask, "server/discover"),
        answer,
        (*ask, "initialize"),
        answer,
        (*ask, "notifications/initialized"),
        (*ask, "tools/list"),
        answer,
    ]


async def test_a_pinned_era_is_spoken_without_asking() -> None:
    for era, first in [("legacy", "initialize"), ("2026-07-28", "tools/list")]:
        host = McpHost({"a": bare(era="legacy" if era == "legacy" else "modern")}, era=era)  # type: ignore[arg-type]
        with host.wire() as wire:
            await host.open()
        await host.close()
        assert wire.messages[0][2]["method"] == first


async def test_the_wire_view_cuts_long_values_and_names_servers_where_there_are_several() -> None:
    async with McpHost({"a": bare(), "b": bare()}) as host:
        with host.wire() as wire:
            await say(host, "a.echo", text="长" * 100)
            await say(host, "b.pid")
        await say(host, "a.pid")

    text = wire.as_text()
    assert [line.split(" ", 2)[:2] for line in text.splitlines()] == [
        ["a", "->"],
        ["a", "<-"],
        ["b", "->"],
        ["b", "<-"],
    ]
    assert "长" * 60 + "… [40 more characters]" in text
    assert wire.as_text(max_line_chars=10).splitlines()[0].endswith("more characters]")


async def test_opened_used_and_closed_in_different_tasks_as_cells_are(tmp_path: Path) -> None:
    """Each cell of a notebook runs in a task of its own."""
    log = tmp_path / "log"
    host = McpHost({"a": bare("--log", str(log)), "b": bare(era="modern")})

    await asyncio.create_task(host.open())
    await asyncio.create_task(host.open())  # the cell is run once more
    pids = [await asyncio.create_task(pid_of(host, name)) for name in ("a", "b")]
    await asyncio.create_task(host.close())
    await asyncio.create_task(host.close())

    assert lines(log) == ["start", "pid"]
    assert [is_gone(pid) for pid in pids] == [True, True]
    assert [host.state(name) for name in host.servers()] == ["closed", "closed"]
    assert host.tools() == []


async def test_a_closed_host_can_be_opened_again_and_says_so_until_then() -> None:
    host = McpHost({"a": bare()})
    with pytest.raises(ServerGoneError, match=r"host\.open"):
        await say(host, "a.echo", text="x")
    await host.open()
    first = await pid_of(host, "a")
    await host.close()
    with pytest.raises(ServerGoneError, match=r"host\.open"):
        await say(host, "a.echo", text="x")

    await host.open()
    second = await pid_of(host, "a")
    await host.close()

    assert first != second
    assert is_gone(first)
    assert is_gone(second)


async def test_the_log_of_a_server_is_read_while_it_runs_and_its_file_goes_at_the_end() -> None:
    host = McpHost({"a": bare()})
    folder = host._logs
    await host.open()

    assert host.stderr_tail("a") == "up 起来了"
    assert folder.is_dir()
    await host.close()
    assert not folder.exists()
    assert host.stderr_tail("a") == "up 起来了"


def test_a_loop_that_ends_without_close_leaves_no_process(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    host = McpHost({"a": bare(), "b": bare(era="modern")})

    async def forget_to_close() -> list[int]:
        await host.open()
        return [await pid_of(host, "a"), await pid_of(host, "b")]

    pids = asyncio.run(forget_to_close())
    assert [is_gone(pid) for pid in pids] == [True, True]
    assert [host.state(name) for name in host.servers()] == ["closed", "closed"]

    async def open_again() -> str:
        async with host:
            return (await say(host, "a.echo", text="again")).text

    assert asyncio.run(open_again()) == "again"
    assert capfd.readouterr().err == ""


async def test_tools_are_qualified_and_carry_what_the_server_says_of_them() -> None:
    async with McpHost({"a": bare()}) as host:
        tools = {tool.name: tool for tool in host.tools()}

    assert tools["a.echo"].description == "echo. 说明"
    assert tools["a.echo"].required == ("text",)
    assert (tools["a.echo"].tier, tools["a.echo"].idempotent) == ("read", True)
    assert (tools["a.grow"].tier, tools["a.grow"].idempotent) == ("write", False)
    assert (tools["a.anything"].tier, tools["a.anything"].idempotent) == ("write", False)


@pytest.mark.parametrize(
    ("name", "hints", "tier"),
    [
        ("read_note", {"read_only_hint": True}, "read"),
        ("write_note", {"destructive_hint": True, "idempotent_hint": True}, "write"),
        ("delete_note", {"destructive_hint": True, "idempotent_hint": True}, "destructive"),
        ("delete_note", {"destructive_hint": True}, "destructive"),
        ("deleteNote", {}, "destructive"),
        ("overwrite", {"destructive_hint": True}, "destructive"),
        ("add_note", {"destructive_hint": False}, "write"),
        ("clear_draft", {"destructive_hint": False}, "write"),
        ("get_time", {}, "write"),
        ("undeleted_notes", {}, "write"),
    ],
)
def test_the_tier_follows_from_the_annotations(
    name: str, hints: dict[str, bool], tier: str
) -> None:
    """By design: a note that is written over needs no consent, one that is deleted does."""
    assert tier_of(name, ToolAnnotations(**hints)) == tier
    if not hints:
        assert tier_of(name, None) == tier


async def test_what_does_not_fit_is_refused_before_the_wire() -> None:
    async with McpHost({"a": bare()}) as host:
        with host.wire() as wire:
            for name, arguments, error, said in [
                ("a.ech", {}, UnknownToolError, "a.echo"),
                ("b.echo", {"text": "x"}, UnknownToolError, "a.echo"),
                ("a.echo", {}, ArgumentError, "'text' is a required property"),
                ("a.echo", {"text": 5}, ArgumentError, "text must be string, not integer"),
                ("a.echo", {"text": "x" * 1_000_001}, ArgumentError, "at most 1000000"),
                ("a.anything", {"x": float("nan")}, ArgumentError, "no JSON"),
            ]:
                with pytest.raises(error, match=said):
                    await host.call(ToolCall("c1", name, arguments))
            with pytest.raises(ArgumentError, match="not a JSON object"):
                await host.call(ToolCall("c1", "a.echo", unread="{text"))

        assert wire.messages == []
        assert (await say(host, "a.echo", text="still here")).text == "still here"


async def test_the_server_may_be_left_out_of_a_name_and_a_broken_schema_stops_nobody() -> None:
    async with McpHost({"a": bare()}) as host:
        assert (await say(host, "echo", text="x")).name == "a.echo"
        assert (await say(host, "a.broken_schema", x=1)).data == {"got": {"x": 1}}


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_any_text_goes_there_and_back(era: str) -> None:
    texts = [
        "",
        "你好，世界",
        "👩‍🚀 e\u0301 \u2028 line\r\nline\ttab",
        "x" * 999_000,
        "长" * 350_000,
    ]
    async with McpHost({"a": bare(era=era)}) as host:
        for text in texts:
            assert (await say(host, "a.echo", text=text)).text == text

        assert (await say(host, "a.echo", text=f"half {HALF}.")).text == "half \ufffd."
        assert (await say(host, "a.anything", **{HALF: [HALF]})).data == {
            "got": {"\ufffd": ["\ufffd"]}
        }
        assert (await say(host, "a.half_emoji")).text == "half \ufffd, whole 😀"


async def test_a_huge_result_is_cut_and_the_cut_says_how_much() -> None:
    async with McpHost({"a": bare()}) as host:
        text = (await say(host, "a.huge")).text

    assert text == "x" * 1_000_000 + " … [500000 of 1500000 characters cut]"


async def test_content_that_is_no_text_is_described() -> None:
    async with McpHost({"a": bare()}) as host:
        text = (await say(host, "a.pictures")).text

    assert text.splitlines() == [
        "see:",
        "[image, image/png, 5 bytes]",
        "[audio, audio/wav, 5 bytes]",
        "[resource note://n1 (报告)]",
        "inside",
        "[a://c, x/y, 5 bytes]",
    ]


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("says_no", "No such thing 没有"),
        ("refuses", "refused: not today 今天不行 (code -32000)"),
        ("lies", "in a form that it does not promise"),
        ("off_schema", "in a form that it does not promise"),
    ],
)
async def test_a_server_that_says_no_or_nonsense_gives_a_result_that_says_so(
    tool: str, said: str
) -> None:
    async with McpHost({"a": bare()}) as host:
        result = await say(host, f"a.{tool}")
        after = await say(host, "a.echo", text="still here")

    assert result.is_error
    assert said in result.text
    assert after.text == "still here"
    assert not after.is_error


async def test_two_hundred_calls_at_once_get_each_its_own_answer() -> None:
    async with McpHost({"a": bare(), "b": bare(era="modern")}) as host:
        texts = [f"{i} 号" for i in range(200)]
        results = await asyncio.gather(
            *(say(host, f"{'ab'[i % 2]}.echo", text=text) for i, text in enumerate(texts))
        )

    assert [result.text for result in results] == texts


async def test_a_cancelled_caller_harms_nobody_else() -> None:
    async with McpHost({"a": bare()}) as host:
        waiting = asyncio.create_task(say(host, "a.never"))
        other = asyncio.create_task(say(host, "a.echo", text="other"))
        await other
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

        assert (await say(host, "a.echo", text="after")).text == "after"
        assert host.state("a") == "ready"


async def test_a_call_that_is_not_answered_ends_with_its_limit() -> None:
    async with McpHost({"a": bare()}, timeout_s=0.3) as host:
        with pytest.raises(ServerTimeoutError) as caught:
            await say(host, "a.never")
        assert (await say(host, "a.echo", text="after")).text == "after"
        with pytest.raises(ServerTimeoutError, match=r"within 0\.1 s"):
            await host.call(ToolCall("c2", "a.never"), timeout_s=0.1)

    assert caught.value.what.startswith("a.never did not answer within 0.3 s.")
    assert "up 起来了" in caught.value.what
    assert "timeout_s=0.9" in caught.value.hint


async def test_a_lazy_server_starts_at_its_first_call_and_others_do_not(tmp_path: Path) -> None:
    log = tmp_path / "log"
    host = McpHost({"a": bare(), "b": bare("--log", str(log))}, lazy=["b"])
    async with host:
        assert host.state("b") == "not mounted"
        assert {tool.server for tool in host.tools()} == {"a"}
        assert not log.exists()

        assert (await say(host, "b.echo", text="awake")).text == "awake"
        assert {tool.server for tool in host.tools()} == {"a", "b"}

        await host.unmount("b")
        assert {tool.server for tool in host.tools()} == {"a"}
        with pytest.raises(ServerGoneError, match=r"b\.echo was not called: b is not mounted"):
            await say(host, "b.echo", text="x")
        await host.mount("b")
        assert (await say(host, "b.echo", text="back")).text == "back"

    assert lines(log) == ["start", "echo", "start", "echo"]


async def test_a_changed_list_of_tools_is_seen() -> None:
    watched = Watched({"a": bare()})
    async with watched.host as host:
        await say(host, "a.grow")
        async with asyncio.timeout(30):
            while not any(tool.name == "a.grown" for tool in host.tools()):
                await say(host, "a.pid")

        assert (await say(host, "a.grown")).text == "done"


async def test_events_tell_the_states_in_order() -> None:
    watched = Watched({"a": bare()})
    await watched.host.open()
    await watched.host.close()

    assert watched.events == [
        ServerChanged("a", "starting", ""),
        ServerChanged("a", "ready", ""),
        ServerChanged("a", "closed", ""),
    ]


async def test_a_listener_that_fails_costs_nothing() -> None:
    heard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))

    def fail(_: ServerChanged) -> None:
        raise ValueError("a listener's fault")

    async with McpHost({"a": bare()}, on_event=fail) as host:
        assert (await say(host, "a.echo", text="x")).text == "x"

    assert {str(context["exception"]) for context in heard} == {"a listener's fault"}


async def test_a_name_that_is_no_server_is_refused_with_the_names() -> None:
    with pytest.raises(HostError, match="Use one of: my_notes"):
        McpHost({"my notes": bare()}, lazy=["other"])
    host = McpHost({"my notes": bare()})

    assert host.state("my notes") == host.state("my_notes") == "not mounted"
    for ask in (host.state, host.reason, host.stderr_tail):
        with pytest.raises(HostError, match="Use one of: my_notes"):
            ask("other")
    with pytest.raises(ConfigError):
        McpHost({"a": {"cmd": "x"}})


@pytest.mark.parametrize("broken", [None, "no fileno"])
async def test_a_notebooks_standard_error_needs_no_file_descriptor(
    broken: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A public fault: io.UnsupportedOperation: fileno, in notebooks on Windows."""

    class NoFileno:
        def write(self, text: str) -> int:
            return len(text)

        def flush(self) -> None: ...

    monkeypatch.setattr(sys, "stderr", NoFileno() if broken else None)
    async with McpHost({"a": bare()}) as host:
        assert (await say(host, "a.echo", text="x")).text == "x"


async def test_python_is_this_one_where_the_path_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("python") is None
    async with McpHost({"a": {**bare(), "command": "python"}}) as host:
        assert psutil.Process(await pid_of(host, "a")).exe() == psutil.Process().exe()


async def test_interrupts_are_heard_because_the_loop_wakes_now_and_then() -> None:
    """A notebook's interrupt is acted upon when the loop next wakes; nothing else wakes it."""
    async with McpHost({"a": bare()}) as host:
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert "agentkit ticker" in names
        del host
    assert "agentkit ticker" not in {
        task.get_name() for task in asyncio.all_tasks() if not task.cancelling()
    }


async def test_a_host_opened_in_another_running_loop_says_so() -> None:
    async with McpHost({"a": bare()}) as host:

        def elsewhere() -> str:
            with contextlib.suppress(HostError):
                asyncio.run(say(host, "a.echo", text="x"))
                return "answered"
            return "refused"

        assert await asyncio.to_thread(elsewhere) == "refused"
        assert (await say(host, "a.echo", text="x")).text == "x"


async def test_resources_of_a_server_without_any_are_none() -> None:
    async with McpHost({"a": bare(), "b": bare(era="modern")}) as host:
        assert await host.resources() == []
        assert await host.prompts() == []


def test_the_block_may_be_given_as_text_or_file(tmp_path: Path) -> None:
    block = {"mcpServers": {"a": bare()}}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(block), encoding="utf-8")

    make: Callable[[Any], list[str]] = lambda config: McpHost(config).servers()  # noqa: E731
    assert make(block) == make(json.dumps(block)) == make(file) == ["a"]
