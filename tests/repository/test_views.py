"""Lists in parts, on every store: nothing twice, nothing missing, and bounded work for each
part."""

from collections.abc import Callable, Iterator

import pytest

from sanderling.model import Change, ChangeKind, Counts, Host, Outcome, Settled, State
from sanderling.repository import views
from sanderling.repository.store import Store
from tests.repository.test_store import HOST, commit, open_store, url, visit

__all__ = ["open_store"]

Fill = Callable[[], Store]


@pytest.fixture
def store(open_store: Callable[..., Store]) -> Iterator[Store]:
    """Twelve URLs: three visited, one failed, the others queued."""
    opened = open_store()
    opened.seed(
        [], [url(str(n), host=7 if n < 10 else 8) for n in range(12)], [HOST, Host(8, "http://f.org")], Counts()
    )
    links = url("5").id.to_bytes(8, "little", signed=True)
    done = commit(1, [visit("0", 1, title="zero", links=links), visit("1", 2, at=50.0), visit("2", 3, at=60.0)])
    done.settled.append(Settled(url("3").id, State.FAILED, 1, 0.0, "refused"))
    opened.commit(done)
    yield opened
    opened.close()


def walk(look: Callable[[int | None], views.ListPart]) -> list[views.ListPart]:
    parts = [look(None)]
    while parts[-1].next is not None:
        parts.append(look(parts[-1].next))
        assert len(parts) < 100
    return parts


def names(parts: list[views.ListPart]) -> list[str]:
    return [row.url.rpartition("/")[2] for part in parts for row in part.rows]


def test_urls_part_by_part(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "STRETCH", 3)
    every = walk(lambda after: views.urls(store, 2, after or 0))
    assert names(every) == [str(n) for n in range(12)]
    assert all(len(part.rows) <= 2 for part in every)
    assert names(walk(lambda after: views.urls(store, 5, after or 0, state=State.FAILED))) == ["3"]
    assert names(walk(lambda after: views.urls(store, 5, after or 0, state=State.FETCHED))) == ["0", "1", "2"]
    assert names(walk(lambda after: views.urls(store, 5, after or 0, host=8))) == ["10", "11"]
    assert names(walk(lambda after: views.urls(store, 5, after or 0, prefix="http://e.org/1"))) == ["1", "10", "11"]
    assert names(walk(lambda after: views.urls(store, 5, after or 0, prefix="http://e.org/%"))) == []


def test_one_url(store: Store) -> None:
    visited, queued = views.url(store, url("0").id), views.url(store, url("5").id)
    assert visited is not None and (visited.title, visited.state, visited.visits) == ("zero", "fetched", 1)
    assert queued is not None and (queued.title, queued.state, queued.status) == ("", "queued", 0)
    assert views.url(store, 12345) is None


def test_versions_and_changes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "STRETCH", 2)
    edit = Change(ChangeKind.TEXT, 0.4, "small", "a price")
    store.commit(commit(2, [visit("1", 4, at=2000.0)], changes={url("1").id: edit}))
    noise = Change(ChangeKind.TEXT, 0.1, "small", "a counter", news=False)
    store.commit(commit(3, [visit("1", 5, at=3000.0)], changes={url("1").id: noise}))
    assert views.version_count(store, url("1").id) == 3
    assert [each.summary for each in views.versions(store, url("1").id, 2, 3)] == ["a price", "a counter"]
    last = views.versions(store, url("1").id, 3, 3)[0]
    assert views.version(store, last.number) == last
    assert views.version(store, last.number + 1) is None

    def changes(**filters: object) -> list[str]:
        parts = walk(lambda before: views.changes(store, 2, before, **filters))  # type: ignore[arg-type]
        return [row.summary for part in parts for row in part.rows]

    assert changes() == ["a price", "new", "new", "new"]
    assert changes(everything=True) == ["a counter", "a price", "new", "new", "new"]
    assert changes(kinds=ChangeKind.TEXT) == ["a price"]
    assert changes(significance=0.5) == ["new", "new", "new"]
    assert changes(since=1000.0) == ["a price"]
    assert changes(host=8) == []


def test_hosts_and_links(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = walk(lambda after: views.hosts(store, 1, after))
    assert sorted(host.origin for part in parts for host in part.rows) == ["http://e.org", "http://f.org"]
    monkeypatch.setattr(views, "STRETCH", 4)
    found = walk(lambda after: views.linking(store, url("5").id, after))
    assert [page for part in found for page in part.rows] == [url("0").id]


def test_an_empty_store(open_store: Callable[..., Store]) -> None:
    empty = open_store()
    assert views.urls(empty, 5) == views.changes(empty, 5) == views.hosts(empty, 5) == views.ListPart([], None)
    empty.close()


def test_what_readers_ask_for(store: Store) -> None:
    """Pages that are there, links from a page on, and failures in the order of commits."""
    failed = visit("4", outcome=Outcome.FAILED, status=403, at=70.0, digest=b"")
    gone = visit("2", outcome=Outcome.GONE, status=410, at=80.0, digest=b"")
    soon = visit("6", outcome=Outcome.RETRY, status=503, at=90.0, digest=b"")
    second = commit(2, [failed, gone, soon], changes={gone.id: Change(ChangeKind.GONE, 1.0, "", "gone")})
    second.settled[:] = [
        Settled(failed.id, State.FAILED, 1, 0.0, "status:403"), Settled(gone.id, State.GONE, 0, 0.0, ""),
        Settled(soon.id, State.QUEUED, 1, 95.0, "status:503"),
    ]  # fmt: skip
    store.commit(second)
    (failure,) = views.failures(store, 0, 10)
    assert failure[1:] == ("http://e.org/4", 70.0, "answered 403", "status:403")
    assert views.failures(store, failure.number, 10) == []
    there = views.current_versions(store, 0, 10, login=False)
    assert [each.version.title for each in there] == ["zero", "T"]
    assert views.current_versions(store, there[0].version.number, 10, login=False) == there[1:]
    last = views.versions_after(store, there[-1].version.number, 10)
    assert [each.version.kinds for each in last] == [ChangeKind.NEW, ChangeKind.GONE]
    assert [each.version.at for each in views.versions_with_content(store, gone.id)] == [60.0]
    assert views.gone_at(store, gone.id, 80.0) and not views.gone_at(store, gone.id, 79.0)
    (linked,) = views.links_after(store, None, 10)
    assert (linked.url, linked.targets) == ("http://e.org/0", ["http://e.org/5"])
    assert views.links_after(store, linked.page, 10) == []
