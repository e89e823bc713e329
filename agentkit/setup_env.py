"""Makes the checkout's `.venv`, brings it up to date, or mends it.

    no .venv ──▶ make ──▶ install at the tested versions ──▶ stamp "ready"
                  ▲                    │
                  └── killed half way ─┘

The stamp in `.venv` holds a hash of what was asked for, so the next start is instant
and an update installs what is new. A set-up that was killed half way left the stamp
"installing" and is begun anew; one that pip itself ended is gone on with. A lock makes
a second start wait for the first. Only the standard library is used.

Read after: checkout.py.     Read next: cli.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from agentkit.checkout import ROOT, requirements
from agentkit.errors import SetupError

ENV = ROOT / ".venv"
STAMP = ENV / "agentkit-setup.json"
LOG = ENV / "agentkit-setup.log"
NETWORK_SIGNS = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|Read timed out|ProxyError"
    r"|Network is unreachable|Connection refused|name resolution|getaddrinfo|CERTIFICATE_VERIFY"
)


def ensure_environment(*, dev: bool) -> Path:
    """Return the Python of a complete `.venv`, made or brought up to date if need be.

    Raises:
        SetupError: It cannot be made; the hint says what to do.
    """
    if _is_ready(dev=dev):
        return _env_python()
    try:
        with _locked(ROOT / ".venv.lock"):
            if not _is_ready(dev=dev):  # another start may have done it meanwhile
                _set_up(dev=dev)
    except OSError as error:
        raise SetupError(
            f"The environment in {ENV} could not be made: {error}.",
            hint="The checkout must lie where you may write and where about 1 GB is free.",
        ) from error
    return _env_python()


def forget() -> None:
    """Drop the stamp, so that the next start installs what is missing."""
    STAMP.unlink(missing_ok=True)


def _env_python() -> Path:
    return ENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _wants() -> str:
    """Return a hash of everything that decides what gets installed."""
    files = [ROOT / "pyproject.toml", ROOT / ".ci" / "constraints.txt"]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return hashlib.sha256(f"{ROOT}\n{text}".encode()).hexdigest()


def _stamp() -> dict[str, object]:
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_stamp(state: str, *, dev: bool) -> None:
    stamp = {"state": state, "wants": _wants(), "dev": dev}
    STAMP.write_text(json.dumps(stamp) + "\n", encoding="utf-8")


def _is_ready(*, dev: bool) -> bool:
    stamp = _stamp()
    asked = stamp.get("state") == "ready" and stamp.get("wants") == _wants()
    return asked and (not dev or stamp.get("dev") is True) and _env_python().exists()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that the system gives back even if this process is killed."""
    with path.open("a+b") as file:
        if not _try_lock(file.fileno(), wait=False):
            _say("Another start is setting up; waiting for it.")
            while not _try_lock(file.fileno(), wait=True):
                pass
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int, *, wait: bool) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)  # the lock is on the first byte
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:  # LK_LOCK gives up after ten tries, one a second
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int, *, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True


def _set_up(*, dev: bool) -> None:
    stamp = _stamp()
    dev = dev or stamp.get("dev") is True  # never take away what was installed before
    if ENV.exists() and (stamp.get("state") == "installing" or not _starts(_env_python())):
        _say(f"The last set-up of {ENV.name} was cut short; making it anew.")
        shutil.rmtree(ENV)
    ENV.mkdir(exist_ok=True)
    _write_stamp("installing", dev=dev)
    if not _env_python().exists():
        _make()
    count = len(requirements(dev=dev))
    _say(f"Installing {count} packages and what they need; a few minutes, this once.")
    status, log = _install(_pip(), dev=dev)
    if status != 0:
        _write_stamp("failed", dev=dev)  # pip ended by itself, so what is there is whole
        raise _install_error(status, log)
    _point_in_ascii()
    _write_stamp("ready", dev=dev)
    _say("Ready.")


def _say(line: str) -> None:
    print(f"agentkit: {line}", flush=True)


def _starts(python: Path) -> bool:
    return python.exists() and _works([str(python), "-c", "import encodings"])


def _works(command: list[str]) -> bool:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def _make() -> None:
    """Make the environment; without pip where the system keeps ensurepip in another package."""
    version = ".".join(map(str, sys.version_info[:3]))
    _say(f"Making {ENV} with Python {version}.")
    made = _works([sys.executable, "-m", "venv", str(ENV)]) or _works(
        [sys.executable, "-m", "venv", "--without-pip", str(ENV)]
    )
    if not made or not _starts(_env_python()):
        raise SetupError(
            f"`{sys.executable} -m venv` could not make {ENV}.",
            hint="On Debian and Ubuntu: sudo apt install python3-venv. Elsewhere: install "
            "Python from its own installer, which has `venv`.",
        )


def _pip() -> list[str]:
    """Return the command of a pip that installs into `.venv`: its own, else this Python's."""
    own = [str(_env_python()), "-m", "pip"]
    if _works([*own, "--version"]):
        return own
    if _works([sys.executable, "-m", "pip", "--version"]):
        return [sys.executable, "-m", "pip", "--python", str(_env_python())]
    raise SetupError(
        f"Neither {ENV} nor {sys.executable} has pip.",
        hint="On Debian and Ubuntu: sudo apt install python3-venv python3-pip. Elsewhere: "
        f"{sys.executable} -m ensurepip",
    )


def _install(pip: list[str], *, dev: bool) -> tuple[int, str]:
    """Install everything at the tested versions; return pip's exit status and its output."""
    command = [*pip, "install", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar=off", "-c", str(ROOT / ".ci" / "constraints.txt"), "-e", str(ROOT)]
    command += requirements(dev=True)[len(requirements(dev=False)) :] if dev else []
    lines: list[str] = []
    seen = 0
    env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    with (
        LOG.open("w", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as child,
    ):
        assert child.stdout is not None
        for line in child.stdout:
            log.write(line)
            lines.append(line)
            if line.startswith("Collecting "):
                seen += 1
                if seen % 25 == 0:
                    _say(f"{seen} packages found …")
            elif line.startswith("Installing collected packages"):
                _say(f"Unpacking {line.count(',') + 1} packages …")
    return child.returncode, "".join(lines)


def _install_error(status: int, log: str) -> SetupError:
    """Say what went wrong with the last lines of pip, and what to do about it."""
    tail = "\n".join(f"    {line}" for line in log.strip().splitlines()[-6:])
    if NETWORK_SIGNS.search(log):
        hint = (
            "pip could not reach its package index. Connect this machine, or tell pip about your "
            "proxy (HTTPS_PROXY) or mirror (pip config set global.index-url …), and run the same "
            "command again: what was fetched is kept."
        )
    elif "No space left" in log or "Errno 28" in log:
        hint = (
            f"The disk is full: {ENV} needs about 1 GB. Make room and run the same command again."
        )
    else:
        hint = (
            f"All of pip's output is in {LOG}. If the cause is mended, run the same command again."
        )
    return SetupError(f"pip ended with status {status}. Its last lines:\n{tail}", hint=hint)


def _point_in_ascii() -> None:
    """Write the path of the checkout so that Python 3.11 and 3.12 can read it on Windows.

    pip's link is a .pth file in UTF-8. Before Python 3.13 it is read in the code page of the
    machine, which for a folder with a Chinese name can keep Python from starting at all. A line
    of ASCII code says the same.
    """
    if str(ROOT).isascii():
        return
    for link in ENV.glob("[Ll]ib/**/site-packages/_agentkit.pth"):
        link.write_text(f"import sys; sys.path.append({str(ROOT)!a})\n", encoding="ascii")
