"""Writes, runs and reads notebooks, so that nobody edits their JSON by hand.

    python tests/notebooks/build.py write SCRIPT.py notebooks/03_name.ipynb [--run]
    python tests/notebooks/build.py run   notebooks/03_name.ipynb …
    python tests/notebooks/build.py read  notebooks/03_name.ipynb > SCRIPT.py

    SCRIPT.py ──write──▶ cells, no outputs ──run──▶ what is committed ──read──▶ SCRIPT.py

The committed notebook is the only source. `read` turns it into a percent script to
edit, `write` turns the script back, `run` executes it from top to bottom in place and
drops what would differ from run to run or from machine to machine. A script is

    # %% [markdown]
    # # A title
    # Text, one `# ` before each line.
    # %%
    print("code")
    # %% tags=["raises-exception"]
    1 / 0

The same script gives the same bytes: cell ids count (`03-007`), keys are sorted.

Read next: plugin.py beside this file, which compares a committed notebook with a run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # else 2.5 s a start

import nbformat

MARK = re.compile(r"^# %%(?P<markdown> \[markdown\])?(?: tags=(?P<tags>\[.*\]))? *$")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"  # names a model that is gone
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
CELL_TIMEOUT_S = 120


def cells_of(script: str) -> list[tuple[str, list[str], str]]:
    """Return one `(type, tags, source)` a cell of a percent script.

    Raises:
        ValueError: There is text before the first `# %%`, or a line that begins with
            `# %%` but is no marker this tool knows.
    """
    cells: list[tuple[str, list[str], list[str]]] = []
    for number, line in enumerate(script.splitlines(), 1):
        if line.startswith("# %%"):
            mark = MARK.match(line)
            if mark is None:
                raise ValueError(f'line {number}: not `# %%` [markdown] tags=["…"]: {line}')
            kind = "markdown" if mark["markdown"] else "code"
            cells.append((kind, json.loads(mark["tags"] or "[]"), []))
        elif cells:
            cells[-1][2].append(line)
        elif line.strip():
            raise ValueError(f"line {number}: text before the first `# %%`: {line}")
    return [(kind, tags, _source(kind, lines)) for kind, tags, lines in cells]


def _source(kind: str, lines: list[str]) -> str:
    if kind == "markdown":
        lines = [re.sub(r"^# ?", "", line) for line in lines]
    return "\n".join(lines).strip("\n")


def script_of(notebook: Any) -> str:
    """Return the percent script of a notebook; `cells_of` takes it back."""
    blocks = []
    for cell in notebook.cells:
        head = "# %% [markdown]" if cell.cell_type == "markdown" else "# %%"
        if cell.metadata.get("tags"):
            head += f" tags={json.dumps(cell.metadata.tags)}"
        lines = cell.source.splitlines()
        if cell.cell_type == "markdown":
            lines = [f"# {line}".rstrip() for line in lines]
        blocks.append("\n".join([head, *lines]))
    return "\n\n".join(blocks) + "\n"


def notebook_of(script: str, *, name: str) -> Any:
    """Return a notebook without outputs.

    Args:
        script: In percent format.
        name: The notebook's file name; cell ids begin with its number.
    """
    prefix = re.split(r"[_.]", name)[0]
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
    for position, (kind, tags, source) in enumerate(cells_of(script)):
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        cell = make(source, id=f"{prefix}-{position:03}")
        if tags:
            cell.metadata.tags = tags
        notebook.cells.append(cell)
    return notebook


def execute(notebook: Any, *, folder: Path) -> None:
    """Run the cells from top to bottom in this interpreter, with `folder` as the current one."""
    from nbclient import NotebookClient

    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # else a kernel from the home folder may win
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # a kernel sends what is printed in parts, as time will have it
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()


def quieten(notebook: Any) -> None:
    """Drop what differs from run to run or from machine to machine, in place."""
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    )
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)
            if output.output_type == "error":  # frames name files of this machine
                output.traceback = [f"{output.ename}: {output.evalue}"]


def save(notebook: Any, path: Path) -> None:
    """Write a valid notebook as UTF-8 with sorted keys and the same line ends everywhere."""
    nbformat.validate(notebook)
    text = nbformat.writes(notebook)
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")


def run(path: Path) -> None:
    """Execute a notebook in place and save it the way it is committed."""
    notebook = nbformat.read(path, as_version=4)
    execute(notebook, folder=path.parent)
    quieten(notebook)
    save(notebook, path)
    counted = sum(cell.cell_type == "code" for cell in notebook.cells)
    print(f"{path}: {counted} code cells run, {path.stat().st_size / 1000:.0f} kB")


def main(argv: list[str] | None = None) -> None:
    """Do what the command line asks."""
    parser = argparse.ArgumentParser(prog="build.py", description="Write, run and read notebooks.")
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", help="percent script → notebook without outputs")
    write.add_argument("script", type=Path)
    write.add_argument("notebook", type=Path)
    write.add_argument("--run", action="store_true", help="run it at once")
    runner = commands.add_parser("run", help="execute in place, as it is committed")
    runner.add_argument("notebooks", type=Path, nargs="+")
    reader = commands.add_parser("read", help="notebook → percent script on standard output")
    reader.add_argument("notebook", type=Path)
    options = parser.parse_args(argv)

    if options.command == "write":
        script = options.script.read_text(encoding="utf-8")
        save(notebook_of(script, name=options.notebook.name), options.notebook)
        if options.run:
            run(options.notebook)
    elif options.command == "run":
        for path in options.notebooks:
            run(path)
    else:
        script = script_of(nbformat.read(options.notebook, as_version=4))
        sys.stdout.buffer.write(script.encode("utf-8"))


if __name__ == "__main__":
    main()
