"""No view scans a whole table, whatever the request. SQLite's query plans show it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sanderling.model import ChangeKind, State
from sanderling.repository import views
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import Store

LARGE = ("urls", "u", "pages", "p", "versions", "v", "links", "l", "identities", "beliefs", "b", "hosts")


@pytest.fixture
def asked(crawled: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Store, list[str]]]:
    """A store that records the plan of each query."""
    store = open_store(Folder(crawled / "small"), readonly=True)
    plans: list[str] = []
    select = store.select

    def watched(query: str, *values: object) -> list[tuple[Any, ...]]:
        plans.extend(f"{row[3]}   in   {query}" for row in select(f"EXPLAIN QUERY PLAN {query}", *values))
        return select(query, *values)

    monkeypatch.setattr(store, "select", watched)
    yield store, plans
    store.close()


def test_every_view_goes_by_a_key(asked: tuple[Store, list[str]]) -> None:
    store, plans = asked
    first = views.urls(store, 5).rows[0]
    host = views.hosts(store, 1).rows[0].id
    for state in (None, *State):
        views.urls(store, 5, 3, state, host, "http://")
        views.urls(store, 5, 3, state)
    assert views.url(store, first.id)
    assert views.version(store, 1)
    assert views.version_count(store, first.id) == len(views.versions(store, first.id, 1, 9)) == 1
    views.evidence(store, first.id)
    for chosen in (None, host):
        assert views.changes(store, 5, host=chosen).rows
        views.changes(store, 5, 30, ChangeKind.TEXT, 1.0, 0.5, chosen, True)
    views.hosts(store, 5, 0)
    views.linking(store, first.id)
    assert len(plans) > 20
    for plan in plans:
        words = plan.split()
        assert not (words[0] == "SCAN" and words[1] in LARGE), plan
