"""Two processes on one note file, and processes that die while they write.

That a killed writer loses nothing is a function that takes the name of a `JsonFile`: it
holds for ours, and catches the broken twin.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from servers._json_file import StoreError
from servers._note_store import NoteStore

ROOT = Path(__file__).parents[2]
WRITER = Path(__file__).with_name("writer.py")
OURS = "servers._json_file:JsonFile"
LIMIT_S = 120


def start_writer(file: Path, name: str, count: int, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(file), name, str(count), *options]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def titles(file: Path) -> set[str]:
    return {note.title for note in NoteStore(file).notes()}


def a_dead_writer_loses_nothing(folder: Path, json_file: str) -> int:
    """Whatever call a writer dies at, in its first note or its second, what it said it saved
    is there, and nobody has to put a file right. Returns how many writers died."""
    died = 0
    for step in range(1, 20):
        file = folder / str(step) / "notes.json"
        writer = start_writer(file, "note", 2, "--json-file", json_file, "--die-at", str(step))
        out, err = writer.communicate(timeout=LIMIT_S)
        assert "Error" not in err, err
        died += writer.returncode != 0
        assert set(out.splitlines()) <= titles(file), f"lost at step {step}"
    return died


def test_100_notes_by_two_processes_at_once_are_100_notes(notes_file: Path) -> None:
    writers = [start_writer(notes_file, name, 50) for name in "AB"]
    said = [writer.communicate(timeout=LIMIT_S) for writer in writers]

    assert [writer.returncode for writer in writers] == [0, 0], said
    assert len({note.id for note in NoteStore(notes_file).notes()}) == 100
    assert titles(notes_file) == {f"{name} {i}" for name in "AB" for i in range(50)}


def test_a_dead_writer_loses_nothing_and_leaves_no_litter(tmp_path: Path) -> None:
    """By hand: a write makes some nine of the calls counted, so nearly every step kills."""
    assert a_dead_writer_loses_nothing(tmp_path, OURS) >= 15

    for folder in tmp_path.iterdir():
        NoteStore(folder / "notes.json").write("last", "one")
        assert sorted(path.name for path in folder.iterdir()) == [
            "notes.json",
            "notes.json.bak",
            "notes.json.lock",
        ]


def test_a_writer_that_dies_in_place_is_caught(tmp_path: Path) -> None:
    with pytest.raises((AssertionError, StoreError)):
        a_dead_writer_loses_nothing(tmp_path, "tests.broken.notes_in_place:InPlace")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_is_an_error_and_keeps_what_is_there(notes_file: Path) -> None:
    """The system itself refuses: a process may write no file beyond 2,000 bytes."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "from pathlib import Path; from servers._note_store import NoteStore\n"
        f"store = NoteStore(Path({str(notes_file)!r}))\n"
        "store.write('kept', 'a' * 500)\n"
        "try: store.write('too much', 'b' * 3000)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
        "assert not list(store.path.parent.glob('*.tmp'))\n"
        "store.write('goes on', 'c')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("StoreError")
    assert "nothing was saved" in done.stdout
    assert "Free some space" in done.stdout
    assert titles(notes_file) == {"kept", "goes on"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs a disk of its own")
def test_a_disk_that_is_really_full_is_an_error_too(notes_file: Path) -> None:
    """A memory disk of 64 KiB in a name space of its own; the copy of the notes is on it too."""
    script = (
        "from pathlib import Path; from servers._note_store import NoteStore\n"
        f"store = NoteStore(Path({str(notes_file)!r})); kept = 0\n"
        "try:\n"
        "    for kept in range(100): store.write(f'note {kept}', 'x' * 4000)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
        "assert not list(store.path.parent.glob('*.tmp'))\n"
        "assert {n.title for n in store.notes()} == {f'note {i}' for i in range(kept)}\n"
        "store.delete('note 0'); print('kept', len(store.notes()), 'of', kept)\n"
    )
    shell = 'mount -t tmpfs -o size=64k none "$1" && exec "$2" -c "$3"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", shell, "sh"]
    try:
        done = subprocess.run(
            [*command, str(notes_file.parent), sys.executable, script],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_S,
        )
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        pytest.skip("this machine allows no disk of one's own")

    assert done.returncode == 0, done.stderr
    refusal, rest = done.stdout.splitlines()
    assert refusal.startswith("StoreError")
    assert "No space left on device. Free some space" in refusal
    assert int(rest.split()[1]) == int(rest.split()[3]) - 1 >= 2
