"""Statements whose time is spent where SQLite does not look at the clock."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers._apart import TablesApart
from servers._business import build_business
from servers._sql import MAX_SQL_CHARS, SqlError

ROOT = Path(__file__).parents[2]
LIMIT_S = 60
MILLION = (
    "replace(replace(replace(replace(replace('aaaaaaaaa','a','aaaaaaaaaa'),'a','aaaaaaaaaa'),"
    "'a','aaaaaaaaaa'),'a','aaaaaaaaaa'),'a','aaaaaaaaaa')"
)
WITH_X = f"WITH t AS MATERIALIZED (SELECT {MILLION} x) SELECT "
FINDS = "+".join(f"instr(x,substr(x,1,{400_000 + n})||'b')" for n in range(180))
REPLACES = "+".join(f"length(replace(x,substr(x,1,{400_000 + n})||'报告',''))" for n in range(90))
NUMBERS = ",".join(map(str, range(999)))
HOSTILE = {
    "find": f"{FINDS} FROM t",
    "replace": f"{REPLACES} FROM t",
    "sort": f"1 FROM t ORDER BY {FINDS}",
    "join": f"sum(instr(x,substr(x,1,400000)||'b'||n.value)) FROM t, json_each('[{NUMBERS}]') n",
}


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[TablesApart]:
    apart = TablesApart(build_business(tmp_path / "shop.db"), time_limit_s=0.3)
    yield apart
    apart.close()


@pytest.mark.parametrize("kind", HOSTILE)
def test_time_spent_inside_functions_is_stopped_too(tables: TablesApart, kind: str) -> None:
    """By reference: with SQLite's own limit alone, each of these runs for minutes."""
    sql = WITH_X + HOSTILE[kind]
    assert len(sql) <= MAX_SQL_CHARS

    with pytest.raises(SqlError, match=r"Stopped after 1\.3 s inside one function"):
        tables.find(sql, limit=5)

    assert tables.find("SELECT 1", limit=5).rows == ((1,),)


def test_a_call_answers_and_fails_as_it_does_in_one_process(tables: TablesApart) -> None:
    assert len(tables.tables()) == 20
    assert tables.describe("customers").name == "customers"
    assert tables.find("SELECT '报告'", limit=5).rows == (("报告",),)
    with pytest.raises(SqlError, match=r"There is no table 'custmers'\. Near it: customers"):
        tables.describe("custmers")
    with pytest.raises(SqlError, match="json_valid"):
        tables.find("SELECT * FROM json_each('[1,')", limit=5)


def test_calls_at_the_same_time_do_not_wait_for_one_another(tables: TablesApart) -> None:
    answers: list[object] = []

    def stuck() -> None:
        with pytest.raises(SqlError):
            tables.find(WITH_X + HOSTILE["find"], limit=5)
        answers.append("stuck")

    threads = [threading.Thread(target=stuck) for _ in range(2)]
    for thread in threads:
        thread.start()
    answers += tables.find("SELECT 1", limit=5).rows
    for thread in threads:
        thread.join()

    assert answers == [(1,), "stuck", "stuck"]


def test_a_process_that_was_ended_is_replaced(tables: TablesApart) -> None:
    tables.tables()
    (child,) = tables._idle
    child.kill()
    child.wait()

    assert len(tables.tables()) == 20
    assert tables._idle != [child]


def test_where_the_next_one_ends_too_it_is_said(tables: TablesApart) -> None:
    """By design: one more attempt, not one after the other."""
    started: list[subprocess.Popen[bytes]] = []

    def ended() -> subprocess.Popen[bytes]:
        started.append(TablesApart._started(tables))
        started[-1].kill()
        started[-1].wait()
        return started[-1]

    tables._idle.append(ended())
    tables._started = ended  # type: ignore[method-assign]

    with pytest.raises(SqlError, match=r"ended\. Send the statement again"):
        tables.tables()

    assert len(started) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be stopped there")
def test_a_process_that_was_stopped_holds_no_call_for_ever(tables: TablesApart) -> None:
    tables.tables()
    (child,) = tables._idle
    os.kill(child.pid, signal.SIGSTOP)

    with pytest.raises(SqlError, match=r"did not answer for 2\.6 s and was ended"):
        tables.tables()

    assert child.poll() is not None
    assert tables.find("SELECT 1", limit=5).rows == ((1,),)


@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT '报告' || hex(zeroblob(400000))"])
def test_a_process_whose_server_is_gone_ends_without_a_word(tmp_path: Path, sql: str) -> None:
    child = TablesApart(build_business(tmp_path / "shop.db"))._started(errors=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.close()
    question = pickle.dumps(("find", (sql,), {"limit": 5}))

    _, said = child.communicate(question, timeout=LIMIT_S)

    assert (child.returncode, said) == (0, b"")


def test_no_process_outlives_its_server(tmp_path: Path) -> None:
    """By design: the run below ends when the last process that holds its error stream does."""
    file = build_business(tmp_path / "shop.db")
    program = (
        "import os, sys; from pathlib import Path; from servers._apart import TablesApart; "
        "print(len(TablesApart(Path(sys.argv[1])).tables()), flush=True); os._exit(9)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(file)],
        capture_output=True,
        cwd=ROOT,
        timeout=LIMIT_S,
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (9, b"20", b"")


def test_closing_ends_the_process(tables: TablesApart) -> None:
    tables.tables()
    (child,) = tables._idle

    tables.close()

    assert child.poll() is not None
