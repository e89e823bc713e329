"""Takes the code that a reader builds out of a notebook, for tests of it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from tests.notebooks.guards import Lesson

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CODE = ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef


def built_in(stem: str) -> dict[str, Any]:
    """Return what a notebook imports and defines, its constants too, without running it."""
    tree = Lesson.read(NOTEBOOKS / f"{stem}.ipynb").tree()
    kept = [node for node in tree.body if isinstance(node, CODE) or _constant(node)]
    names: dict[str, Any] = {"__name__": stem}
    exec(compile(ast.Module(kept, []), stem, "exec", dont_inherit=True), names)
    return names


def _constant(node: ast.stmt) -> bool:
    """Return whether a statement sets a name in capitals."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.isupper()
    )
