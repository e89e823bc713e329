"""What a host promises, as functions that take a way to make one and fail where it is broken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentkit.errors import HostError, ServerTimeoutError
from tests.servers_for_tests import bare, is_gone, lines, pid_of, say

Make = Callable[[dict[str, Any]], Any]
PATIENCE_S = 5.0  # a broken host is waited for this long; one that keeps its promise needs no wait


async def it_is_opened_used_and_closed_in_cells(make: Make, folder: Path) -> None:
    """Each cell of a notebook is a task of its own."""
    host = make({"a": bare()})
    await asyncio.create_task(host.open())
    result = await asyncio.create_task(say(host, "a.echo", text="你好"))
    await asyncio.create_task(host.close())

    assert result.text == "你好"


async def it_leaves_no_process_behind(make: Make, folder: Path) -> None:
    """Opened twice, as a cell is run twice, and closed once."""
    host = make({"a": bare()})
    await host.open()
    first = await pid_of(host, "a")
    await host.open()
    second = await pid_of(host, "a")
    await host.close()

    assert [is_gone(pid) for pid in (first, second)] == [True, True]


async def a_write_is_never_sent_twice(make: Make, folder: Path) -> None:
    """The server dies in the middle of a call that may have been carried out."""
    log = folder / "log"
    host = make({"a": bare("--log", str(log))})
    await host.open()
    with pytest.raises(HostError):
        await say(host, "a.die_writing")
    await host.close()

    assert lines(log).count("die_writing") == 1


async def a_death_is_noticed_while_nobody_calls(make: Make, folder: Path) -> None:
    """The tools of a dead server are shown as not available."""
    host = make({"a": bare("--die-if", str(folder / "curse"))})
    await host.open()
    (folder / "curse").touch()
    psutil.Process(await pid_of(host, "a")).kill()
    try:
        async with asyncio.timeout(PATIENCE_S):
            while any(tool.available for tool in host.tools()):
                await asyncio.sleep(0)
    finally:
        await host.close()


async def a_silent_server_costs_its_limit(make: Make, folder: Path) -> None:
    """The limit of a host that is made for a test is far below the patience of the test."""
    host = make({"a": bare()})
    await host.open()
    try:
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(ServerTimeoutError):
                await say(host, "a.never")
    finally:
        await host.close()


PROMISES = (
    it_is_opened_used_and_closed_in_cells,
    it_leaves_no_process_behind,
    a_write_is_never_sent_twice,
    a_death_is_noticed_while_nobody_calls,
    a_silent_server_costs_its_limit,
)
