"""Statements whose time is spent where SQLite does not look at the clock."""

from __future__ import annotations

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

    with pytest.raises(SqlError, match=r"ended\. Send the statement again"):
        tables.tables()

    assert len(tables.tables()) == 20


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
