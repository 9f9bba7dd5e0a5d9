"""The data of a crawl as tables, for people with questions about it."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sanderling.model import ChangeKind, State
from sanderling.repository import views
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
    for page in store.pages():
        if page.extracted and (login or not page.login):
            for name, item in page.extracted.items():
                yield page.url, name, _json(item), _time(page.changed_at)


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
        {"url": "VARCHAR", "extractor": "VARCHAR", "item": "JSON", "changed_at": "TIMESTAMP"},
        _items,
    ),
}  # fmt: skip
# Of other tables. `changes` is what `sanderling changes --baseline` lists.
VIEWS = {"changes": ("versions", "SELECT * FROM versions WHERE news AND kinds <> ''")}
