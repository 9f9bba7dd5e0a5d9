"""The small parts of the frontier: limits, due times and hosts."""

from pathlib import Path

import pytest

from sanderling.errors import StoreAway
from sanderling.model import Host, NewUrl, Settled, State
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.frontier.due import DueTimes
from sanderling.server.frontier.hosts import Hosts
from sanderling.server.frontier.limits import UNLIMITED
from sanderling.server.store_absence import StoreAbsence
from sanderling.urls import identity
from tests.server.crawl_of_one import CrawlOfOne, page

SEED = "http://e.org/"
HOST = identity("http://e.org")


def row(path: str, state: State = State.QUEUED) -> NewUrl:
    url = f"http://e.org/{path}"
    return NewUrl(identity(url), url, HOST, 1, state, 0.0, 0, 0, "", "")


def test_a_limit_of_pages_counts_what_is_leased(tmp_path: Path) -> None:
    crawl = CrawlOfOne(tmp_path, [SEED], max_pages=3)
    limits = crawl.parts.frontier.limits
    assert limits.pages_left == 3 and limits.leases_left() == 3
    (seed,) = crawl.lease()
    assert limits.leases_left() == 2
    crawl.report(page(seed, *(f"http://e.org/{n}" for n in range(9))))
    assert limits.pages_left == 2 and len(crawl.lease()) == 2
    assert limits.leases_left() == 0 and crawl.lease() == []
    crawl.store.close()


def test_a_limit_of_bytes_ends_all_leases(tmp_path: Path) -> None:
    crawl = CrawlOfOne(tmp_path, [SEED], max_bytes=150)
    limits = crawl.parts.frontier.limits
    assert limits.bytes_left == 150 and limits.pages_left is None and limits.leases_left() == UNLIMITED
    (seed,) = crawl.lease()
    crawl.report(page(seed, "http://e.org/a", size=200))
    assert limits.bytes_left == 0 and limits.leases_left() == 0 and crawl.parts.frontier.exhausted()
    crawl.store.close()


def test_due_times_ask_the_store_only_when_something_is_due(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    store.seed([], [row("a"), row("b")], [Host(HOST, "http://e.org")], store.counts())
    due = DueTimes(store)
    assert due.step(1e12) == [] and not due.any_before(1e12)
    due.settled([Settled(row("a").id, State.QUEUED, 1, 50.0, ""), Settled(row("b").id, State.FETCHED, 0, 70.0, "")])
    assert due.any_before(60.0) and not due.any_before(50.0)
    assert due.step(40.0) == []
    store.close()


def test_hosts_are_one_object_for_all(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    hosts = Hosts(store)
    assert hosts.find(HOST) is None
    first = hosts.first_used([row("a"), row("b"), row("c", State.EXCLUDED)])
    assert list(first) == [HOST] and hosts.used(HOST) is None
    shared = hosts.use(first[HOST])
    assert hosts.use(Host(HOST, "http://e.org")) is shared is hosts.find(HOST)
    assert hosts.first_used([row("a")]) == {}
    store.close()


def test_a_database_that_is_away_is_waited_for_until_somebody_has_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.server.store_absence.PAUSE", 0.0)
    said: list[str] = []
    ending = False
    absence = StoreAbsence(said.append, lambda: ending)
    absence.wait("gone")
    absence.wait("gone")
    absence.wait("")
    assert absence.back_since > 0 and [text.split(" (")[0].split(" after")[0] for text in said] == [
        "the database is not available",
        "the database is back",
    ]
    ending = True
    with pytest.raises(StoreAway, match="stopped while the database was away"):
        absence.wait("gone")
