"""What a read-only database server must do, and how servers are chosen for a task.

    build(path, time_limit_s=…) ──▶ an MCPServer for that SQLite file
        list_tables()            names, and no columns
        describe_table(table)    the columns of that one
        run_query(sql)           rows, and how many were left out

Each check builds a small shop of its own and calls the server in memory. They await, so
run them with `await run_checks_async(build, CHECKS)`.

Read after: checks/__init__.py, checks/notes.py.
Built in:   notebooks/12_many_servers.ipynb
"""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from mcp import types

from agentkit.checks import expect, expect_equal, expect_list, expect_text, foresee_each
from agentkit.checks.notes import answers_of, error_of, tools_of
from agentkit.tokens import Counter

BuildDatabase = Callable[..., Any]
MAX_DESCRIPTION = 90  # STYLE section 7
MANY = 500  # rows of the table `visits`
MOST_SHOWN = 250  # of them, for a server that caps
LIMIT_S = 0.5  # for a statement that never ends
PATIENT_S = 30.0  # for all others; they take milliseconds


@contextmanager
def shop() -> Iterator[Path]:
    """A database of three tables: orders, customers, visits."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "shop.db"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.executescript(
                "CREATE TABLE orders (order_no TEXT PRIMARY KEY, state TEXT, 备注 TEXT);"
                "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, nickname TEXT);"
                "CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, page TEXT);"
                "INSERT INTO orders VALUES ('SO-1', 'waits', '等待轴承');"
                "INSERT INTO orders VALUES ('SO-2', 'shipped', NULL);"
                "INSERT INTO customers VALUES (9007199254740993, 'Ana');"
            )
            rows = [(f"page-{n}",) for n in range(MANY)]
            connection.executemany("INSERT INTO visits (page) VALUES (?)", rows)
        yield path


def read_of(answer: types.CallToolResult) -> str:
    """Return what a model reads of an answer."""
    return "\n".join(block.text for block in answer.content if isinstance(block, types.TextContent))


async def asked(
    build: BuildDatabase, path: Path, *statements: str, time_limit_s: float = PATIENT_S
) -> list[types.CallToolResult]:
    """Return what a server for a file answers to some statements."""
    calls = [("run_query", {"sql": statement}) for statement in statements]
    return await answers_of(build(path, time_limit_s=time_limit_s), *calls)


async def _refused(build: BuildDatabase, *statements: str) -> None:
    """Expect an error a model can learn from for each statement, and the same file after."""
    with shop() as path:
        before = path.read_bytes()
        for statement in statements:
            [answer] = await asked(build, path, statement)
            error_of(answer, statement[:60], tool="run_query")
            expect(path.read_bytes() == before, f"{statement[:60]} changed the file.")
            files = sorted(each.name for each in path.parent.iterdir())
            expect_equal(files, ["shop.db"], f"files after {statement[:60]}")


async def tables_are_listed_without_their_columns(build: BuildDatabase) -> None:
    """The list names every table, and leaves the columns for later."""
    with shop() as path:
        [answer] = await answers_of(build(path, time_limit_s=PATIENT_S), ("list_tables", {}))
    read = read_of(answer)
    missing = [name for name in ("orders", "customers", "visits") if name not in read]
    expect(not missing, f"the list lacks {missing}: {read[:200]!r}.")
    expect("waits" not in read and "page-1" not in read, "the list has rows in it.")


async def one_table_is_described_alone(build: BuildDatabase) -> None:
    """A description has the columns of the table that was asked for, and of no other."""
    with shop() as path:
        server = build(path, time_limit_s=PATIENT_S)
        [answer] = await answers_of(server, ("describe_table", {"table": "orders"}))
    read = read_of(answer)
    expect(not answer.is_error, f"describe_table failed: {read[:200]}")
    missing = [name for name in ("order_no", "state", "备注") if name not in read]
    expect(not missing, f"the description lacks {missing}: {read[:200]!r}.")
    expect("nickname" not in read, "the description has columns of customers, too.")


async def a_query_brings_its_rows(build: BuildDatabase) -> None:
    """A SELECT brings its values, in any script; nothing found is no error."""
    with shop() as path:
        found, none = await asked(
            build,
            path,
            "SELECT 备注 FROM orders WHERE state = 'waits'",
            "SELECT * FROM orders WHERE state = 'lost'",
        )
    expect("等待轴承" in read_of(found), f"it brought {read_of(found)[:200]!r}.")
    expect(not none.is_error, "a query that finds nothing is an error.")


async def rows_are_capped_and_the_rest_is_counted(build: BuildDatabase) -> None:
    """Of many rows the first come, and the number of those left out."""
    with shop() as path:
        [answer] = await asked(build, path, "SELECT page FROM visits ORDER BY visit_id")
    read = read_of(answer)
    shown = len(set(re.findall(r"page-\d+", read)))
    expect(0 < shown <= MOST_SHOWN, f"{shown} of {MANY} rows came.")
    left = MANY - shown
    expect(re.search(rf"(?<![\w-]){left}(?!\w)", read), f"nothing says that {left} were left out.")


async def writing_is_refused(build: BuildDatabase) -> None:
    """No statement changes the file or makes another, whatever it begins with."""
    await _refused(
        build,
        "DELETE FROM orders",
        "WITH gone AS (SELECT 1) DELETE FROM orders",
        "INSERT INTO orders VALUES ('SO-3', '', '') RETURNING order_no",
        "CREATE TABLE more (a)",
        "ATTACH 'more.db' AS more",
        "VACUUM INTO 'more.db'",
        "PRAGMA user_version = 7",
    )


async def what_never_ends_is_stopped(build: BuildDatabase) -> None:
    """A statement without an end is stopped, and the server answers the next one."""
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT count(*) FROM c"
    with shop() as path:
        stopped, alive = await asked(
            build, path, endless, "SELECT state FROM orders", time_limit_s=LIMIT_S
        )
    error_of(stopped, "a statement without an end", tool="run_query")
    expect("shipped" in read_of(alive), "after it the server does not answer.")


async def a_mistake_is_an_error_to_learn_from(build: BuildDatabase) -> None:
    """A wrong table or column is a tool error that names it."""
    with shop() as path:
        wrong = await asked(build, path, "SELECT * FROM ordres", "SELECT colour FROM orders")
    for answer, name in zip(wrong, ("ordres", "colour"), strict=True):
        expect(name in error_of(answer, name, tool="run_query"), f"the error omits {name}.")


async def every_tool_says_that_it_reads(build: BuildDatabase) -> None:
    """The three tools are annotated as reading, in at most 90 tokens of description each."""
    count = Counter.for_model("gpt-4o")
    with shop() as path:
        tools = await tools_of(build(path, time_limit_s=PATIENT_S))
    for name in ("list_tables", "describe_table", "run_query"):
        expect(name in tools, f"there is no tool {name}.")
        hints = tools[name].annotations
        expect(hints is not None and hints.read_only_hint, f"{name} does not say that it reads.")
        size = count(tools[name].description or "")
        expect(0 < size <= MAX_DESCRIPTION, f"the description of {name} has {size} tokens.")


CHECKS = (
    tables_are_listed_without_their_columns,
    one_table_is_described_alone,
    a_query_brings_its_rows,
    rows_are_capped_and_the_rest_is_counted,
    writing_is_refused,
    what_never_ends_is_stopped,
    a_mistake_is_an_error_to_learn_from,
    every_tool_says_that_it_reads,
)


async def memory_is_bounded(build: BuildDatabase) -> None:
    """No value of any size can be made, and no code can be loaded."""
    await _refused(
        build,
        "SELECT length(randomblob(900000000))",
        "SELECT hex(zeroblob(100000000))",
        "SELECT printf('%900000000d', 1)",
        "SELECT load_extension('anything')",
    )


async def one_statement_at_a_time(build: BuildDatabase) -> None:
    """Several statements, or none, are refused."""
    await _refused(build, "SELECT 1; DROP TABLE orders", "", "-- nothing")


async def large_numbers_arrive_whole(build: BuildDatabase) -> None:
    """An integer beyond 2**53 is no float on its way, but a text."""
    with shop() as path:
        [answer] = await asked(build, path, "SELECT customer_id FROM customers")
    values = json.dumps(answer.structured_content)
    expect('"9007199254740993"' in values, f"it became {values[:120]}.")


async def a_long_cell_is_cut(build: BuildDatabase) -> None:
    """One long value does not fill the window."""
    with shop() as path:
        [answer] = await asked(build, path, f"SELECT '{'x' * 3000}' AS x")
    size = len(read_of(answer))
    expect(size < 1_500, f"{size} characters come of one cell.")


async def a_near_name_is_offered(build: BuildDatabase) -> None:
    """A table that is nearly right is answered with the right name."""
    with shop() as path:
        server = build(path, time_limit_s=PATIENT_S)
        [answer] = await answers_of(server, ("describe_table", {"table": "custommers"}))
    said = error_of(answer, "a wrong table", tool="describe_table")
    expect("customers" in said, f"the error does not offer customers: {said!r}.")


FULL_CHECKS = (
    *CHECKS,
    memory_is_bounded,
    one_statement_at_a_time,
    large_numbers_arrive_whole,
    a_long_cell_is_cut,
    a_near_name_is_offered,
)

PUZZLE = (
    "SELECT count(*) FROM orders",
    "WITH gone AS (SELECT 1) DELETE FROM orders",
    "PRAGMA table_info(orders)",
    "SELECT load_extension('x')",
    "EXPLAIN QUERY PLAN SELECT * FROM visits",
)


async def the_refusals_are_foreseen(attempt: tuple[BuildDatabase, Sequence[bool] | None]) -> None:
    """You say of each statement of `PUZZLE` whether the package's server refuses it."""
    build, guess = attempt
    if guess is None:
        raise NotImplementedError
    with shop() as path:
        answers = await asked(build, path, *PUZZLE)
    foresee_each(
        guess,
        [bool(answer.is_error) for answer in answers],
        [f"statement {place}" for place in range(1, len(PUZZLE) + 1)],
        choices=(True, False),
        hint="Which step betrays it: does it change, load or make something, or only read?",
    )


