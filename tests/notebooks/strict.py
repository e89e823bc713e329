"""Makes `pytest --nbval` strict where it is blind, and patient where it is too strict.

    committed notebook ──cells──▶ a fresh kernel ──outputs──▶ the same as committed?

nbval 0.11.0 compares what a cell printed. Alone it lets pass a cell that was never run,
a cell that raised an ExceptionGroup (IPython prints it and sends no error), and an image
or a widget that is gone; and it waits out the whole time limit when a kernel has died. It
fails outputs that a front end would have cleared or updated. It has no hooks for any of
this, so the nodes it makes are given the classes below: `notebooks/conftest.py` takes
over the one hook of this file for the notebooks, and nothing else is touched.

Read after: build.py.     Read next: test_strict.py.
"""

from __future__ import annotations

from collections.abc import Generator
from queue import Empty
from time import monotonic
from typing import Any

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

IMAGES = ("image/png", "image/jpeg")
OF_ONE_RUN = ("template", "uid", "config")  # of a plotly figure: change with version or run
IMAGE_STARTS = ("iVBORw0KGgo", "/9j/")  # PNG and JPEG in base64
LIFE_CHECK_S = 1.0


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, Any, Any]:
    """Turn every notebook that nbval collects into a strict one."""
    nodes = yield
    for node in nodes:
        if isinstance(node, IPyNbFile):
            node.__class__ = StrictFile
            node.begin()
    return nodes


class StrictKernel(RunningKernel):
    """A kernel that keeps history, so `x;`, `_` and `Out` act as in Jupyter, and may die."""

    last_reply: dict[str, Any]

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        return self.kc.execute(
            cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False
        )

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the reply to one cell and keep it.

        Raises:
            Empty: There was none in `timeout` seconds.
            RuntimeError: The kernel died, or would not run the cell.
        """
        end = monotonic() + (timeout if timeout is not None else float("inf"))
        while True:
            try:
                message = self.get_message("shell", timeout=min(LIFE_CHECK_S, end - monotonic()))
            except Empty:
                if not self.is_alive():
                    raise RuntimeError("The kernel died while it ran this cell.") from None
                if monotonic() >= end:
                    raise
                continue
            if message["parent_header"].get("msg_id") == msg_id:
                self.last_reply = message["content"]
                if self.last_reply["status"] == "aborted":
                    raise RuntimeError("The kernel would not run this cell.")
                return


class StrictFile(IPyNbFile):
    """A notebook whose outputs come about as in a front end."""

    def begin(self) -> None:
        """Compare images too, and start with nothing displayed."""
        self.skip_compare = tuple(key for key in self.skip_compare if key not in IMAGES)
        self.outputs: list[Any] = []
        self.displays: dict[str, tuple[list[Any], int]] = {}
        self.captures: dict[str, str] = {}
        self.clear_before_next = False

    def collect(self) -> Generator[Any, None, None]:
        for cell in super().collect():
            cell.__class__ = StrictCell
            yield cell

    def setup(self) -> None:
        super().setup()
        self.kernel.__class__ = StrictKernel

    def get_kernel_message(self, timeout: float | None = None, stream: str = "iopub") -> Any:
        """Return the next message that adds an output; do at once what the others ask for."""
        while True:
            message = super().get_kernel_message(timeout=timeout, stream=stream)
            kind, content = message["msg_type"], message["content"]
            if kind == "clear_output":
                self.clear_before_next = content.get("wait", False)
                if not self.clear_before_next:
                    self.outputs.clear()
            elif kind == "update_display_data":
                self._update(content)
            elif kind in ("comm_open", "comm_msg"):
                state = content.get("data", {}).get("state", {})
                if "msg_id" in state:  # an Output widget begins or ends to catch outputs
                    self.captures[content["comm_id"]] = state["msg_id"]
                return message
            elif kind in ("stream", "display_data", "execute_result"):
                if message["parent_header"].get("msg_id") in self.captures.values():
                    continue
                self._before_output(content)
                return message
            else:
                return message

    def _update(self, content: dict[str, Any]) -> None:
        outputs, place = self.displays.get(content["transient"]["display_id"], ([], 0))
        if place < len(outputs):
            outputs[place].update(data=content["data"], metadata=content["metadata"])

    def _before_output(self, content: dict[str, Any]) -> None:
        if self.clear_before_next:
            self.outputs.clear()
            self.clear_before_next = False
        display_id = content.get("transient", {}).get("display_id")
        if display_id:  # the output that nbval is about to append
            self.displays[display_id] = (self.outputs, len(self.outputs))


class StrictCell(IPyNbCell):
    """A cell that must have been run, and must not fail in silence."""

    @property
    def test_outputs(self) -> Any:
        """What this run put out so far; nbval sets it anew for each cell."""
        return self.parent.outputs

    @test_outputs.setter
    def test_outputs(self, outputs: Any) -> None:
        self.parent.outputs = [] if outputs is None else outputs

    def runtest(self) -> None:
        skipped = self.options["skip"]
        if self.cell.execution_count is None and self.cell.source.strip() and not skipped:
            self.raise_cell_error(
                "Cell was never run: python tests/notebooks/build.py run NOTEBOOK"
            )
        self.parent.clear_before_next = False
        kernel = self.parent.kernel
        kernel.last_reply = {}
        super().runtest()
        if kernel.last_reply.get("status") == "error" and not self.options["check_exception"]:
            said = f"{kernel.last_reply.get('ename')}: {kernel.last_reply.get('evalue')}"
            self.raise_cell_error(f"Cell raised {said}")

    def sanitize(self, value: Any) -> Any:
        if not isinstance(value, str):
            return _figure(value)
        return "<image>" if value.startswith(IMAGE_STARTS) else super().sanitize(value)


def _figure(value: Any) -> Any:
    """Return a plotly figure without what changes from version to version or run to run."""
    if isinstance(value, dict):
        return {key: _figure(part) for key, part in value.items() if key not in OF_ONE_RUN}
    if isinstance(value, list | tuple):
        return [_figure(part) for part in value]
    return round(value, 9) if isinstance(value, float) else value
