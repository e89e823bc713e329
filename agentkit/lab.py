"""Opens the series in JupyterLab, in a copy that belongs to the learner.

    notebooks/ ──update──▶ my_notebooks/ ──▶ JupyterLab ──▶ 00_start_here.ipynb

In a checkout the copy lies in `my_notebooks/`, which version control ignores; where
the kit was installed as a package it lies in the user's documents. The kit's Jupyter
settings come in through the environment, so the user's own stay as they are and win.

Read after: working_copy.py, cli.py.     Read next: demo.py.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from pathlib import Path

from agentkit import working_copy
from agentkit.checkout import ROOT, is_checkout, run
from agentkit.errors import AgentkitError, SetupError

FIRST = "00_start_here.ipynb"
SETTINGS = Path(__file__).parent / "data" / "jupyter"
# What widgets show is saved with a learner's notebook, so that its pictures are there when it is
# opened again; in the kit's own it would be a change at every run.
COPY_SETTINGS = Path(__file__).parent / "data" / "jupyter_copy"
MOST_PORTS = 50  # to look at, as JupyterLab does
MAX_PORT = 65_535


def open_lab(
    *,
    folder: Path | None = None,
    originals: bool = False,
    browser: bool = True,
    demo: bool = True,
    port: int | None = None,
    rest: list[str] | None = None,
) -> int:
    """Open the notebooks and return JupyterLab's exit status when it is shut down.

    Args:
        folder: Where the working copy lies, instead of the usual place.
        originals: Open the kit's own notebooks, for authors.
        browser: Open a browser; otherwise the address is only printed.
        demo: Run one conversation in the terminal when the copy has just been made.
        port: The port to ask for; if it is in use, the next free one is taken and named.
        rest: Further arguments for JupyterLab.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise SetupError(
            "JupyterLab is not installed in this environment.",
            hint=f"{sys.executable} -m pip install jupyterlab",
        )
    place = originals_folder()
    if not originals:
        place = (folder or copy_folder()).resolve()
        first_time = not (place / working_copy.MANIFEST).exists()
        _report(working_copy.update(originals_folder(), place), place)
        if first_time and demo:
            _show_one_turn()
    port = free_port(port) if port else None
    print(f"agentkit: opening {place} in JupyterLab; Ctrl-C here ends it.", flush=True)
    command = lab_command(place, browser=browser, port=port) + (rest or [])
    return run(command, env=lab_environment(originals=originals))


def free_port(wanted: int) -> int:
    """Return a port that nobody listens on, from `wanted` upwards; say so if it is another.

    Raises:
        SetupError: They are all in use.
    """
    for port in range(wanted, min(wanted + MOST_PORTS, MAX_PORT + 1)):
        if _is_free(port):
            if port != wanted:
                print(f"agentkit: port {wanted} is in use; JupyterLab takes {port}.")
            return port
    raise SetupError(
        f"Port {wanted} and those after it are in use.",
        hint="Name another one: agentkit lab --port 9000",
    )


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def reset_notebooks(names: list[str], *, every: bool = False, folder: Path | None = None) -> int:
    """Restore notebooks of the working copy and return 0.

    Args:
        names: Numbers ("03", "3") or file names, with or without ".ipynb".
        every: Restore all of them.
        folder: Where the working copy lies, instead of the usual place.

    Raises:
        SetupError: A name fits no notebook; nothing was restored then.
    """
    source = originals_folder()
    all_of_them = [name for name in working_copy.files_of(source) if "/" not in name]
    chosen = all_of_them if every else [_find(name, all_of_them) for name in names]
    if not chosen:
        raise SetupError(
            "No notebook was named.", hint="agentkit reset 03, or agentkit reset --all"
        )
    place = (folder or copy_folder()).resolve()
    working_copy.update(source, place)
    for name in chosen:
        kept = working_copy.restore(source, place, name)
        print(f"{name}: restored" + (f"; yours is now {kept}" if kept else ""))
    return 0


def originals_folder() -> Path:
    """Return where the kit's own notebooks lie: in the checkout or in the package."""
    return ROOT / "notebooks" if is_checkout() else Path(__file__).parent / "_notebooks"


def copy_folder() -> Path:
    """Return where the working copy lies unless somebody names another place."""
    if is_checkout():
        return ROOT / "my_notebooks"
    import platformdirs

    return platformdirs.user_documents_path() / "agentkit_notebooks"


def lab_command(place: Path, *, browser: bool, port: int | None) -> list[str]:
    """Return the command that starts JupyterLab on a folder with this very Python."""
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={place}"]
    command += [f"--LabApp.default_url=/lab/tree/{FIRST}", "--ServerApp.log_level=WARN"]
    command += ["--KernelManager.transport_encryption=auto"] if _can_encrypt() else []
    command += [] if browser else ["--no-browser"]
    command += [f"--port={port}"] if port else []
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # as in a container, where there is nobody else
    return command


def _can_encrypt() -> bool:
    """Return whether the wire to a kernel can be encrypted; if it is not, each kernel warns."""
    try:
        import zmq
    except ImportError:
        return False
    return bool(zmq.has("curve"))


def lab_environment(*, originals: bool = False) -> dict[str, str]:
    """Return the variables JupyterLab starts with: the kit's defaults, this Python's kernel."""
    ours = [str(SETTINGS)] if originals else [str(COPY_SETTINGS), str(SETTINGS)]
    paths = [*ours, *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    return {
        **os.environ,
        "JUPYTER_CONFIG_PATH": os.pathsep.join(paths),
        "JUPYTER_PREFER_ENV_PATH": "1",  # a kernel in the home folder may be another Python's
    }


def _find(name: str, names: list[str]) -> str:
    wanted = name.removesuffix(".ipynb")
    wanted = f"{int(wanted):02}" if wanted.isdecimal() else wanted
    for known in names:
        if wanted in (known.removesuffix(".ipynb"), known.split("_")[0]):
            return known
    raise SetupError(f"There is no notebook {name!r}.", hint=f"One of: {', '.join(names)}")


def _report(done: working_copy.Update, place: Path) -> None:
    if done.copied:
        print(f"agentkit: {len(done.copied)} files copied to {place}; they are yours to change.")
    for name in done.refreshed:
        print(f"agentkit: {name} is new in the kit; you had changed nothing in it, so here it is.")
    for name in done.beside:
        print(f"agentkit: {name} is the earlier one, with the tags or pictures that you set.")
    if done.emptied:
        print(
            f"agentkit: {len(done.emptied)} notebooks that you had not saved are without outputs "
            "now, so that you can predict them."
        )
    for name in done.kept:
        number = name.split("_")[0]
        print(
            f"agentkit: {name} is new in the kit, and you changed yours: yours stays. "
            f"`agentkit reset {number}` brings the new one and keeps yours beside it."
        )


def _show_one_turn() -> None:
    """Run the demo; whatever happens to it, the notebooks open."""
    try:
        from agentkit.demo import run_demo

        status = run_demo()
    except (AgentkitError, ImportError) as error:
        print(f"agentkit: {error}", file=sys.stderr)
        status = 1
    if status != 0:
        print(
            "agentkit: the demo did not work here. The notebooks open all the same; "
            "`agentkit doctor` looks for the cause.",
            file=sys.stderr,
        )
