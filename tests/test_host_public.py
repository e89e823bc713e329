"""The host against servers that others wrote, and against the kit's own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from agentkit.errors import ToolError
from agentkit.host import McpHost
from tests.servers_for_tests import say

EVERYTHING = Path("@modelcontextprotocol/server-everything/dist/index.js")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def everything() -> dict[str, Any]:
    """Return the configuration of the npm server; skip where it is not, but not in CI."""
    folder = Path(os.environ.get("AGENTKIT_NODE_MODULES", Path(sys.prefix, "node", "node_modules")))
    node = shutil.which("node")
    if node is None or not (folder / EVERYTHING).is_file():
        why = f"no node on the PATH, or no {EVERYTHING} in {folder}"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return {"command": node, "args": [str(folder / EVERYTHING), "stdio"]}


async def test_a_public_python_server_tells_the_time() -> None:
    config = {"command": sys.executable, "args": ["-m", "mcp_server_time"]}
    for era, spoken in [("auto", "server/discover"), ("legacy", "initialize")]:
        host = McpHost({"time": config}, era=era)  # type: ignore[arg-type]
        with host.wire() as wire:
            await host.open()
        names = [tool.name for tool in host.tools()]
        result = await say(
            host,
            "time.convert_time",
            source_timezone="Asia/Shanghai",
            time="09:00",
            target_timezone="UTC",
        )
        await host.close()

        assert wire.messages[0][2]["method"] == spoken
        assert "time.get_current_time" in names
        assert not result.is_error
        assert "T01:00:00" in result.text


@pytest.mark.node
async def test_a_public_node_server_of_the_older_era_shows_everything() -> None:
    host = McpHost({"all": everything()})
    with host.wire() as wire:
        await host.open()
    tools = {tool.name for tool in host.tools()}
    echoed = await say(host, "all.echo", message="hello 你好 😀")
    summed = await say(host, "all.get-sum", a=2, b=40)
    picture = await say(host, "all.get-tiny-image")
    resources = await host.resources()
    text = await host.read(next(r.uri for r in resources if not r.is_template))
    prompts = {prompt.name: prompt for prompt in await host.prompts()}
    said = await host.prompt("all.simple-prompt")
    await host.close()

    methods = [message.get("method") for _, _, message in wire.messages]
    assert "initialize" in methods
    assert {"all.echo", "all.get-sum", "all.get-tiny-image"} <= tools
    assert echoed.text == "Echo: hello 你好 😀"
    assert "42" in summed.text
    assert "[image, image/png, " in picture.text
    assert text
    assert "all.simple-prompt" in prompts
    assert said[0].role == "user"


async def test_the_note_server_and_two_others_work_side_by_side(tmp_path: Path) -> None:
    notes = {
        "command": sys.executable,
        "args": ["-m", "servers.notes", "--file", str(tmp_path / "notes.json")],
        "cwd": str(Path(__file__).parents[1]),
    }
    async with McpHost({"notes": notes, "笔记": notes}) as host:
        tiers = {tool.name: tool.tier for tool in host.tools()}
        written = await say(
            host,
            "notes.write_note",
            title="结项报告",
            text="下周要完成结项报告，重点是性能测试部分",
        )
        found = await say(host, "笔记.search_notes", query="结项报告")
        resources = await host.resources()
        note = await host.read(f"note://{written.data['id']}", "notes")
        with pytest.raises(ToolError, match="was refused"):
            await host.read("note://n9999", "notes")
        with pytest.raises(ToolError, match=r"Use one of: .*note://"):
            await host.read("nowhere://x")
        [prompt] = [p for p in await host.prompts() if p.name.startswith("notes.")]
        messages = await host.prompt(prompt.name, {prompt.arguments[0]: "性能"})
        ids = await host.complete("note://{id}", "id", "n", server="notes")

    assert tiers["notes.write_note"] == "write"
    assert tiers["notes.delete_note"] == "destructive"
    assert tiers["笔记.search_notes"] == "read"
    assert not written.is_error
    assert "性能测试" in found.text
    assert {resource.server for resource in resources} == {"notes", "笔记"}
    assert "性能测试" in note
    assert "性能" in messages[0].text
    assert ids == [written.data["id"]]
