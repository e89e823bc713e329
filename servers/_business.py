"""Builds the business database that the database server shows when it is given no file.

    data/business/schema.sql + one CSV a table  ──▶  business.db, 20 tables of one company

The rows are texts that a person can read and change. An empty field is NULL; the type of
its column makes "12" a number.

Read after: nothing.     Read next: database.py.
Built in:   notebooks/12_many_servers.ipynb
"""

from __future__ import annotations

import csv
import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from platformdirs import user_cache_path

DATA = Path(__file__).resolve().parent / "data" / "business"


def build_business(path: Path) -> Path:
    """Write the database to a file that is not there yet, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.executescript((DATA / "schema.sql").read_text(encoding="utf-8"))
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        for (table,) in tables:  # in the order of schema.sql, so what is referred to is there
            _fill(connection, table)
    return path


def _fill(connection: sqlite3.Connection, table: str) -> None:
    with (DATA / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    columns = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" for _ in names)
    values = [[field or None for field in row] for row in rows]
    connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)


def business_file() -> Path:
    """Return the database in the user's cache folder, built anew when the data changed."""
    return _kept_in(user_cache_path("agentkit"))


def _kept_in(folder: Path) -> Path:
    """Return the database in a folder; another process may be building it at the same time."""
    seen = hashlib.sha256()
    for source in [Path(__file__), *sorted(DATA.iterdir())]:
        seen.update(source.read_bytes())
    path = folder / f"business-{seen.hexdigest()[:12]}.db"
    if not path.exists():
        building = folder / f"{path.stem}-{os.getpid()}.building"
        building.unlink(missing_ok=True)
        build_business(building).replace(path)
    return path
