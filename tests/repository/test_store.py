"""The contract of a store, run on every kind of store."""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

from sanderling.errors import BadFolder, Damaged, DiskFails, DiskFull
from sanderling.model import (
    DUE_AT_ONCE,
    Change,
    ChangeKind,
    Commit,
    Counts,
    Found,
    Host,
    Kind,
    NewUrl,
    Outcome,
    Robots,
    Settled,
    State,
    Stored,
    Visit,
)
from sanderling.repository import views
from sanderling.repository.address import located
from sanderling.repository.disk import disk_trouble
from sanderling.repository.postgres import PostgresStore
from sanderling.repository.sqlite import SCHEMA, SqliteStore
from sanderling.repository.sqlite.database import _cannot_write
from sanderling.repository.store import Store
from sanderling.testing.postgres import PostgresServer
from sanderling.urls import identity

HOST = Host(7, "http://e.org")


Open = Callable[..., Store]


@pytest.fixture(params=["sqlite", "postgres"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the same store several times, for each kind of store."""
    if request.param == "sqlite":
        return partial(SqliteStore, tmp_path / "sanderling.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    return partial(PostgresStore, located(server.dsn, tmp_path) or "")


@pytest.fixture
def store(open_store: Open) -> Iterator[Store]:
    opened = open_store()
    yield opened
    opened.close()


def url(path: str, depth: int = 0, state: State = State.QUEUED, host: int = 7) -> NewUrl:
    text = f"http://e.org/{path}"
    return NewUrl(identity(text), text, host, depth, state, -float(depth), 0, 0, "", "")


def visit(path: str, number: int = 0, **more: object) -> Visit:
    facts = {"outcome": Outcome.PAGE, "status": 200, "at": 5.0, "size": 10, "digest": b"d" * 16, "title": "T", **more}
    return Visit(id=url(path).id, stored=Stored("a.warc.gz", number * 100, 100), **facts)  # type: ignore[arg-type]


def commit(number: int, visits: list[Visit], urls: list[NewUrl] | None = None, **more: object) -> Commit:
    settled = [Settled(v.id, State.FETCHED, 0, 0.0, "") for v in visits]
    facts = {"hosts": [HOST], "warcs": {"a.warc.gz": 1000}, "counts": Counts(pages=len(visits)), **more}
    return Commit("c1", number, urls or [], settled, visits, **facts)  # type: ignore[arg-type]


def test_a_new_store_is_empty(store: Store) -> None:
    assert store.counts() == Counts()
    assert store.seeds() == store.homes() == store.waiting() == list(store.pages()) == []
    assert store.next_wake() is None
    assert store.newest_version() == 0
    assert store.warcs() == {}


def test_seeds_are_queued_by_rank_and_host(store: Store) -> None:
    urls = [url("deep", 2), url("front"), url("out", 1, State.EXCLUDED), url("near", 1), url("x", 0, host=8)]
    store.seed(["http://e.org/front"], urls, [HOST, Host(8, "http://f.org")], Counts(known=5))
    assert store.seeds() == ["http://e.org/front"]
    assert sorted((w.host.origin, w.queued) for w in store.waiting()) == [("http://e.org", 3), ("http://f.org", 1)]
    taken = store.take(7, 10, set())
    assert [task.url for task in taken] == ["http://e.org/front", "http://e.org/near", "http://e.org/deep"]
    assert [task.depth for task in taken] == [0, 1, 2]
    assert store.depths() == {0: 2, 1: 1, 2: 1}


def test_leased_urls_are_not_taken_again(store: Store) -> None:
    store.seed([], [url(str(n)) for n in range(10)], [HOST], Counts())
    first = store.take(7, 4, set())
    rest = store.take(7, 10, {task.id for task in first})
    assert len(first) == 4
    assert len(rest) == 6
    assert not {t.id for t in first} & {t.id for t in rest}


def test_a_commit_is_whole_and_counts_once(store: Store) -> None:
    store.seed([], [url("a")], [HOST], Counts())
    linked = url("b", 1)
    links = linked.id.to_bytes(8, "little", signed=True)
    done = commit(1, [visit("a", links=links, found=[Found(linked.id, linked.url, "")])], [linked])
    assert store.commit(done)
    before = (list(store.pages()), store.counts(), list(store.edges()), store.warcs(), store.depths())
    assert not store.commit(done)
    assert (list(store.pages()), store.counts(), list(store.edges()), store.warcs(), store.depths()) == before
    (page,) = before[0]
    assert (page.url, page.status, page.visits, page.title, page.warc) == ("http://e.org/a", 200, 1, "T", "a.warc.gz")
    assert before[2] == [("http://e.org/a", ["http://e.org/b"])]
    assert before[3] == {"a.warc.gz": 1000}
    assert [task.url for task in store.take(7, 9, set())] == ["http://e.org/b"]


def test_a_failing_commit_changes_nothing(store: Store) -> None:
    store.seed([], [url("a")], [HOST], Counts(known=1))
    broken = commit(1, [visit("a")], [url("new"), url("new")])  # the same identity twice
    with pytest.raises(Exception, match=r"UNIQUE|unique|duplicate"):
        store.commit(broken)
    assert list(store.pages()) == []
    assert store.counts() == Counts(known=1)
    assert [task.url for task in store.take(7, 9, set())] == ["http://e.org/a"]


def test_a_second_visit_counts_changes_that_are_news(store: Store) -> None:
    store.seed([], [url("a")], [HOST], Counts())
    id = url("a").id
    text = Change(ChangeKind.TEXT, 0.4, "small", "1 of 3 paragraphs changed")
    noise = Change(ChangeKind.TEXT, 0.1, "small", "a counter", news=False)
    store.commit(commit(1, [visit("a", 0, at=1.0, fingerprint=b"p1")]))
    store.commit(commit(2, [visit("a", 0, outcome=Outcome.UNCHANGED, status=304, at=2.0, etag="e2")]))
    store.commit(commit(3, [visit("a", 0, outcome=Outcome.UNCHANGED, at=3.0)], noise={id: b"n"}))
    store.commit(commit(4, [visit("a", 1, at=4.0, digest=b"e" * 16, fingerprint=b"p2")], changes={id: text}))
    store.commit(commit(5, [visit("a", 2, at=5.0, digest=b"f" * 16)], changes={id: noise}, noise={id: b"m"}))
    (page,) = store.pages()
    assert (page.visits, page.changes, page.fetched_at, page.changed_at) == (5, 1, 5.0, 4.0)
    kept = store.before([id])[id]
    assert (kept.noise, kept.status, kept.stored) == (b"m", 200, Stored("a.warc.gz", 200, 100))
    first, second, third = store.versions(id)
    assert [row.kinds for row in (first, second, third)] == [ChangeKind.NEW, ChangeKind.TEXT, ChangeKind.TEXT]
    assert (second.significance, second.summary, second.news, third.news) == (0.4, text.summary, True, False)
    assert [row.number for row in store.changes()] == [third.number, second.number, first.number]
    assert [row.number for row in store.changes(before=third.number)] == [second.number, first.number]
    assert [row.number for row in store.changes_after(0, 2)] == [first.number, second.number]
    assert [row.number for row in store.changes_after(second.number, 9)] == [third.number]
    assert store.changes_after(third.number, 9) == []
    assert store.newest_version() == third.number
    assert third.title == "T"


def test_a_page_that_left_keeps_its_copy(store: Store) -> None:
    store.seed([], [url("a")], [HOST], Counts())
    gone = Change(ChangeKind.GONE, 1.0, "", "gone (404)")
    store.commit(commit(1, [visit("a", 0, at=1.0, fingerprint=b"p1")]))
    left = commit(2, [visit("a", 1, outcome=Outcome.GONE, status=404, at=2.0, title="")], changes={url("a").id: gone})
    left.settled[0] = left.settled[0]._replace(state=State.GONE)
    store.commit(left)
    (page,) = store.pages()
    assert (page.status, page.state, page.title, page.visits) == (404, "gone", "T", 2)
    assert store.before([url("a").id])[url("a").id].fingerprint == b"p1"
    assert [row.kinds for row in store.versions(url("a").id)] == [ChangeKind.NEW, ChangeKind.GONE]


def test_a_page_out_of_reach_is_asked_for_by_its_copy(store: Store) -> None:
    store.seed([], [url("a"), url("b")], [HOST], Counts())
    redirected = visit("b", 1, outcome=Outcome.REDIRECT, status=301, etag="r", at=1.0)
    store.commit(commit(1, [visit("a", 0, etag="e", at=1.0), redirected]))
    store.commit(commit(2, [visit("a", 2, outcome=Outcome.FAILED, status=403, at=2.0)]))
    known = store.before([url("a").id, url("b").id])
    assert [(each.ever, each.there) for each in (known[url("a").id], known[url("b").id])] == [
        (True, True),
        (False, False),
    ]
    tasks = {task.url: task for task in store.tasks([url("a").id, url("b").id])}
    assert (tasks["http://e.org/a"].etag, tasks["http://e.org/a"].digest) == ("e", b"d" * 16)
    assert (tasks["http://e.org/b"].etag, tasks["http://e.org/b"].digest) == ("", b"none")
    assert [*store.with_history()] == []
    store.commit(commit(3, [visit("a", 3, outcome=Outcome.UNCHANGED, status=304, at=3.0)]))
    assert {page.url: page.status for page in store.pages()}["http://e.org/a"] == 200
    store.commit(commit(4, [visit("a", 4, digest=b"e" * 16, at=4.0)]))
    assert [*store.with_history()] == [(url("a").id, 1)]


def test_what_is_due_again_is_taken_with_what_the_last_visit_brought(store: Store) -> None:
    store.seed([], [url("a"), url("b"), url("c")], [HOST], Counts())
    store.commit(commit(1, [visit("a", 0, etag="e", modified="m"), visit("b", 1)]))
    assert store.due(0.0, 99.0) == []
    assert store.next_due(0.0) is None
    store.revisit_all(50.0, sitemaps=True)
    assert store.due(0.0, 99.0) == [(7, 2)]
    assert store.due(50.0, 99.0) == []
    assert store.next_due(0.0) == 50.0
    assert store.take_due(7, 9, set(), 49.0) == []
    tasks = {task.url: task for task in store.take_due(7, 9, set(), 51.0)}
    assert tasks.keys() == {"http://e.org/a", "http://e.org/b"}
    assert (tasks["http://e.org/a"].etag, tasks["http://e.org/a"].modified) == ("e", "m")
    assert tasks["http://e.org/a"].digest == b"d" * 16
    assert [t.url for t in store.take_due(7, 9, {url("a").id}, 51.0)] == ["http://e.org/b"]
    assert [task.url for task in store.take(7, 9, set())] == ["http://e.org/c"]


def test_sitemaps_that_were_read_are_due_again_when_they_are_wanted(store: Store) -> None:
    maps = [url(name)._replace(kind=Kind.SOURCE) for name in ("read.xml", "missing.xml")]
    store.seed([], [url("a"), *maps], [HOST], Counts())
    settled = [Settled(maps[0].id, State.FETCHED, 0, 0.0, ""), Settled(maps[1].id, State.GONE, 0, 0.0, "answered 404")]
    store.commit(Commit("c1", 1, [], settled, [], [], {}, Counts()))
    assert store.sitemap_states() == {7: [(State.FETCHED, "", 1), (State.GONE, "answered 404", 1)]}
    store.revisit_all(50.0, sitemaps=False)
    assert store.due(0.0, 99.0) == []
    store.revisit_all(50.0, sitemaps=True)
    assert [(task.url, task.kind) for task in store.take_due(7, 9, set(), 51.0)] == [(maps[0].url, Kind.SOURCE)]


def test_another_try_waits_for_its_time(store: Store) -> None:
    store.seed([], [url("a"), url("b")], [HOST], Counts())
    later = Settled(url("a").id, State.QUEUED, 1, 50.0, "timed out")
    store.commit(commit(1, [], counts=Counts()).__class__("c1", 1, [], [later], [], [], {}, Counts()))
    assert [t.url for t in store.take(7, 9, set())] == ["http://e.org/b"]
    assert store.next_wake() == 50.0
    assert store.wake(49.0) == []
    assert store.wake(51.0) == [(7, 1)]
    assert store.next_wake() is None
    assert {t.attempts for t in store.take(7, 9, set())} == {0, 1}


def test_set_aside(store: Store) -> None:
    store.seed([], [url("a")], [HOST], Counts())
    store.set_aside(url("a").id, "deadly", Counts(failed=1))
    assert store.take(7, 9, set()) == []
    assert store.counts().failed == 1


def test_what_failed_is_tried_again(store: Store) -> None:
    counts = Counts(queued=3)
    store.seed([], [url("a"), url("b"), url("c")], [HOST], counts)
    settled = [
        Settled(url("a").id, State.FAILED, 4, 0.0, "answered 500"),
        Settled(url("b").id, State.GONE, 0, 0.0, ""),
    ]
    counts = Counts(queued=1, failed=1, gone=1)
    store.commit(commit(1, [], counts=counts).__class__("c1", 1, [], settled, [], [], {}, counts))
    counts = Counts(queued=2, gone=1)
    store.retry_failed(counts)
    assert store.counts() == counts
    tasks = store.take(7, 9, set())
    assert {(task.url, task.attempts) for task in tasks} == {("http://e.org/a", 0), ("http://e.org/c", 0)}


def test_known_texts_and_states(store: Store) -> None:
    store.seed([], [url("a"), url("b", 0, State.EXCLUDED)], [HOST], Counts())
    ids = [url("a").id, url("b").id, 12345]
    assert store.known(ids) == {
        ids[0]: ("http://e.org/a", State.QUEUED),
        ids[1]: ("http://e.org/b", State.EXCLUDED),
    }


def test_hosts_keep_their_robots(store: Store) -> None:
    robots = Robots(1.0, None, "User-agent: *", "robots.txt 200")
    store.seed([], [url("a")], [Host(7, "http://e.org", robots, 3.0, 0.5)], Counts())
    assert store.host(7) == Host(7, "http://e.org", robots, 3.0, 0.5)
    assert store.host(8) is None


def test_many_ids_at_once(store: Store) -> None:
    store.seed([], [url(str(n)) for n in range(2000)], [HOST], Counts())
    assert len(store.known([url(str(n)).id for n in range(3000)])) == 2000


def test_a_reader_sees_what_is_committed_while_another_writes(open_store: Open) -> None:
    writer = open_store()
    writer.seed([], [url("a")], [HOST], Counts(known=1))
    reader = open_store(readonly=True)
    assert reader.counts().known == 1
    writer.commit(commit(1, [visit("a")]))
    assert reader.counts().pages == 1
    assert [page.url for page in reader.pages()] == ["http://e.org/a"]
    reader.close()
    writer.close()


def test_what_is_committed_is_there_again(open_store: Open) -> None:
    first = open_store()
    first.seed(["http://e.org/a"], [url("a"), url("b")], [HOST], Counts(known=2))
    assert first.unknown({url("a").id: "http://e.org/a", url("c").id: "http://e.org/c"}) == [url("c").id]
    first.commit(commit(1, [visit("a")], [url("c", 1)]))
    assert first.unknown({url("c").id: "http://e.org/c"}) == []
    first.close()
    second = open_store()
    assert second.messages == []
    assert not second.commit(commit(1, [visit("a")], [url("c", 1)]))
    assert second.unknown({url("d").id: "http://e.org/d", url("c").id: "http://e.org/c"}) == [url("d").id]
    assert second.commit(commit(2, [visit("b", 1)], [url("d", 1)], warcs={"a.warc.gz": 2000, "b.warc.gz": 5}))
    assert second.warcs() == {"a.warc.gz": 2000, "b.warc.gz": 5}
    assert [task.url for task in second.take(7, 9, set())] == ["http://e.org/c", "http://e.org/d"]
    second.close()


def test_among_equals_who_came_first_is_first(store: Store) -> None:
    names = [f"{n}" for n in range(50)]
    store.seed([], [url(name) for name in names[:20]], [HOST], Counts())
    store.commit(commit(1, [], [url(name) for name in names[20:]]))
    assert [task.url.rpartition("/")[2] for task in store.take(7, 99, set())] == names


def test_a_page_twice_in_one_report(store: Store) -> None:
    store.seed([], [url("a")], [HOST], Counts())
    store.commit(commit(1, [visit("a", 0, at=1.0), visit("a", 1, at=2.0, digest=b"e" * 16)]))
    (page,) = store.pages()
    assert (page.visits, page.fetched_at) == (2, 2.0)


def test_odd_texts_are_stored(store: Store) -> None:
    odd = "zero \0 tab \t emoji \N{SNOWMAN} quote ' \" backslash \\N"
    store.seed([], [url("a")._replace(anchor=odd), url("b")], [HOST], Counts())
    bad = Settled(url("b").id, State.FAILED, 1, 0.0, odd)
    store.commit(commit(1, [visit("a", title=odd, etag=odd)], [url("c")._replace(anchor=odd)]))
    store.commit(Commit("c1", 2, [], [bad], [], [], {}, Counts()))
    (page,) = store.pages()
    assert page.title.replace("\N{REPLACEMENT CHARACTER}", "\0") == odd
    (failed,) = store.unanswered(State.FAILED)
    assert failed.reason.endswith("backslash \\N")


def test_a_damaged_or_newer_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sanderling.db"
    path.write_bytes(b"this is no database at all, whatever its name says" * 100)
    with pytest.raises(Damaged, match="cannot be read"):
        SqliteStore(path)
    path.unlink()
    store = SqliteStore(path)
    store._set("schema", str(SCHEMA + 1))
    store.close()
    with pytest.raises(BadFolder, match="newer"):
        SqliteStore(path)
    with pytest.raises(BadFolder, match="does not exist"):
        SqliteStore(tmp_path / "none.db", readonly=True)


def test_what_a_client_says_of_relevance_is_kept_and_shown_where_it_was_said(store: Store) -> None:
    said, unsaid = url("said", 1)._replace(relevance=0.75), url("unsaid", 1)
    store.seed([], [url("page"), url("plain")], [HOST], Counts())
    store.commit(commit(1, [visit("page", relevance=0.5), visit("plain", 1)], [said, unsaid]))
    assert dict(store.relevances()) == {said.id: 0.75, url("page").id: 0.5}
    shown = [msgspec.to_builtins(page) for page in (*store.pages(), *store.unanswered(State.QUEUED))]
    assert {row["url"][13:]: row["relevance"] for row in shown if "relevance" in row} == {"page": 0.5, "said": 0.75}
    store.commit(commit(2, [visit("page", 2, relevance=0.25), visit("said", 3, relevance=1.0)]))
    assert dict(store.relevances()) == {said.id: 1.0, url("page").id: 0.25}
    store.commit(commit(3, [visit("page", status=304, outcome=Outcome.UNCHANGED)]))
    assert dict(store.relevances())[url("page").id] == 0.25


def test_a_page_of_no_relevance_is_not_known_by_its_link(store: Store) -> None:
    """A page without text, or one that failed, is not on the topic, whatever its link promised."""
    promised = [url(name, 1)._replace(relevance=0.75) for name in ("empty", "waits")]
    store.seed([], [url("page")], [HOST], Counts())
    store.commit(commit(1, [visit("page", relevance=0.5)], promised))
    store.commit(commit(2, [visit("empty", 1, relevance=0.0)]))
    assert dict(store.relevances()) == {url("page").id: 0.5, promised[1].id: 0.75}
    assert dict(store.link_relevances()) == {each.id: 0.75 for each in promised}
    shown = views.url(store, promised[0].id)
    assert shown is not None
    assert shown.relevance == 0.0


def test_what_somebody_asked_for_is_due_before_all_others_and_not_forgotten(store: Store) -> None:
    store.seed([], [url("a"), url("b"), url("queued")], [HOST], Counts())
    store.commit(commit(1, [visit("a"), visit("b", 1)]))
    store.revisit_all(5.0, sitemaps=False)
    store.make_due([url("b").id, url("queued").id])
    assert [task.url for task in store.take_due(7, 5, set(), 9.0)] == ["http://e.org/b", "http://e.org/a"]
    store.forget_due()
    assert store.due(0.0, DUE_AT_ONCE) == [(7, 1)]
    assert [task.url for task in store.take(7, 5, set())] == ["http://e.org/queued"]


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull), (errno.EIO, DiskFails), (errno.EROFS, DiskFails)],
)
def test_trouble_with_the_disk_is_one_sentence_wherever_it_is_met(number: int, kind: type[DiskFull]) -> None:
    with pytest.raises(DiskFull, match="nothing committed is lost") as raised, disk_trouble():
        raise OSError(number, os.strerror(number))
    assert type(raised.value) is kind
    with pytest.raises(FileNotFoundError), disk_trouble():
        Path("/nonexistent").stat()


def test_a_disk_that_fails_is_not_called_full(tmp_path: Path) -> None:
    found = _cannot_write(sqlite3.OperationalError("disk I/O error"), tmp_path / "sanderling.db")
    assert isinstance(found, DiskFails) and "look after the disk" in str(found)
    full = _cannot_write(sqlite3.OperationalError("database or disk is full"), tmp_path / "sanderling.db")
    assert isinstance(full, DiskFull) and not isinstance(full, DiskFails)
    assert _cannot_write(sqlite3.OperationalError("no such table: x"), tmp_path / "sanderling.db") is None
