"""The kit's host keeps what a host promises, and each promise catches one that breaks it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentkit.host import McpHost
from tests.broken.host_asks_twice import AsksTwice
from tests.broken.host_deaf import deaf
from tests.broken.host_entered_in_cells import EnteredInCells
from tests.broken.host_leaves_servers import LeavesServers
from tests.broken.host_without_limit import WithoutLimit
from tests.servers_for_tests import promises


def run(promise: Callable[..., Any], host: type[McpHost], folder: Path) -> None:
    """Try one promise on one kind of host."""
    asyncio.run(promise(lambda config: host(config, timeout_s=2.0), folder))


@pytest.mark.parametrize("promise", promises.PROMISES, ids=lambda promise: promise.__name__)
def test_the_host_keeps_its_promises(promise: Callable[..., Any], tmp_path: Path) -> None:
    run(promise, McpHost, tmp_path)


@pytest.mark.parametrize(
    ("promise", "host", "fault"),
    [
        (promises.it_is_opened_used_and_closed_in_cells, EnteredInCells, RuntimeError),
        (promises.it_leaves_no_process_behind, LeavesServers, AssertionError),
        (promises.a_write_is_never_sent_twice, AsksTwice, AssertionError),
        (promises.a_silent_server_costs_its_limit, WithoutLimit, TimeoutError),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_each_promise_catches_a_host_that_breaks_it(
    promise: Callable[..., Any], host: type[McpHost], fault: type[Exception], tmp_path: Path
) -> None:
    before = set(psutil.Process().children())

    with pytest.raises(fault):
        run(promise, host, tmp_path)

    for left in set(psutil.Process().children()) - before:
        left.kill()


def test_the_promise_of_ears_catches_a_deaf_host(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(TimeoutError):
        run(promises.a_death_is_noticed_while_nobody_calls, deaf(monkeypatch), tmp_path)