PREDICT_CHECKS = (the_refusals_are_foreseen,)

SERVERS: Mapping[str, str] = {
    "notes": "write, list and search the user's notes 记笔记、备忘",
    "knowledge": "handbook: rules, releases, expenses, holidays 手册：制度、报销、流程",
    "database": "customers, orders, stock, invoices, suppliers 客户、订单、库存、供应商",
}
Pick = Callable[..., Any]


def _picked(pick: Pick, task: str) -> list[str]:
    return expect_list(pick(task, SERVERS), f"for {task!r}")


def the_fitting_server_is_picked(pick: Pick) -> None:
    """A task that shares words with one server's line mounts that server alone."""
    expect_equal(_picked(pick, "which orders wait for stock?"), ["database"], "for orders")
    expect_equal(_picked(pick, "how do releases work?"), ["knowledge"], "for releases")


def chinese_tasks_are_picked_too(pick: Pick) -> None:
    """Chinese has no spaces to split at; two characters in common are a sign."""
    expect_equal(_picked(pick, "哪些订单还没发货？"), ["database"], "for 订单")
    expect_equal(_picked(pick, "报销需要什么？"), ["knowledge"], "for 报销")


def two_tasks_mount_two(pick: Pick) -> None:
    """A task for two servers mounts both, in the order of the configuration."""
    task = "look up the orders of our customers and put them into my notes"
    expect_equal(_picked(pick, task), ["notes", "database"], "for both")


def small_talk_mounts_nothing(pick: Pick) -> None:
    """A task that needs no server mounts none, though "book" stands in "handbook"."""
    expect_equal(_picked(pick, "good morning!"), [], "for a greeting")
    expect_equal(_picked(pick, "please book a table"), [], 'for "please book a table"')


MOUNT_CHECKS = (
    the_fitting_server_is_picked,
    chinese_tasks_are_picked_too,
    two_tasks_mount_two,
    small_talk_mounts_nothing,
)


async def a_short_statement_floods(attempt: tuple[BuildDatabase, str | None]) -> None:
    """A statement of at most 200 characters brings over 100,000 of them, and writes nothing."""
    build, sql = attempt
    if sql is None:
        raise NotImplementedError
    size = len(expect_text(sql, "your statement"))
    expect(size <= 200, f"the statement has {size} characters; at most 200 are asked for.")
    with shop() as path:
        [answer] = await asked(build, path, sql)
    size = len(read_of(answer))
    expect(not answer.is_error, f"it was refused: {read_of(answer)[:160]}")
    expect(size > 100_000, f"{size:,} characters came.", hint="Rows are capped. What is not?")


BREAK_CHECKS = (a_short_statement_floods,)
