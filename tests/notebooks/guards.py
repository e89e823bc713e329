"""What every notebook of the series keeps to, checked on the file alone, without a kernel.

    notebook ──guard──▶ faults, one sentence each; none if all is well

A guard is a function from a notebook to its faults. `GUARDS` lists those for all
notebooks, `LESSON_GUARDS` those for the lessons, which are all but the first notebook.

Read after: build.py.     Read next: ../test_notebooks.py.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from tests.notebooks.build import KERNEL, nbformat

MAX_CODE_CELLS = 20
MAX_WORDS = 1_200  # of prose: eight minutes of reading
MAX_CELL_LINES = 25
MAX_BYTES = 200_000
MAX_DIAGRAM = (12, 72)  # lines, columns
HEADER = ("time", "you need", "you build", "it becomes")
BANNED = re.compile(r"\b(?:simply|just|easy|easily|powerful|obviously)\b", re.IGNORECASE)
EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u26ff\u2705\u2728\u274c\u2b50]")
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)[^)]*\)")
NUMBER = re.compile(r"(?<![\w.])\d[\d,_]*(?:\.\d+)?(?![\w])")
NOTEBOOK_NUMBER = re.compile(r"\b0\d\b|\b[Nn]otebooks? \d+(?:, \d+)*(?: and \d+)?")
MAP = re.compile(r"^\| (?:notebook|route) \|.*\n(?:\|.*\n?)+", re.MULTILINE)  # of the series
PLACE = re.compile(r"/tmp/|/home/|/Users/|/root/|[A-Z]:\\|site-packages")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A notebook and where it lies.

    Attributes:
        path: Its file; the folder is where its links start.
        notebook: As nbformat reads it.
    """

    path: Path
    notebook: Any

    @classmethod
    def read(cls, path: Path) -> Lesson:
        return cls(path, nbformat.read(path, as_version=4))

    @property
    def number(self) -> str:
        """Return "03" for 03_watching_the_window_fill.ipynb."""
        return self.path.name.split("_")[0]

    def code(self) -> list[Any]:
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    def texts(self) -> list[str]:
        return [cell.source for cell in self.notebook.cells if cell.cell_type == "markdown"]

    def prose(self) -> str:
        """Return the text without code: no fenced blocks, no code spans, no link targets."""
        text = re.sub(r"```.*?```", "", "\n\n".join(self.texts()), flags=re.DOTALL)
        text = re.sub(r"`[^`]*`", "", text)
        return LINK.sub(lambda link: link.group().split("](")[0], text)

    def tree(self) -> ast.Module:
        """Return all code as one module; magics and top-level await are understood."""
        transform = TransformerManager().transform_cell
        source = "\n".join(transform(cell.source) for cell in self.code())
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        return compile(source, self.path.name, "exec", flags)  # type: ignore[return-value]


def tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", []))


def shown(cell: Any) -> Iterator[str]:
    """Yield what the outputs of a cell say, as text."""
    for output in cell.get("outputs", []):
        yield output.get("text", "")
        yield output.get("evalue", "")
        for data in output.get("data", {}).values():
            yield data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def is_valid(lesson: Lesson) -> Iterator[str]:
    try:
        nbformat.validate(lesson.notebook)
    except nbformat.ValidationError as error:
        yield f"nbformat refuses it: {error.message}"
    wanted = [f"{lesson.number}-{place:03}" for place in range(len(lesson.notebook.cells))]
    if [cell.get("id") for cell in lesson.notebook.cells] != wanted:
        yield "its cell ids do not count from -000: write it with build.py"


def is_of_no_machine(lesson: Lesson) -> Iterator[str]:
    if lesson.notebook.metadata.get("kernelspec") != KERNEL:
        yield "its kernel is not python3"
    if extra := set(lesson.notebook.metadata) - {"kernelspec", "language_info"}:
        yield f"its metadata holds {sorted(extra)}"
    for cell in lesson.code():
        for text in shown(cell):
            if place := PLACE.search(text):
                yield f"{cell.id} shows a place of one machine: {place.group()}"


def was_run_in_order(lesson: Lesson) -> Iterator[str]:
    ran = [cell for cell in lesson.code() if cell.source.strip() and "nbval-skip" not in tags(cell)]
    counts = [cell.execution_count for cell in ran]
    if counts != list(range(1, len(ran) + 1)):
        yield f"its cells were not run once from top to bottom: {counts}"


