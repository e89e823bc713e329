"""The database server as a client in the same process sees it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import ResourceTemplateReference, TextContent

from agentkit.tokens import Counter
from servers._business import build_business
from servers.database import build_server, main

pytestmark = pytest.mark.anyio
LIMIT_S = 60
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) "


@pytest.fixture(scope="module")
def business(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit's own database."""
    return build_business(tmp_path_factory.mktemp("库 #1?") / "business.db")


@asynccontextmanager
async def connected(file: Path, *, time_limit_s: float = 5.0) -> AsyncIterator[Client]:
    server = build_server(file, time_limit_s=time_limit_s)
    async with Client(server, read_timeout_seconds=LIMIT_S) as client:
        yield client


async def result(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content


async def error(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer.structured_content
    assert isinstance(answer.content[0], TextContent)
    return answer.content[0].text.removeprefix(f"Error executing tool {tool}: ")


def made(path: Path, *statements: str, rows: dict[str, list[Any]] | None = None) -> Path:
    """Return a new database."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
        for statement, values in (rows or {}).items():
            connection.execute(statement, values)
    return path


async def test_twenty_tables_are_listed_with_one_line_each(business: Path) -> None:
    async with connected(business) as client:
        listed = await result(client, "list_tables")
        some = await result(client, "list_tables", matching="ORDER_h")

    assert (len(listed["tables"]), listed["total"], listed["left_out"]) == (20, 20, 0)
    assert all(table["about"] for table in listed["tables"])
    assert some == {
        "tables": [
            {
                "name": "order_holds",
                "about": "why a sales order was put on hold, and when it was released",
            }
        ],
        "total": 1,
        "left_out": 0,
    }


async def test_a_table_is_described_by_columns_keys_count_and_three_rows(business: Path) -> None:
    async with connected(business) as client:
        holds = await result(client, "describe_table", table="Order_Holds")
        suppliers = await result(client, "describe_table", table="suppliers")
        unknown = await error(client, "describe_table", table="supplier")

    assert holds == {
        "table": "order_holds",
        "about": "why a sales order was put on hold, and when it was released",
        "columns": [
            "hold_id INTEGER PRIMARY KEY",
            "order_no TEXT → sales_orders.order_no",
            "reason TEXT",
            "placed_on TEXT",
            "placed_by INTEGER → employees.employee_id",
            "released_on TEXT",
        ],
        "rows": 14,
        "sample": [
            [1, "SO-1008", "SO-1008 waited for a second signature.", "2025-11-03", 3, "2025-11-07"],
            [2, "SO-1013", "SO-1013 was over the credit limit.", "2025-11-10", 6, "2025-11-14"],
            [3, "SO-1019", "订单 SO-1019 曾等待付款。", "2025-11-19", 6, "2025-11-23"],
        ],
    }
    assert suppliers["columns"][-1] == "备注 TEXT"
    assert unknown.endswith("Near it: suppliers.")


async def test_a_query_answers_in_both_languages(business: Path) -> None:
    async with connected(business) as client:
        english = await result(
            client,
            "run_query",
            sql="SELECT h.reason, p.note FROM order_holds h, purchase_orders p "
            "WHERE h.order_no = 'SO-1042' AND p.po_no = 'PO-331'",
        )
        chinese = await result(
            client, "run_query", sql="SELECT 备注 FROM suppliers WHERE 中文名 LIKE '太湖%'"
        )

    assert english["rows"] == [
        [
            "SO-1042 waits for 40 wheel bearings BRG-204: purchase order PO-331 is late and no "
            "warehouse has any.",
            "Late: the ship left Ningbo without our pallet. New arrival 2026-02-20.",
        ]
    ]
    assert chinese == {
        "columns": ["备注"],
        "rows": [["春节停工：2 月 9 日至 2 月 15 日。"]],
        "left_out": 0,
        "remark": None,
    }


async def test_the_text_is_the_same_result_without_spaces(business: Path) -> None:
    async with connected(business) as client:
        answer = await client.call_tool("run_query", {"sql": "SELECT 1 AS a, 'b c' AS b"})

    assert isinstance(answer.content[0], TextContent)
    assert answer.content[0].text == (
        '{"rows":[[1,"b c"]],"columns":["a","b"],"left_out":0,"remark":null}'
    )
    assert json.loads(answer.content[0].text) == answer.structured_content


async def test_rows_beyond_the_limit_are_counted(business: Path) -> None:
    async with connected(business) as client:
        first = await result(client, "run_query", sql="SELECT order_no FROM sales_orders", limit=2)
        none = await result(client, "run_query", sql="SELECT 1 FROM sales_orders WHERE state='x'")
        refused = await error(client, "run_query", sql="SELECT 1", limit=201)

    assert first["rows"] == [["SO-1001"], ["SO-1002"]]
    assert first["left_out"] == 54
    assert (none["rows"], none["remark"]) == ([], "No row matches. That is the answer.")
    assert "limit" in refused


async def test_a_million_rows_are_not_counted_to_the_end(business: Path) -> None:
    async with connected(business) as client:
        many = await result(
            client, "run_query", sql=f"{ENDLESS} SELECT n FROM c LIMIT 1000000", limit=3
        )

    assert many["rows"] == [[1], [2], [3]]
    assert many["left_out"] == 100_000
    assert many["remark"].startswith("There are more rows than were counted")


async def test_wide_rows_end_before_the_limit_of_rows(tmp_path: Path) -> None:
    """By design: 16,000 characters are enough for any result; the rest is counted."""
    file = made(tmp_path / "wide.db", "CREATE TABLE t (a, b)")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executemany("INSERT INTO t VALUES (?, ?)", [("长" * 500, "x" * 100)] * 150)

    async with connected(file) as client:
        wide = await result(client, "run_query", sql="SELECT * FROM t", limit=200)

    assert wide["rows"][0][0] == "长" * 200 + "… [300 more characters]"
    assert len(wide["rows"]) + wide["left_out"] == 150
    assert sum(len(cell) for row in wide["rows"] for cell in row) < 16_400
    assert f"{len(wide['rows'])} long cells are cut" in wide["remark"]


async def test_values_arrive_unchanged_or_say_what_they_are(tmp_path: Path) -> None:
    """By design: 2**53 - 1 is the last integer that every JSON reader keeps."""
    file = made(
        tmp_path / "values.db",
        'CREATE TABLE t ("订单 号" INTEGER, b, c, d, e, f, g, h)',
        rows={
            "INSERT INTO t VALUES (?,?,?,?,?,?,?,?)": [
                2**53 - 1,
                2**53,
                -(2**63),
                None,
                float("inf"),
                b"\x00\xff",
                "2026-02-30",
                0.1,
            ]
        },
    )
    made(file, "INSERT INTO t (b) VALUES (CAST(x'e5ff' AS TEXT))")

    async with connected(file) as client:
        first, second = (await result(client, "run_query", sql="SELECT * FROM t"))["rows"]
        described = await result(client, "describe_table", table="t")

    assert first == [
        9007199254740991,
        "9007199254740992",
        "-9223372036854775808",
        None,
        "inf",
        "[2 bytes]",
        "2026-02-30",
        0.1,
    ]
    assert second[1] == "��"
    assert described["columns"][:2] == ["订单 号 INTEGER", "b"]


REFUSED = {
    "DELETE FROM customers": "it would delete from customers",
    "WITH x AS (SELECT 1) DELETE FROM customers": "it would delete from customers",
    "INSERT INTO employees SELECT * FROM employees RETURNING *": "it would insert into employees",
    "REPLACE INTO warehouses VALUES (1,'x','x','x',1,'x')": "it would insert into warehouses",
    "UPDATE customers SET name = '换'": "it would update customers",
    "EXPLAIN UPDATE customers SET name = 'x'": "it would update customers",
    "DROP TABLE customers": "SQLite's own tables",
    "ALTER TABLE customers ADD x": "it would alter a table",
    "CREATE TABLE x (a)": "SQLite's own tables",
    "CREATE TEMP VIEW x AS SELECT 1": "SQLite's own tables",
    "CREATE VIRTUAL TABLE x USING fts5(a)": "SQLite's own tables",
    "ATTACH 'other.db' AS other": "it would attach another file other.db",
    "VACUUM INTO 'copy.db'": "it would attach another file copy.db",
    "DETACH main": "it would detach main",
    "BEGIN IMMEDIATE": "it would hold a transaction: BEGIN",
    "SAVEPOINT a": "it would hold a transaction: BEGIN",
    "ANALYZE": "SQLite's own tables",
    "PRAGMA query_only = OFF": "PRAGMA query_only is not allowed",
    "PRAGMA writable_schema = ON": "PRAGMA writable_schema is not allowed",
    "PRAGMA database_list": "PRAGMA database_list is not allowed",
    "SELECT * FROM pragma_database_list": "SQLite's own tables",
    "SELECT load_extension('evil')": "the function load_extension() is not allowed",
    "SELECT fts3_tokenizer('simple')": "the function fts3_tokenizer() is not allowed",
    "SELECT randomblob(1000000000)": "the function randomblob() is not allowed",
    "SELECT length(zeroblob(1000000000))": "the function zeroblob() is not allowed",
    "SELECT printf('%1000000000d', 1)": "the function printf() is not allowed",
    "SELECT 1; DROP TABLE customers": "several statements",
    "SELECT ?": "write the values into the statement",
}


async def test_anything_but_one_reading_statement_is_refused_and_changes_nothing(
    business: Path,
) -> None:
    before = business.read_bytes()

    async with connected(business) as client:
        said = {sql: await error(client, "run_query", sql=sql) for sql in REFUSED}
        after = await result(client, "run_query", sql="SELECT count(*) FROM customers")

    assert {sql: text for sql, text in said.items() if REFUSED[sql] not in text} == {}
    assert {sql: text for sql, text in said.items() if not text.startswith("Refused: ")} == {}
    assert after["rows"] == [[32]]
    assert business.read_bytes() == before
    assert {path.name for path in business.parent.iterdir()} == {"business.db"}


BAD = {
    "": "no statement in that",
    " ; ": "no statement in that",
    "-- nothing but a remark": "no statement in that",
    "SELEC 1": "syntax error",
    "SELECT nam FROM customers": "describe_table tells the columns",
    "SELECT * FROM custmers": "list_tables tells the names",
    "SELECT name FROM customers JOIN employees": "Write table.column",
    "SELECT \x00": "null character",
    "SELECT readfile('/etc/passwd')": "no such function",
    "SELECT " + "1+" * 300 + "1": "Expression tree is too large",
    "SELECT '" + "x" * 9_000 + "'": "The statement has 9,009 characters",
}


async def test_a_bad_statement_is_answered_with_what_to_do(business: Path) -> None:
    async with connected(business) as client:
        said = {sql: await error(client, "run_query", sql=sql) for sql in BAD}

    assert {sql: text for sql, text in said.items() if BAD[sql] not in text} == {}


ENDS = {
    f"{ENDLESS} SELECT count(*) FROM c": "Stopped after 0.3 s",
    f"{ENDLESS} SELECT n FROM c ORDER BY n DESC": "Stopped after 0.3 s",
    "SELECT count(*) FROM stock a, stock b, stock c, stock d, stock e, stock f": (
        "Stopped after 0.3 s"
    ),
    f"{ENDLESS} SELECT group_concat(n) FROM c": "Stopped after 0.3 s",
}
GROWS = {
    "WITH RECURSIVE c(s) AS (SELECT 'ab' UNION ALL SELECT s||s FROM c) SELECT max(s) FROM c": (
        "more than 1,000,000 bytes"
    ),
    f"SELECT replace(replace('{'a' * 600}', 'a', '{'b' * 900}'), 'b', '{'c' * 900}')": (
        "more than 1,000,000 bytes"
    ),
}


async def test_what_never_ends_is_stopped_and_the_server_lives(business: Path) -> None:
    async with connected(business, time_limit_s=0.3) as client:
        said = {sql: await error(client, "run_query", sql=sql) for sql in ENDS}
        alive = await result(client, "run_query", sql="SELECT 'still here'")

    assert {sql: text for sql, text in said.items() if ENDS[sql] not in text} == {}
    assert alive["rows"] == [["still here"]]


async def test_a_value_that_grows_without_end_is_stopped(business: Path) -> None:
    async with connected(business, time_limit_s=60.0) as client:
        said = {sql: await error(client, "run_query", sql=sql) for sql in GROWS}

    assert {sql: text for sql, text in said.items() if GROWS[sql] not in text} == {}


async def test_rows_found_before_the_time_is_up_are_kept(business: Path) -> None:
    async with connected(business, time_limit_s=0.3) as client:
        slow = await result(
            client,
            "run_query",
            sql="SELECT 1 UNION ALL SELECT 2 UNION ALL "
            "SELECT count(*) FROM stock a, stock b, stock c, stock d, stock e, stock f",
        )

    assert slow["rows"][0] == [1]
    assert slow["remark"].startswith("There are more rows than were counted")


async def test_a_sort_that_would_fill_the_memory_is_stopped(business: Path) -> None:
    """256 MB at 400,000 bytes a row: an endless sort gets there before 20 s are over."""
    text = "replace(hex('" + "a" * 2_000 + "'), '6', '" + "b" * 200 + "')"

    async with connected(business, time_limit_s=60.0) as client:
        said = await error(
            client,
            "run_query",
            sql="WITH RECURSIVE c(n, s) AS (SELECT 1, "
            f"{text} UNION ALL SELECT n+1, s FROM c) SELECT s FROM c ORDER BY n DESC",
        )
        alive = await result(client, "run_query", sql="SELECT 1")

    assert "256,000,000 bytes of memory" in said
    assert alive["rows"] == [[1]]


async def test_a_huge_blob_is_named_by_its_length_or_refused(tmp_path: Path) -> None:
    file = made(
        tmp_path / "blobs.db",
        "CREATE TABLE t (id, body BLOB)",
        rows={"INSERT INTO t VALUES (1, ?)": [b"x" * 900_000]},
    )
    made(file, rows={"INSERT INTO t VALUES (2, ?)": [b"x" * 3_000_000]})

    async with connected(file) as client:
        one = await result(client, "run_query", sql="SELECT body FROM t WHERE id = 1")
        size = await result(client, "run_query", sql="SELECT id, length(body) FROM t")
        two = await error(client, "run_query", sql="SELECT body FROM t WHERE id = 2")

    assert one["rows"] == [["[900000 bytes]"]]
    assert size["rows"] == [[1, 900_000], [2, 3_000_000]]
    assert two.endswith("Leave that column out, or select length(column).")


async def test_other_peoples_files_are_read_as_they_are(tmp_path: Path) -> None:
    """Quoted names, no comments, a view, a view of nothing, full-text search, no tables."""
    file = made(
        tmp_path / "others.db",
        'CREATE TABLE "Sales ""2025""" (id INTEGER PRIMARY KEY, "total (€)" REAL)',
        'CREATE VIEW big AS SELECT * FROM "Sales ""2025""" WHERE "total (€)" > 5',
        "CREATE VIEW lost AS SELECT * FROM gone",
        "CREATE VIRTUAL TABLE pages USING fts5(body)",
        "INSERT INTO pages VALUES ('bearings arrive late')",
    )

    async with connected(file) as client:
        listed = await result(client, "list_tables")
        sales = await result(client, "describe_table", table='sales "2025"')
        found = await result(
            client, "run_query", sql="SELECT body FROM pages WHERE pages MATCH 'bearings'"
        )
        parts = await result(client, "run_query", sql="SELECT value FROM json_each('[3, 4]')")
        lost = await error(client, "describe_table", table="lost")
    async with connected(made(tmp_path / "empty.db", "PRAGMA user_version = 1")) as client:
        empty = await result(client, "list_tables")

    about = {table["name"]: table["about"] for table in listed["tables"]}
    assert about['Sales "2025"'] == "id, total (€)"
    assert about["big"] == "a view of id, total (€)"
    assert sales["rows"] == 0
    assert found["rows"] == [["bearings arrive late"]]
    assert parts["rows"] == [[3], [4]]
    assert "no such table: main.gone" in lost
    assert empty == {"tables": [], "total": 0, "left_out": 0}


async def test_a_file_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("This is no database at all. " * 100, encoding="utf-8")

    async with connected(text) as client:
        no_database = await error(client, "list_tables")
        with pytest.raises(MCPError, match="no SQLite database"):
            await client.read_resource("database://tables")
    async with connected(tmp_path / "gone.db") as client:
        gone = await error(client, "run_query", sql="SELECT 1")

    assert "no SQLite database" in no_database
    assert "it may have been moved" in gone
    assert not (tmp_path / "gone.db").exists()


async def test_a_file_that_another_program_holds_says_try_again(tmp_path: Path) -> None:
    file = made(tmp_path / "held.db", "CREATE TABLE t (a)")

    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        async with connected(file) as client:
            held = await error(client, "run_query", sql="SELECT * FROM t")
            writer.execute("COMMIT")
            free = await result(client, "run_query", sql="SELECT * FROM t")

    assert held.endswith("Send the statement again.")
    assert free["rows"] == []


async def test_the_index_comes_first_and_one_table_after(business: Path) -> None:
    async with connected(business) as client:
        index = await client.read_resource("database://tables")
        one = await client.read_resource("database://table/order_holds")
        with pytest.raises(MCPError, match="Near it: order_holds"):
            await client.read_resource("database://table/order_hold")
        reference = ResourceTemplateReference(uri="database://table/{name}")
        typed = await client.complete(reference, {"name": "name", "value": "Sales"})

    lines = index.contents[0].text.splitlines()  # type: ignore[union-attr]
    assert len(lines) == 20
    assert "- suppliers: who we buy parts from, with lead time" in lines
    assert json.loads(one.contents[0].text)["rows"] == 14  # type: ignore[union-attr]
    assert typed.completion.values == ["sales_order_lines", "sales_orders"]


async def test_a_model_is_told_what_each_tool_is_for(business: Path) -> None:
    count = Counter.for_model("gpt-4o")

    async with connected(business) as client:
        tools = (await client.list_tools()).tools

    assert [tool.name for tool in tools] == ["list_tables", "describe_table", "run_query"]
    for tool in tools:
        said = tool.description or ""
        assert said.index(". Use when ") < said.index(". Returns ")
        assert count(said) <= 90
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.idempotent_hint) == (True, True)
        assert tool.output_schema
        for argument in tool.input_schema["properties"].values():
            assert "e.g." in argument["description"]
            assert argument["examples"]


def test_the_business_database_is_the_same_each_time(tmp_path: Path) -> None:
    def rows(path: Path) -> list[str]:
        with closing(sqlite3.connect(path)) as connection:
            return list(connection.iterdump())

    one, two = build_business(tmp_path / "a" / "1.db"), build_business(tmp_path / "b" / "2.db")

    assert rows(one) == rows(two)
    assert sum(line.startswith("INSERT INTO") for line in rows(one)) == 779


def test_a_file_that_is_not_there_ends_the_program_with_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--file", str(tmp_path / "nowhere.db")])

    assert stopped.value.code == 2
    assert "Give the path of a SQLite database." in capsys.readouterr().err
