"""The host in a real Jupyter kernel: cells, the interrupt button, and the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
from jupyter_client.manager import start_new_kernel

from tests.servers_for_tests import LIMIT_S, bare

ROOT = Path(__file__).parents[1]


class Cells:
    """A kernel that runs one cell after the other."""

    def __init__(self) -> None:
        self.manager, self.client = start_new_kernel(kernel_name="python3", cwd=str(ROOT))

    def run(self, code: str, *, interrupt_at: str = "") -> str:
        """Return what a cell printed, or the name of its error.

        Args:
            code: The cell.
            interrupt_at: Interrupt the kernel when the cell has printed this.
        """
        said: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            said.append(str(content.get("text", "") or content.get("ename", "")))
            if interrupt_at and interrupt_at in said[-1]:
                self.manager.interrupt_kernel()

        self.client.execute_interactive(code, output_hook=hear, timeout=LIMIT_S)
        return "".join(said).strip()

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def test_a_host_lives_across_cells_and_survives_the_interrupt_button() -> None:
    cells = Cells()
    try:  # each cell has LIMIT_S, a tenth of what the interrupted call would wait
        opened = cells.run(
            "from agentkit.host import McpHost\n"
            "from agentkit.messages import ToolCall\n"
            f"host = McpHost({{'a': {bare()!r}}}, timeout_s=600)\n"
            "await host.open()\n"
            "async def say(name, **arguments):\n"
            "    return (await host.call(ToolCall('c1', name, arguments))).text\n"
            "print(host.state('a'))"
        )
        pid = int(cells.run("print(await say('a.pid'))"))
        interrupted = cells.run(
            "print('waiting', flush=True)\nawait say('a.never')", interrupt_at="waiting"
        )
        after = cells.run("print(await say('a.echo', text='还在'), host.state('a'))")
        closed = cells.run("await host.close()\nprint(host.state('a'))")
    finally:
        cells.end()

    assert opened == "ready"
    assert interrupted.split()[0] == "waiting"
    assert interrupted.split()[1] in ("CancelledError", "KeyboardInterrupt")
    assert after == "还在 ready"
    assert closed == "closed"
    assert not psutil.pid_exists(pid)


def test_a_kernel_that_ends_without_closing_leaves_no_server() -> None:
    cells = Cells()
    try:
        pid = int(
            cells.run(
                "from agentkit.host import McpHost\n"
                "from agentkit.messages import ToolCall\n"
                f"host = await McpHost({{'a': {bare()!r}}}).open()\n"
                "print((await host.call(ToolCall('c1', 'a.pid'))).text)"
            )
        )
        server = psutil.Process(pid)
    finally:
        cells.end()

    psutil.wait_procs([server], timeout=LIMIT_S)
    assert not server.is_running()
