"""The data of a crawl as tables, for people with questions about it."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sanderling.errors import UsageError
from sanderling.model import ChangeKind, State
from sanderling.repository import views
from sanderling.repository.items import items as stored_items
from sanderling.repository.store import Store
from sanderling.urls import hostname

_BATCH = 1000

Row = tuple[Any, ...]


class DataTable(NamedTuple):
    """A table: its columns with their types in SQL, and what its rows are made of."""

    columns: dict[str, str]
    rows: Callable[[Store, bool], Iterator[Row]]


def _pages(store: Store, login: bool) -> Iterator[Row]:
    for page in store.pages():
        if login or not page.login:
            yield (
                page.url, hostname(page.url), page.status, page.state, page.title, page.mime, page.language, page.size,
                _time(page.fetched_at), _time(page.changed_at), page.visits, page.changes, page.importance, page.depth,
                page.digest, page.same_as, page.redirect, _json(page.extracted),
            )  # fmt: skip


def _versions(store: Store, login: bool) -> Iterator[Row]:
    number = 0
    while some := store.changes_after(number, _BATCH):
        for each in some:
            if login or not each.login:
                yield (
                    each.number, each.url, hostname(each.url), _time(each.at), each.status, each.title, each.mime,
                    each.size, ",".join(each.kinds.names), each.significance, each.summary, each.excerpt, each.news,
                    bool(each.kinds & ChangeKind.GONE), each.digest, _json(each.extracted),
                )  # fmt: skip
        number = some[-1].number


def _failures(store: Store, login: bool) -> Iterator[Row]:
    number = 0
    while some := views.failures(store, number, _BATCH):
        yield from ((each.url, hostname(each.url), _time(each.at), each.reason) for each in some)
        number = some[-1].number


def _links(store: Store, login: bool) -> Iterator[Row]:
    hidden = set[str]() if login else {url for url, _ in store.known([*store.behind_login()]).values()}
    page = None
    while some := views.links_after(store, page, _BATCH):
        for each in some:
            if each.url not in hidden:
                yield from ((each.url, target) for target in each.targets if target not in hidden)
        page = some[-1].page


def _hosts(store: Store, login: bool) -> Iterator[Row]:
    states = store.host_states()
    for host in store.hosts():
        found = states.get(host.id, {})
        counts = (found.get(state, 0) for state in (State.FETCHED, State.QUEUED, State.FAILED, State.GONE, State.KNOWN))
        yield (host.origin, *counts, sum(found.values()))


def _items(store: Store, login: bool) -> Iterator[Row]:
    for each in stored_items(store, login):
        yield each.url, each.extractor, each.key or None, _json(each.item), _time(each.at)


def _time(at: float) -> datetime | None:
    return datetime.fromtimestamp(at, UTC).replace(tzinfo=None) if at else None


def _json(data: Any) -> str | None:
    return json.dumps(data, ensure_ascii=False) if data is not None else None


TABLES = {
    "pages": DataTable(
        {
            "url": "VARCHAR", "host": "VARCHAR", "status": "INTEGER", "state": "VARCHAR", "title": "VARCHAR",
            "mime": "VARCHAR", "language": "VARCHAR", "size": "BIGINT", "fetched_at": "TIMESTAMP",
            "changed_at": "TIMESTAMP", "visits": "INTEGER", "changes": "INTEGER", "importance": "DOUBLE",
            "depth": "INTEGER", "digest": "VARCHAR", "same_as": "VARCHAR", "redirect": "VARCHAR", "data": "JSON",
        },
        _pages,
    ),
    "versions": DataTable(
        {
            "number": "BIGINT", "url": "VARCHAR", "host": "VARCHAR", "seen_at": "TIMESTAMP", "status": "INTEGER",
            "title": "VARCHAR", "mime": "VARCHAR", "size": "BIGINT", "kinds": "VARCHAR", "significance": "DOUBLE",
            "summary": "VARCHAR", "excerpt": "VARCHAR", "news": "BOOLEAN", "gone": "BOOLEAN", "digest": "VARCHAR",
            "data": "JSON",
        },
        _versions,
    ),
    "failures": DataTable(
        {"url": "VARCHAR", "host": "VARCHAR", "failed_at": "TIMESTAMP", "reason": "VARCHAR"},
        _failures,
    ),
    "links": DataTable({"source": "VARCHAR", "target": "VARCHAR"}, _links),
    "hosts": DataTable(
        {
            "origin": "VARCHAR", "fetched": "BIGINT", "queued": "BIGINT", "failed": "BIGINT", "gone": "BIGINT",
            "held": "BIGINT", "urls": "BIGINT",
        },
        _hosts,
    ),
    "items": DataTable(
        {"url": "VARCHAR", "extractor": "VARCHAR", "key": "VARCHAR", "item": "JSON", "changed_at": "TIMESTAMP"},
        _items,
    ),
}  # fmt: skip
# Of other tables. `changes` is what `sanderling changes --baseline` lists.
VIEWS = {"changes": ("versions", "SELECT * FROM versions WHERE news AND kinds <> ''")}


def item_lines(store: Store, login: bool) -> Iterator[bytes]:
    """The items, one JSON object a line."""
    for each in stored_items(store, login):
        at = datetime.fromtimestamp(each.at, UTC).isoformat(timespec="seconds")
        about = {"url": each.url, "extractor": each.extractor, "key": each.key or None, "changed_at": at}
        yield json.dumps(about | {"item": each.item}, ensure_ascii=False).encode() + b"\n"


def tables(store: Store, login: bool) -> dict[str, DataTable]:
    """All tables, with one for the items of each extractor."""
    names = dict.fromkeys(each.extractor for each in stored_items(store, login))
    return TABLES | {name: _of_items(store, name, login) for name in names if name not in (*TABLES, *VIEWS)}


def table_named(store: Store, name: str, login: bool) -> DataTable:
    """A table, or the items of the extractor of this name. Raises UsageError if there are none."""
    if name in TABLES:
        return TABLES[name]
    found = _of_items(store, name, login)
    if len(found.columns) == len(_OF_AN_ITEM):
        raise UsageError(f"there is no table {name!r}, and no extractor of this name found items")
    return found


_OF_AN_ITEM = {"url": "VARCHAR", "changed_at": "TIMESTAMP"}


def _of_items(store: Store, extractor: str, login: bool) -> DataTable:
    """The items of one extractor with their fields as columns."""
    kinds: dict[str, str] = {}
    for each in stored_items(store, login, extractor):
        for name, value in each.item.items():
            if (kind := _kind(value)) is not None:
                kinds[name] = _either(kinds.get(name, kind), kind)
            else:
                kinds.setdefault(name, "")
    # A field may be called like a column of every item, or differ from another in case only.
    names: dict[str, str] = {}
    taken = {column.lower() for column in _OF_AN_ITEM}
    for name in kinds:
        column = name
        while column.lower() in taken:
            column += "_"
        taken.add(column.lower())
        names[name] = column

    def rows(store: Store, login: bool) -> Iterator[Row]:
        for each in stored_items(store, login, extractor):
            yield (each.url, _time(each.at), *(_in_column(each.item.get(name), kinds[name]) for name in names))

    return DataTable(_OF_AN_ITEM | {column: kinds[name] or "VARCHAR" for name, column in names.items()}, rows)


def _kind(value: Any) -> str | None:
    """The type of a column for a value; None for one that says nothing."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "BIGINT" if -(2**63) <= value < 2**63 else "DOUBLE"
    return "DOUBLE" if isinstance(value, float) else "VARCHAR"


def _either(one: str, other: str) -> str:
    if not one or one == other:
        return other
    return "DOUBLE" if {one, other} == {"BIGINT", "DOUBLE"} else "VARCHAR"


def _in_column(value: Any, kind: str) -> Any:
    if value is None or kind in ("BOOLEAN", "BIGINT"):
        return value
    if kind == "DOUBLE":
        return float(value)
    return value if isinstance(value, str) else _json(value)