def shows_no_error_by_accident(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code():
        for output in cell.outputs:
            if output.output_type == "error" and "raises-exception" not in tags(cell):
                yield f"{cell.id} shows {output.ename} and is not tagged raises-exception"
            if output.get("name") == "stderr":
                yield f"{cell.id} writes to standard error: {output.text[:60]}"


def is_small(lesson: Lesson) -> Iterator[str]:
    size = len(nbformat.writes(lesson.notebook).encode("utf-8"))
    if size > MAX_BYTES:
        yield f"it has {size} bytes, over {MAX_BYTES}"
    if len(lesson.code()) > MAX_CODE_CELLS:
        yield f"it has {len(lesson.code())} code cells, over {MAX_CODE_CELLS}"
    words = len(lesson.prose().split())
    if words > MAX_WORDS:
        yield f"it has {words} words, over {MAX_WORDS}"
    for cell in lesson.code():
        lines = len(cell.source.splitlines())
        if lines > MAX_CELL_LINES:
            yield f"{cell.id} has {lines} lines, over {MAX_CELL_LINES}"


def begins_as_all_do(lesson: Lesson) -> Iterator[str]:
    texts = [cell.source for cell in lesson.notebook.cells[:2] if cell.cell_type == "markdown"]
    if not texts or not texts[0].startswith("# "):
        yield "its first cell is no title"
    rows = [line.lower() for text in texts for line in text.splitlines() if line.startswith("|")]
    if not rows or not all(word in rows[0] for word in HEADER):
        yield f"it has no header table: {' | '.join(HEADER)}"


def reads_plainly(lesson: Lesson) -> Iterator[str]:
    prose = lesson.prose()
    for match in BANNED.finditer(prose):
        yield f"its prose says {match.group()!r}"
    if "!" in prose.replace("![", "["):
        yield "its prose has an exclamation mark"
    if match := EMOJI.search(prose):
        yield f"its prose has an emoji: {match.group()}"


def draws_in_text(lesson: Lesson) -> Iterator[str]:
    text = "\n\n".join(lesson.texts())
    for match in LINK.finditer(text):
        if match[1]:
            yield f"it links an image: {match[2]}"
    for block in re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        lines = block.splitlines()
        size = (len(lines), max(map(len, lines), default=0))
        if size[0] > MAX_DIAGRAM[0] or size[1] > MAX_DIAGRAM[1]:
            yield f"a block of text has {size[0]} lines of up to {size[1]}: {lines[0][:40]}"


def links_lead_somewhere(lesson: Lesson) -> Iterator[str]:
    """A working copy holds the series alone, so a link may not leave the folder."""
    for match in LINK.finditer("\n\n".join(lesson.texts())):
        target = match[2].split("#")[0]
        if target.startswith(("https://", "http://", "attachment:")) or not target:
            continue
        if target.startswith("..") or not (lesson.path.parent / target).exists():
            yield f"its link leads nowhere in the series: {match[2]}"


def numbers_are_seen(lesson: Lesson) -> Iterator[str]:
    """A number of two or more digits in the prose is one that a cell or an output shows.

    The header table and the map of the series name minutes, which no cell can show.
    """
    cells = "\n".join(text for cell in lesson.code() for text in (cell.source, *shown(cell)))
    seen = {_number(match.group()) for match in re.finditer(r"\d[\d,_]*(?:\.\d+)?", cells)}
    prose = re.sub(r"^\|.*$", "", lesson.prose().split("\n## ")[0], flags=re.MULTILINE)
    prose += "\n## ".join(["", *lesson.prose().split("\n## ")[1:]])
    for match in NUMBER.finditer(NOTEBOOK_NUMBER.sub("", MAP.sub("", prose))):
        said = _number(match.group())
        if len(re.sub(r"\D", "", match.group())) >= 2 and not seen & {said, said / 100}:
            yield f"its prose says {match.group()}, which no cell shows"


def _number(text: str) -> float:
    return float(re.sub(r"[,_]", "", text))


def names_nothing_of_the_package(lesson: Lesson, taken: frozenset[str]) -> Iterator[str]:
    for name in sorted(defined(lesson) & taken):
        yield f"it defines {name}, which the package has"


def defined(lesson: Lesson) -> set[str]:
    """Return the functions and classes that a notebook defines at the top of a cell."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in lesson.tree().body if isinstance(node, kinds)}


def checks_both(lesson: Lesson) -> Iterator[str]:
    """The same checks run on what the reader built and on the package's version."""
    calls = [node for node in ast.walk(lesson.tree()) if isinstance(node, ast.Call)]
    named = [(ast.unparse(call.func), call) for call in calls]
    checked = {
        ast.unparse(call.args[0])
        for name, call in named
        if name.split(".")[-1] in ("run_checks", "run_checks_async") and call.args
    }
    if len(checked) < 2:
        yield f"it runs checks on {sorted(checked) or 'nothing'}, not on yours and the package's"
    if not any(name.split(".")[-1] == "show_source" for name, _ in named):
        yield "it never shows the package's source"


def has_exercises(lesson: Lesson) -> Iterator[str]:
    headings = re.findall(r"^#+ (.*)$", "\n".join(lesson.texts()), re.MULTILINE)
    if not any("exercise" in heading.lower() for heading in headings):
        yield "it has no section with exercises"
    if "NotImplementedError" not in "\n".join(cell.source for cell in lesson.code()):
        yield "no exercise starts as `raise NotImplementedError`"
    folder = lesson.path.parent / "solutions"
    number = re.compile(rf"(?<!\d){lesson.number}(?!\d)")
    if not any(number.search(path.stem) for path in folder.glob("*.py")):
        yield f"solutions/ has nothing for {lesson.number}"


Guard = Callable[[Lesson], Iterator[str]]
GUARDS: list[Guard] = [
    is_valid,
    is_of_no_machine,
    was_run_in_order,
    shows_no_error_by_accident,
    is_small,
    begins_as_all_do,
    reads_plainly,
    draws_in_text,
    links_lead_somewhere,
    numbers_are_seen,
]
LESSON_GUARDS: list[Guard] = [checks_both, has_exercises]
