"""The tool that writes, runs and reads notebooks."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks import build

SCRIPT = """\
# %% [markdown]
# # 窗口 The window
#
# - a list
#   - with a step

# %% tags=["raises-exception"]
def half(x):
    return x / 0


half(3)

# %%
import ipywidgets


class Bar(ipywidgets.HTML):
    def _repr_mimebundle_(self, **kwargs):
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": "bar 中文"}


Bar("<b>bar</b>")
"""


def test_a_script_survives_the_way_into_a_notebook_and_back() -> None:
    assert build.script_of(build.notebook_of(SCRIPT, name="03_x.ipynb")) == SCRIPT


def test_cells_are_named_after_the_notebook_and_counted() -> None:
    notebook = build.notebook_of(SCRIPT, name="03_x.ipynb")

    assert [cell.id for cell in notebook.cells] == ["03-000", "03-001", "03-002"]


@pytest.mark.parametrize("script", ["x = 1\n# %%\n", "# %%\n# %%time\n"])
def test_a_script_that_would_lose_text_is_refused(script: str) -> None:
    with pytest.raises(ValueError, match=r"line [12]: "):
        build.cells_of(script)


def test_what_is_printed_in_parts_is_one_output(tmp_path: Path) -> None:
    """By design: where a kernel cuts its stream depends on the speed of the machine."""
    source, path = tmp_path / "s.py", tmp_path / "03_x.ipynb"
    source.write_text("# %%\nprint(1, flush=True)\nprint(2, flush=True)\nprint(3)\n", "utf-8")

    build.main(["write", str(source), str(path), "--run"])

    outputs = nbformat.read(path, as_version=4).cells[0].outputs
    assert [(o.name, o.text) for o in outputs] == [("stdout", "1\n2\n3\n")]


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    """By design: a diff of a notebook shows what its author changed, and nothing else."""
    source, path = tmp_path / "s.py", tmp_path / "03_x.ipynb"
    source.write_text(SCRIPT, encoding="utf-8")

    build.main(["write", str(source), str(path), "--run"])
    first = path.read_bytes()
    build.main(["run", str(path)])

    assert path.read_bytes() == first
    text = first.decode("utf-8")
    assert "bar 中文" in text
    assert '"ZeroDivisionError: division by zero"' in text
    assert "model_id" not in text  # of a widget: random
    assert str(tmp_path) not in text
    assert b"\r" not in first
