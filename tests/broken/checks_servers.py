"""Broken database servers: a sound one with one fault each, by the check that must notice it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel

from servers._sql import SqlError
from servers._tables import Tables


class Data(BaseModel):
    data: Any


class Sound:
    """A server that passes `FULL_CHECKS`: build it as `Sound`, like `build_server`."""

    reads: Any = ToolAnnotations(read_only_hint=True)

    def __new__(cls, path: Path, *, time_limit_s: float = 5.0) -> Any:
        self = super().__new__(cls)
        self.path = path
        self.known = Tables(path, time_limit_s=time_limit_s)
        server = MCPServer("sound", log_level="CRITICAL")
        for tool in (self.list_tables, self.describe_table, self.run_query):
            server.add_tool(tool, annotations=self.reads, description=f"Do {tool.__name__}.")
        return server

    def list_tables(self) -> Data:
        return Data(data=self.guarded(lambda: [name for name, _ in self.known.tables()]))

    def describe_table(self, table: str) -> Data:
        return Data(data=self.guarded(lambda: list(self.known.describe(table).columns)))

    def run_query(self, sql: str) -> Data:
        return Data(data=self.guarded(lambda: self.rows(sql)))

    def rows(self, sql: str) -> Any:
        found = self.known.find(sql, limit=20)
        return {"rows": found.rows, "left_out": found.left_out}

    def guarded(self, get: Any) -> Any:
        try:
            return get()
        except SqlError as error:
            raise ToolError(self.said(error)) from error

    def said(self, error: SqlError) -> str:
        return str(error)

    def raw(self, sql: str) -> Any:
        """Run a statement without any guard."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return connection.execute(sql).fetchall()


class TellsAll(Sound):
    def list_tables(self) -> Data:
        return Data(
            data=[[name, self.raw(f"SELECT * FROM {name}")] for name, _ in self.known.tables()]
        )


class DescribesAll(Sound):
    def describe_table(self, table: str) -> Data:
        tables = [name for name, _ in self.known.tables()]
        return Data(data=[list(self.known.describe(name).columns) for name in {*tables}])


class WesternOnly(Sound):
    def rows(self, sql: str) -> Any:
        return str(super().rows(sql)).encode("ascii", "replace").decode()


class NoCap(Sound):
    def rows(self, sql: str) -> Any:
        return self.known.find(sql, limit=10_000).rows


class CountsNothing(Sound):
    def rows(self, sql: str) -> Any:
        return self.known.find(sql, limit=20).rows


class ByFirstWord(Sound):
    """Forbid words at the start instead of listing what is allowed."""

    def rows(self, sql: str) -> Any:
        if sql.upper().startswith(("DELETE", "INSERT", "UPDATE", "DROP", "CREATE")):
            raise SqlError("That would write.")
        return self.raw(sql) if "gone" in sql or "ATTACH" in sql else super().rows(sql)


class CallsItSuccess(Sound):
    def rows(self, sql: str) -> Any:
        try:
            return super().rows(sql)
        except SqlError as error:
            if "Stopped" in str(error):
                return "it took too long"
            raise


class Mute(Sound):
    def guarded(self, get: Any) -> Any:
        try:
            return get()
        except SqlError as error:
            if "no such" in str(error):
                raise RuntimeError(str(error)) from error
            raise ToolError(str(error)) from error


class SaysNothing(Sound):
    reads = None


class MakesBlobs(Sound):
    def rows(self, sql: str) -> Any:
        return [[9]] if "blob" in sql else super().rows(sql)


class FirstOfSeveral(Sound):
    def rows(self, sql: str) -> Any:
        return super().rows(sql.split(";")[0]) if sql else []


class Floats(Sound):
    def rows(self, sql: str) -> Any:
        found = self.known.find(sql, limit=20)
        big = [[float(c) if str(c).isdigit() else c for c in row] for row in found.rows]
        return {"rows": big, "left_out": found.left_out}


class LongCells(Sound):
    def rows(self, sql: str) -> Any:
        return self.raw(sql) if "xxx" in sql else super().rows(sql)


class NoHelp(Sound):
    def said(self, error: SqlError) -> str:
        return str(error).partition(" Near it")[0]


TWINS = {
    "tables_are_listed_without_their_columns": TellsAll,
    "one_table_is_described_alone": DescribesAll,
    "a_query_brings_its_rows": WesternOnly,
    "rows_are_capped_and_the_rest_is_counted": NoCap,
    "writing_is_refused": ByFirstWord,
    "what_never_ends_is_stopped": CallsItSuccess,
    "a_mistake_is_an_error_to_learn_from": Mute,
    "every_tool_says_that_it_reads": SaysNothing,
    "memory_is_bounded": MakesBlobs,
    "one_statement_at_a_time": FirstOfSeveral,
    "large_numbers_arrive_whole": Floats,
    "a_long_cell_is_cut": LongCells,
    "a_near_name_is_offered": NoHelp,
}


MOUNTS = {
    "the_fitting_server_is_picked": lambda task, servers: list(servers),
    "chinese_tasks_are_picked_too": lambda task, servers: [
        name
        for name, line in servers.items()
        if {*task.strip("?!").split()} & {*line.replace(",", " ").replace(":", " ").split()}
    ],
    "two_tasks_mount_two": lambda task, servers: [
        name for name in servers if name == ("database" if "rder" in task else "knowledge")
    ],
    "small_talk_mounts_nothing": lambda task, servers: ["notes"],
}
