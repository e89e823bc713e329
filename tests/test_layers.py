"""Imports point one way. The list is the map of the package, and the order to read it in."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = """
errors
text sentences clock checkout patterns files slow_patterns
messages vocabulary shrink rules_file trace_file
events redaction wire tokens
trace value
window tools goal
summary
compress
recorded
context guard snapshot transcript
slim models host
flags value_model
monitor
memory
loop past
session replay
viz score checks nb
report
demo_lines
demo
working_copy setup_env
lab runtests
doctor
cli
bootstrap
__main__
"""  # a row imports from the rows above it; a package's own modules are one name
RANK = {name: row for row, line in enumerate(LAYERS.split("\n")) for name in line.split()}
FOR_PEOPLE = {"viz", "checks", "nb"}  # imported by notebooks, tests and the command line alone
COMMAND_LINE = {"demo", "lab", "doctor", "cli"}
SERVER_PARTS = {"anyio", "filelock", "mcp", "platformdirs", "pydantic", "starlette", "uvicorn"}
HEAVY = ("IPython", "faiss", "ipykernel", "ipywidgets", "jsonschema", "jupyter_client")
HEAVY += ("jupyterlab", "mcp", "numpy", "openai", "plotly", "tiktoken", "traitlets")


def imports(path: Path, source: str | None = None) -> Iterator[str]:
    """Yield dotted names that a file imports anywhere, `from a import b` as "a.b"."""
    for node in ast.walk(ast.parse(source or path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative imports hide the layer"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def name_of(path: Path) -> str:
    """Return a file's name in LAYERS, e.g. "models" for agentkit/models/reader.py."""
    parts = path.relative_to(ROOT / "agentkit").with_suffix("").parts
    return parts[0]


def faults(name: str, imported: Iterator[str]) -> list[str]:
    """Return what a module may not import, and why."""
    found = []
    for dotted in imported:
        parts = dotted.split(".")
        if parts[0] == "servers":
            found.append(f"{name} imports {dotted}: the package never imports a server")
        if parts[0] != "agentkit":
            continue
        other = parts[1] if len(parts) > 1 else ""
        if other not in RANK:
            found.append(f"{name} imports {dotted}: import from the module that has it")
        elif other != name and RANK[other] >= RANK[name]:
            found.append(f"{name} imports {dotted}: {other} is no earlier layer")
        elif other in FOR_PEOPLE - {name} and name not in COMMAND_LINE | FOR_PEOPLE:
            found.append(f"{name} imports {dotted}: only the command line may")
    return found


PUBLIC_NAMES = ROOT / "agentkit" / "__init__.py"  # fetches each name from its module when asked
MODULES = sorted(path for path in (ROOT / "agentkit").rglob("*.py") if path != PUBLIC_NAMES)
SERVERS = sorted((ROOT / "servers").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_imports_only_from_earlier_layers(path: Path) -> None:
    name = name_of(path)

    assert name in RANK, f"put {name} where it belongs in LAYERS"
    assert faults(name, imports(path)) == []


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("tokens", "from agentkit.loop import run_turn", "loop is no earlier layer"),
        ("tokens", "def f():\n    from agentkit import session", "session is no earlier layer"),
        ("window", "import agentkit.tools", "tools is no earlier layer"),
        ("loop", "from agentkit import Counter", "import from the module that has it"),
        ("doctor", "from servers.notes import main", "never imports a server"),
        ("lab", "from agentkit.doctor import Finding", "doctor is no earlier layer"),
        ("runtests", "from agentkit.viz import window_bar", "only the command line may"),
    ],
)
def test_an_import_that_points_the_wrong_way_is_found(name: str, source: str, said: str) -> None:
    found = faults(name, imports(Path("broken.py"), source))

    assert len(found) == 1
    assert said in found[0]


def server_faults(path: Path, imported: Iterator[str]) -> list[str]:
    """Return what a server may not import."""
    allowed = SERVER_PARTS | sys.stdlib_module_names | {"servers"}
    allowed |= {"agentkit"} if path.stem == "memory" else set()
    return [dotted for dotted in imported if dotted.split(".")[0] not in allowed]


@pytest.mark.parametrize("path", SERVERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_server_runs_without_the_package(path: Path) -> None:
    assert server_faults(path, imports(path)) == []


@pytest.mark.parametrize("source", ["from agentkit.text import fold", "import tiktoken"])
def test_a_server_that_leans_on_the_package_is_found(source: str) -> None:
    assert server_faults(Path("notes.py"), imports(Path("notes.py"), source)) != []


def loaded_by(statement: str) -> list[str]:
    """Return which of the heavy packages a fresh interpreter has loaded after a statement."""
    program = f"{statement}\nimport sys\nprint(*[n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("statement", ["import agentkit", "import agentkit.cli"])
def test_an_import_of_the_kit_loads_nothing_heavy(statement: str) -> None:
    assert loaded_by(statement) == []


def test_a_heavy_import_is_seen() -> None:
    assert loaded_by("import agentkit.cli, traitlets") == ["traitlets"]
