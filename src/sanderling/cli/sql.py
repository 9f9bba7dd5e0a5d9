"""`sanderling sql`: questions about a crawl in SQL, by DuckDB."""

import argparse
import csv
import json
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.cli.selecting import add_with_login
from sanderling.errors import UsageError
from sanderling.presenting.screen import harmless
from sanderling.presenting.table_files import fill
from sanderling.presenting.tables import TABLES, VIEWS, table_named
from sanderling.repository.opening import reading
from sanderling.repository.store import Store

_COLUMNS = "\n".join(
    textwrap.fill(", ".join(table.columns), 79, initial_indent=f"  {name:<9} ", subsequent_indent=" " * 12)
    for name, table in TABLES.items()
)
_ABOUT = f"""Answers a query in the SQL of DuckDB. It reads only: the crawl is not changed, and no other file is read. The tables
that the query names are loaded into memory. It needs `pip install 'sanderling[sql]'`.

Tables:
{_COLUMNS}
  changes   the versions that are news, with the columns of versions
  NAME      the items of the extractor NAME: url, changed_at and its fields

Times are in UTC. data and item are JSON: item->>'price', or CAST(item->>'price' AS DOUBLE) to compare numbers.

Examples:
  sanderling sql example 'SELECT host, count(*) FROM pages GROUP BY host'
  sanderling sql example "SELECT url FROM changes WHERE seen_at > '2026-11-01'"
"""
_BATCH = 20_000
_WIDEST = 80


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "sql",
        description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    parser.add_argument("query", help="a SELECT")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object per row")
    form.add_argument("--csv", action="store_true", help="print CSV with a header")
    add_with_login(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        duckdb, arrow = import_module("duckdb"), import_module("pyarrow")
    except ImportError as error:
        raise UsageError(f"SQL needs `pip install 'sanderling[sql]'` ({error})") from None
    with duckdb.connect() as database, reading(options.dir) as (_, store):
        try:
            if len(statements := database.extract_statements(options.query)) != 1:
                raise UsageError("give one query")
            if statements[0].type != duckdb.StatementType.SELECT:
                raise UsageError("only a SELECT is answered: nothing can be changed here")
            for name in _needed(database.get_table_names(options.query)):
                _load(database, arrow, store, name, options.with_login)
            # From here on it reads no file and changes no setting.
            database.execute("SET enable_external_access = false; SET lock_configuration = true")
            answer = database.execute(options.query)
            _print([column[0] for column in answer.description], _rows(answer), options)
        except duckdb.Error as error:
            raise UsageError(harmless(" ".join(str(error).split())[:400])) from None
    return 0


def _needed(names: set[str]) -> list[str]:
    """The tables that a query names, those before the views that are made of them."""
    chosen = {name.lower() if name.lower() in (*TABLES, *VIEWS) else name for name in names}
    chosen |= {VIEWS[name][0] for name in chosen if name in VIEWS}
    return sorted(chosen, key=lambda name: name in VIEWS)


def _load(database: Any, arrow: Any, store: Store, name: str, login: bool) -> None:
    if name in VIEWS:
        database.execute(f"CREATE VIEW {name} AS {VIEWS[name][1]}")
        return
    fill(database, arrow, name, table_named(store, name, login), store, login)


def _rows(answer: Any) -> Iterator[tuple[Any, ...]]:
    while some := answer.fetchmany(_BATCH):
        yield from some


def _print(columns: list[str], rows: Iterator[tuple[Any, ...]], options: argparse.Namespace) -> None:
    if options.json:
        for row in rows:
            write_json(json.dumps(dict(zip(columns, row, strict=True)), default=str, ensure_ascii=False).encode())
        return
    if options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        return
    shown = [columns, *([_cell(value) for value in row] for row in rows)]
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*shown, strict=True)]
    for line in shown:
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n")


def _cell(value: Any) -> str:
    return "" if value is None else harmless(str(value))
