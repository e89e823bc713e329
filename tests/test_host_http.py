"""A server that is reached over HTTP behaves as one over a pipe does."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from agentkit.errors import ServerGoneError, ServerStartError
from agentkit.host import McpHost, link
from tests.servers_for_tests import HERE, LIMIT_S, Watched, say


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def free_port() -> int:
    """Return a port that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.asynccontextmanager
async def serving(port: int) -> AsyncIterator[subprocess.Popen[bytes]]:
    """Run the server of the tests, and wait until it listens."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / "over_http.py"), str(port)], stderr=subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    await writer.wait_closed()
                    break
                await asyncio.sleep(0.05)  # the operating system tells nobody when a port opens
        yield process
    finally:
        process.kill()
        process.wait()


async def test_http_looks_the_same_as_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """One server is started twice, because a start costs seconds."""
    monkeypatch.setattr(link, "RESTART_PAUSES_S", (0.0, 0.0))
    port = free_port()
    config = {"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Test": "yes"}}
    watched = Watched({"new": config})
    old = McpHost({"old": config}, era="legacy")
    async with serving(port) as process, old, watched.host as host:
        with host.wire() as wire:
            echoed = await say(host, "new.echo", text="hello 你好 half \ud83d")
        assert echoed.text == "hello 你好 half \ufffd"
        assert [way for way, _, _ in wire.messages] == ["->", "<-"]
        assert (await say(old, "old.echo", text="x" * 900_000)).text == "x" * 900_000
        assert await host.read("web://page") == "a page 一页"
        assert host.tools()[0].tier == "read"

        with pytest.raises(ServerGoneError) as caught:
            await say(host, "new.die")
        assert "not known whether the call was carried out" in caught.value.hint
        process.wait()
        with pytest.raises(ServerGoneError, match=r"old\.write was not called"):
            await say(old, "old.write", text="x")
        with pytest.raises(ServerGoneError, match="nothing listens"):
            await say(host, "new.echo", text="x")
        assert host.state("new") == "down"

        async with serving(port):
            assert (await say(host, "new.echo", text="back")).text == "back"
            assert (await say(old, "old.write", text="back")).text == "written: back"


async def test_a_write_that_never_reached_a_dead_http_server_is_safe_to_send_again() -> None:
    """Nothing was listening, so the next life of the server may be asked."""
    port = free_port()
    host = McpHost({"a": {"url": f"http://127.0.0.1:{port}/mcp"}})
    async with serving(port) as process:
        await host.open()
        process.kill()
        process.wait()
        call = asyncio.create_task(say(host, "a.write", text="x"))
        async with serving(port):
            assert (await call).text == "written: x"
            await host.close()


async def test_an_address_that_is_no_mcp_server_says_so() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ServerStartError) as caught:
            async with McpHost({"a": {"url": f"http://127.0.0.1:{port}/mcp"}}):
                pass

    assert "answers, but not as an MCP server does" in caught.value.what
    assert "Authorization" in caught.value.hint
