"""Reads a database in a process apart, which can be ended in the middle of a statement.

    Tables ◀── pipe ── child process: Tables, and a clock that ends it
       │                   │
       │  rows, SqlError   │  time spent inside one function: SQLite does not look at the clock
       ◀───────────────────┘  there, so the child ends itself, and the next call gets a new one

SQLite asks whether there is time left between the steps of a statement, but one call of
`instr` on two long texts may take seconds, and a statement has room for hundreds. A list of
slow functions would always lack one; a process can be ended whatever it does.

The child runs this file, and imports nothing but the standard library: it starts in about
50 ms, with the first call. It ends with the pipe, so none outlives its server. One that was
ended while it waited is replaced without a word, and one that does not move, e.g. because
it was stopped, is ended from here.

Read after: _tables.py.     Read next: database.py.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

if __name__ == "__main__":  # the child: look for `servers` beside this file's folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from servers._sql import TIME_LIMIT_S, SqlError
from servers._tables import Found, Table, Tables

MOST_CHILDREN = 4  # statements at the same time; each may take MAX_HEAP_BYTES
TIME_IS_UP = 75  # exit status of a child that ended itself over a statement
LEAST_GRACE_S = 1.0  # beyond the limit, for a statement that SQLite itself is stopping
READINGS = {"tables": 1, "find": 1, "describe": 2}  # how often a call opens the file


def killed_after_s(call: str, time_limit_s: float) -> float:
    """Return after how long a call is ended from outside: about twice its limit."""
    return READINGS[call] * time_limit_s + max(LEAST_GRACE_S, time_limit_s)


def waited_for_s(call: str, time_limit_s: float) -> float:
    """Return after how long a child that has not even ended itself is killed."""
    return 2 * killed_after_s(call, time_limit_s)


class TablesApart:
    """As `Tables`, with every call in a process that ends when its time is up.

    Safe to use from several threads. `close` ends the processes that wait for work; a call
    after it starts another.
    """

    def __init__(self, path: Path, *, time_limit_s: float = TIME_LIMIT_S) -> None:
        self.path = path
        self._time_limit_s = time_limit_s
        self._idle: list[subprocess.Popen[bytes]] = []
        self._room = threading.BoundedSemaphore(MOST_CHILDREN)

    def tables(self) -> list[tuple[str, str]]:
        """Return the name of each table and view, and one line about it, by name."""
        found: list[tuple[str, str]] = self._ask("tables")
        return found

    def describe(self, name: str) -> Table:
        """Return what one table holds."""
        found: Table = self._ask("describe", name)
        return found

    def find(self, sql: str, *, limit: int) -> Found:
        """Return the first rows of one reading statement."""
        found: Found = self._ask("find", sql, limit=limit)
        return found

    def close(self) -> None:
        """End the processes that wait for work."""
        while self._idle:
            _end(self._idle.pop())

    def _ask(self, call: str, *arguments: str, **options: int) -> Any:
        with self._room:
            answer = None
            if self._idle:  # it may have been ended since; then another is asked
                answer = self._answer(self._idle.pop(), call, arguments, options, last=False)
            if answer is None:
                answer = self._answer(self._started(), call, arguments, options, last=True)
        if isinstance(answer, SqlError):
            raise answer
        return answer

    def _answer(
        self,
        child: subprocess.Popen[bytes],
        call: str,
        arguments: tuple[str, ...],
        options: dict[str, int],
        *,
        last: bool,
    ) -> Any:
        """Return what a child answers, or None if it was ended and is not the last to be asked."""
        clock = _Clock(child, waited_for_s(call, self._time_limit_s))
        try:
            answer = _exchange(child, (call, arguments, options))
        except BaseException:
            _end(child)
            raise
        finally:
            clock.cancel()
        if answer is not None:
            self._idle.append(child)
            return answer
        status = child.wait()
        _end(child)
        if clock.is_up or status == TIME_IS_UP or last:
            raise SqlError(self._why_ended(status, call, clock))
        return None

    def _why_ended(self, status: int, call: str, clock: _Clock) -> str:
        """Say in words what a child died of."""
        if clock.is_up:
            return (
                f"The process that reads the file did not answer for {clock.interval:g} s and was "
                "ended. Send the statement again."
            )
        if status != TIME_IS_UP:
            return "The process that reads the file ended. Send the statement again."
        seconds = killed_after_s(call, self._time_limit_s)
        return (
            f"Stopped after {seconds:g} s inside one function. Give it shorter texts: substr(), or "
            "WHERE and LIMIT before it."
        )

    def _started(self, *, errors: int | None = None) -> subprocess.Popen[bytes]:
        """Start a child; its errors go where those of the server go, or to a pipe."""
        try:
            return subprocess.Popen(
                [sys.executable, __file__, str(self.path), str(self._time_limit_s)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise SqlError(f"No process can be started: {error}. Tell the user.") from error


class _Clock(threading.Timer):
    """Kills a child when its time is up."""

    def __init__(self, child: subprocess.Popen[bytes], seconds: float) -> None:
        super().__init__(seconds, self._kill)
        self._child = child
        self.is_up = False
        self.daemon = True
        self.start()

    def _kill(self) -> None:
        self.is_up = True
        self._child.kill()


def _exchange(child: subprocess.Popen[bytes], question: Any) -> Any:
    """Return the answer of a child; None when it ended over the question."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        pickle.dump(question, child.stdin)
        child.stdin.flush()
        return pickle.load(child.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):  # what is left in it has no reader
            if pipe is not None:
                pipe.close()
    child.wait()


def _serve(path: Path, time_limit_s: float, questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer one question after the other until the pipe ends, in the child."""
    tables = Tables(path, time_limit_s=time_limit_s)
    while True:
        try:
            call, arguments, options = pickle.load(questions)
        except (OSError, EOFError, pickle.UnpicklingError):
            return
        clock = threading.Timer(killed_after_s(call, time_limit_s), os._exit, [TIME_IS_UP])
        clock.daemon = True
        clock.start()
        try:
            answer = getattr(tables, call)(*arguments, **options)
        except SqlError as error:
            answer = SqlError(str(error))  # without the causes, which may not cross a pipe
        clock.cancel()
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except OSError:  # the server was ended over the statement
            return


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then hangs up
    _serve(Path(sys.argv[1]), float(sys.argv[2]), sys.stdin.buffer, sys.stdout.buffer)
    os._exit(0)  # what nobody reads any more is not flushed, which would complain
