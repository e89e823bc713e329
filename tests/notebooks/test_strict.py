"""The strict comparison, seen to pass what is right and to fail what is broken.

One notebook is run and saved as an author does it. Then some of its cells are broken, one
way each, and pytest runs it again in a child process: its report names each cell's outcome.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import build

ROOT = Path(__file__).resolve().parents[2]
PIXEL = (  # a PNG of one pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
CELLS = {
    "text": "print('你好, world')",
    "semicolon": "1 + 1;",
    "history": "_ = 7\n_",
    "await": "import asyncio\nawait asyncio.sleep(0)\n'awaited'",
    "cleared": "from IPython.display import clear_output, display, HTML, Image\n"
    "for i in range(3):\n    clear_output(wait=True)\n    print(i)",
    "updated": "h = display(HTML('<b>one</b>'), display_id=True)\nh.update(HTML('<b>two</b>'))",
    "captured": "import ipywidgets as w\no = w.Output()\nwith o:\n    print('inside')\n'outside'",
    "widget": "w.IntSlider(value=3)",
    "image": f"import base64\nImage(data=base64.b64decode('{PIXEL}'))",
    "figure": "import plotly.graph_objects as go\ngo.Figure(go.Scatter(y=[1, 2, 0.1 + 0.2]))",
    "error": "# tags=raises-exception\n1 / 0",
}


def _data(cell: Any) -> Any:
    return next(output.data for output in cell.outputs if "data" in output)


def _other_text(cell: Any) -> None:
    cell.outputs[0].text = cell.outputs[0].text.replace("world", "World")


def _other_clear(cell: Any) -> None:
    cell.outputs[0].text = "1\n"


def _other_update(cell: Any) -> None:
    _data(cell)["text/html"] = "<b>one</b>"


def _other_widget(cell: Any) -> None:
    _data(cell)["text/plain"] = "IntSlider(value=4)"


def _other_point(cell: Any) -> None:
    _data(cell)["application/vnd.plotly.v1+json"]["data"][0]["y"][0] = 9


def _no_image_now(cell: Any) -> None:
    cell.source = "'no image'"
    _data(cell)["text/plain"] = "'no image'"


def _no_error_now(cell: Any) -> None:
    cell.source = "1 / 1"


def _never_run(cell: Any) -> None:
    cell.execution_count, cell.outputs = None, []


def _exception_group(cell: Any) -> None:
    """The tag lets any output pass; the error must not pass with it."""
    cell.metadata.tags = ["nbval-ignore-output"]
    cell.source = "raise ExceptionGroup('two', [ValueError('one')])"


BREAKS: dict[str, tuple[str, Callable[[Any], None], str]] = {
    "a changed text": ("text", _other_text, "mismatch 'stdout'"),
    "a changed text behind clear_output": ("cleared", _other_clear, "mismatch 'stdout'"),
    "a changed update": ("updated", _other_update, "mismatch 'text/html'"),
    "a changed widget": ("widget", _other_widget, "mismatch 'text/plain'"),
    "a changed point of a figure": ("figure", _other_point, "mismatch 'application/vnd.plotly"),
    "an image that is gone": ("image", _no_image_now, "Missing output fields"),
    "an error that does not come": ("error", _no_error_now, "Missing output fields"),
    "a cell that was never run": ("await", _never_run, "Cell was never run"),
    "an ExceptionGroup": ("history", _exception_group, "Cell raised ExceptionGroup"),
}


def _script(sources: dict[str, str]) -> str:
    blocks = []
    for source in sources.values():
        tags, _, code = source.rpartition("# tags=raises-exception\n")
        blocks.append(
            '# %% tags=["raises-exception"]\n' + code
            if tags or code != source
            else "# %%\n" + source
        )
    return "\n".join(blocks)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return "passed" or the failure's text for each cell, good ones by their own names."""
    folder = tmp_path_factory.mktemp("带 空格")
    notebook = build.notebook_of(_script(CELLS), name="99_strict.ipynb")
    build.execute(notebook, folder=folder)
    build.quieten(notebook)
    names = list(CELLS)
    places = dict(zip(names, notebook.cells, strict=True))
    for name, (of, change, _) in BREAKS.items():
        twin = build.nbformat.from_dict({**places[of], "id": f"99-{len(names):03}"})
        change(twin)
        notebook.cells.append(twin)
        names.append(name)
    build.save(notebook, folder / "99_strict.ipynb")
    return dict(zip(names, _run(folder, "99_strict.ipynb"), strict=True))


def _run(folder: Path, name: str) -> list[str]:
    """Run one notebook in a pytest of its own; return its cells' outcomes in order."""
    shutil.copy(ROOT / "notebooks" / "conftest.py", folder)
    shutil.copy(ROOT / "tests" / "notebooks" / "sanitize.cfg", folder)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-p",
        "no:cacheprovider",
    ]
    command += [
        "--nbval-sanitize-with=sanitize.cfg",
        "--junitxml=out.xml",
        "-c",
        os.devnull,
        "-W",
        "error",
    ]
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    env["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [*command, "--rootdir=.", name], cwd=folder, env=env, capture_output=True, timeout=300
    )
    report = folder / "out.xml"
    assert report.exists(), done.stdout.decode(errors="replace") + done.stderr.decode(
        errors="replace"
    )
    said = []
    for case in ET.parse(report).getroot().iter("testcase"):
        failed = case.find("failure") if case.find("failure") is not None else case.find("error")
        said.append("passed" if failed is None else failed.text or "failed")
    return said


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_that_repeats_its_output_passes(name: str, outcomes: dict[str, str]) -> None:
    """By design: what a front end would show the same is the same."""
    assert outcomes[name] == "passed"


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_cell_fails(name: str, outcomes: dict[str, str]) -> None:
    """By design: each of these is a way in which a notebook goes wrong unseen."""
    assert BREAKS[name][2] in outcomes[name]


def test_a_kernel_that_dies_fails_its_cell_at_once(tmp_path: Path) -> None:
    """By design: nbval alone waits out the cell's whole time limit, 2,000 s by default."""
    notebook = build.notebook_of("# %%\nimport os\n# %%\nos._exit(3)\n", name="98_dies.ipynb")
    for count, cell in enumerate(notebook.cells, 1):
        cell.execution_count = count
    build.save(notebook, tmp_path / "98_dies.ipynb")

    first, second = _run(tmp_path, "98_dies.ipynb")

    assert first == "passed"
    assert "The kernel died" in second
