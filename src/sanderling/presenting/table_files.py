"""Tables as files: CSV, Parquet, and databases of DuckDB and SQLite."""

import csv
import io
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from sanderling.errors import UsageError
from sanderling.presenting.tables import VIEWS, DataTable, Row, table_named, tables
from sanderling.repository.export import WrittenBytes
from sanderling.repository.store import Store

_BATCH = 20_000

_ARROW = {
    "VARCHAR": lambda arrow: arrow.string(), "JSON": lambda arrow: arrow.string(), "INTEGER": lambda arrow: arrow.int32(),
    "BIGINT": lambda arrow: arrow.int64(), "DOUBLE": lambda arrow: arrow.float64(), "BOOLEAN": lambda arrow: arrow.bool_(),
    "TIMESTAMP": lambda arrow: arrow.timestamp("us"),
}  # fmt: skip
# Types that SQLite does not know by these names.
_SQLITE = {"VARCHAR": "TEXT", "JSON": "TEXT", "DOUBLE": "REAL", "TIMESTAMP": "TEXT", "BOOLEAN": "INTEGER"}


def csv_of(store: Store, name: str, login: bool) -> Iterator[bytes]:
    """A table as CSV with a header."""
    table = table_named(store, name, login)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    for some in _batches(table, store, login):
        writer.writerows(some)
        yield text.getvalue().encode("utf-8", "replace")
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode("utf-8", "replace")


def parquet_of(store: Store, name: str, login: bool) -> Iterator[bytes]:
    """A table as Parquet."""
    arrow, parquet = _needed("pyarrow", "parquet"), _needed("pyarrow.parquet", "parquet")
    table = table_named(store, name, login)
    schema = arrow.schema([(column, _ARROW[kind](arrow)) for column, kind in table.columns.items()])
    written = WrittenBytes()
    with parquet.ParquetWriter(arrow.PythonFile(written, "w"), schema, compression="zstd") as writer:
        for some in arrow_batches(arrow, table, store, login):
            writer.write_table(some)
            yield written.take()
    yield written.take()


def duckdb_file(path: Path, store: Store, login: bool) -> None:
    """Writes all tables into a new database of DuckDB."""
    duckdb, arrow = _needed("duckdb", "sql"), _needed("pyarrow", "sql")
    with duckdb.connect(str(path)) as database:
        for name, table in tables(store, login).items():
            fill(database, arrow, name, table, store, login)
        for name, (_, query) in VIEWS.items():
            database.execute(f"CREATE VIEW {name} AS {query}")


def fill(database: Any, arrow: Any, name: str, table: DataTable, store: Store, login: bool) -> None:
    """Makes a table in a database of DuckDB."""
    columns = ", ".join(f"{_quoted(column)} {kind}" for column, kind in table.columns.items())
    database.execute(f"CREATE TABLE {_quoted(name)} ({columns})")
    for some in arrow_batches(arrow, table, store, login):
        database.register("batch", some)
        database.execute(f"INSERT INTO {_quoted(name)} SELECT * FROM batch")
        database.unregister("batch")


def sqlite_file(path: Path, store: Store, login: bool) -> None:
    """Writes all tables into a new database of SQLite."""
    database = sqlite3.connect(path)
    try:
        for name, table in tables(store, login).items():
            columns = [f"{_quoted(each)} {_SQLITE.get(kind, kind)}" for each, kind in table.columns.items()]
            database.execute(f"CREATE TABLE {_quoted(name)} ({', '.join(columns)})")
            places = ", ".join("?" * len(columns))
            for some in _batches(table, store, login):
                rows = [[each.isoformat(" ") if isinstance(each, datetime) else each for each in row] for row in some]
                database.executemany(f"INSERT INTO {_quoted(name)} VALUES ({places})", rows)
        for name, (_, query) in VIEWS.items():
            database.execute(f"CREATE VIEW {name} AS {query}")
        database.commit()
    finally:
        database.close()


def arrow_batches(arrow: Any, table: DataTable, store: Store, login: bool) -> Iterator[Any]:
    """The rows of a table as tables of Arrow, some at a time."""
    types = [_ARROW[kind](arrow) for kind in table.columns.values()]
    for some in _batches(table, store, login):
        arrays = [arrow.array(column, kind) for column, kind in zip(zip(*some, strict=True), types, strict=True)]
        yield arrow.table(arrays, names=list(table.columns))


def _batches(table: DataTable, store: Store, login: bool) -> Iterator[list[Row]]:
    rows = table.rows(store, login)
    while some := list(islice(rows, _BATCH)):
        yield some


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _needed(module: str, extra: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(f"this needs `pip install 'sanderling[{extra}]'` ({error})") from None
