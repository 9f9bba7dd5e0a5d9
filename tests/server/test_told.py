"""Messages of sources: one commit each, nothing of other hosts, and calls within the budget."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from sanderling import clock
from sanderling.errors import RunFailed
from sanderling.freshness import trust
from sanderling.freshness.sources import TRIALS, SourceRecord, learn
from sanderling.model import (
    PLANNED_VISIT,
    Commit,
    Found,
    HintedEvent,
    NamedPage,
    NewUrl,
    Outcome,
    PlannedVisit,
    Reworked,
    Settled,
    State,
    Task,
    Told,
    Visit,
)
from sanderling.repository.address import located
from sanderling.repository.folder import Folder
from sanderling.repository.sqlite import SqliteStore
from sanderling.repository.store import Store
from sanderling.server.assembly import Parts, Purpose, assemble
from sanderling.server.ranking.reranker import FRONT
from sanderling.server.requests import inbox
from sanderling.server.revisits.calls import Calls
from sanderling.server.revisits.refresher import Beside, Refresher
from sanderling.server.revisits.schedule import VisitPlan, VisitSchedule
from sanderling.server.revisits.terms import Budget, Terms
from sanderling.settings import Settings
from sanderling.testing.postgres import PostgresServer
from sanderling.urls import identity

HOME = "http://e.org"
HOST = identity(HOME)


def always(host: int, source: str) -> bool:
    return True


@pytest.fixture(params=["folder", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        opened: Store = SqliteStore(tmp_path / "sanderling.db")
    else:
        from sanderling.repository.postgres import PostgresStore

        server: PostgresServer = request.getfixturevalue("postgres")
        opened = PostgresStore(located(server.dsn, tmp_path) or "")
    request.addfinalizer(opened.close)
    return opened


def page(name: str, at: float = 0.0, what: str = "changed", home: str = HOME) -> NamedPage:
    url = f"{home}/{name}"
    return NamedPage(identity(url), url, what, at or clock.now())  # type: ignore[arg-type]


def crawl(
    store: Store,
    tmp_path: Path,
    refresher: Refresher | None = None,
    say: Callable[[str], None] = print,
    **settings: object,
) -> Parts:
    purpose = Purpose(refresher=None if refresher is None else lambda _: refresher)
    parts = assemble(
        store, Settings(delay=0, **settings), [f"{HOME}/"], Folder(tmp_path), tmp_path, 1, purpose, None, say
    )  # type: ignore[arg-type]
    rows = [NewUrl(page(n).id, page(n).url, HOST, 1, State.QUEUED, 0.0, 0, 0, "", "") for n in ("old", "left-out")]
    parts.ledger.admitted(rows)
    parts.ledger.moved([(State.QUEUED, State.FETCHED), (State.QUEUED, State.EXCLUDED)])
    settled = [
        Settled(page("old").id, State.FETCHED, 0, 0.0, ""),
        Settled(page("left-out").id, State.EXCLUDED, 0, 0.0, "not-reported"),
    ]
    visits = [Visit(id=page("old").id, outcome=Outcome.PAGE, status=200, at=9.0)]
    store.commit(Commit("c", 1, rows, settled, visits, [], {}, parts.ledger.counts))
    return parts


def test_a_message_is_one_commit(store: Store, tmp_path: Path) -> None:
    parts = crawl(store, tmp_path)
    now = clock.now()
    pages = [page("old", now - 5), page("fresh"), page("left-out"), page("never-here", what="gone")]
    message = Told("report", HOME, pages, "cursor of it", "12")
    for _ in range(2):  # the same message twice changes nothing
        assert parts.change_hints.take_in(message) == ""
        assert store.seen([page("old").id])[page("old").id].report == pytest.approx(now - 5)
        known = store.known([each.id for each in pages])
        assert {text.rpartition("/")[2]: state for text, state in known.values()} == {
            "old": State.FETCHED, "fresh": State.QUEUED, "left-out": State.QUEUED,
        }  # fmt: skip
        assert store.noted("cursor of it") == "12"
        counts = store.counts()
        assert (counts.known, counts.queued, counts.fetched, counts.excluded) == (4, 3, 1, 0)
        assert counts == parts.ledger.counts
    record = trust.unpack(store.trust()[HOST]).sources["report"]
    assert record.named == 8 and record.since > 0
    subject = next(each for each in store.subjects() if each.id == page("old").id)
    assert subject.report == pytest.approx(now - 5) and subject.indexnow == 0.0


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (Told("indexnow", HOME, [page("a", home="http://other.org")]), "it names pages of other hosts"),
        (Told("indexnow", HOME, [page("a", home="http://e.org.evil.org")]), "it names pages of other hosts"),
        (Told("indexnow", "http://other.org", [page("a", home="http://other.org")]), "is no host of this crawl"),
        (Told("indexnow", HOME, [page("a")] * 10_001), "more than 10,000 pages"),
    ],
)
def test_what_is_not_believed_leaves_no_trace(tmp_path: Path, message: Told, why: str) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    parts = crawl(store, tmp_path)
    before = store.counts()
    assert why in parts.change_hints.take_in(message)
    assert store.counts() == before and not store.trust()
    store.close()


def test_what_scope_excludes_is_not_queued(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    parts = crawl(store, tmp_path, exclude=("/secret",))
    assert parts.change_hints.take_in(Told("indexnow", HOME, [page("secret")])) == ""
    assert store.known([page("secret").id])[page("secret").id][1] == State.EXCLUDED
    store.close()


@pytest.mark.parametrize("states", [0, 5])
def test_hints_reach_the_visit_of_a_crawl_that_looks_for_states(tmp_path: Path, states: int) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    parts = crawl(store, tmp_path, states=states)
    hint = HintedEvent("click", "#next")
    told = [page("fresh")._replace(events=(hint,)), page("plain")]
    assert parts.change_hints.take_in(Told("report", HOME, told)) == ""
    parts.frontier.leases.join("c")
    tasks = [task for host in parts.frontier.lease("c", 10) for task in host.tasks]
    given = {task.url: task.events for task in tasks}
    assert given == {f"{HOME}/": (), told[0].url: (hint,) if states else (), told[1].url: ()}
    store.close()


def test_messages_wait_in_the_folder(tmp_path: Path) -> None:
    first, second = Told("indexnow", HOME, [page("a")]), Told("indexnow", HOME, [page("b")])
    inbox.leave(tmp_path, first)
    inbox.leave(tmp_path, second)
    (tmp_path / inbox.FOLDER / "9.told").write_bytes(b"nonsense")
    assert [told for _, told in inbox.waiting(tmp_path)] == [first, second, None]


def test_a_full_inbox_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MOST_MESSAGES", 1)
    inbox.leave(tmp_path, Told("indexnow", HOME, [page("a")]))
    with pytest.raises(RunFailed, match="too many messages wait"):
        inbox.leave(tmp_path, Told("indexnow", HOME, [page("a")]))


def test_calls_end_with_the_belief_in_their_source() -> None:
    calls = Calls()
    calls.add(HOST, "indexnow", range(100), at=5.0, most=10)
    first = [calls.next(always) for _ in range(3)]
    assert [each.id for each in first if each] == [0, 1, 2]
    assert not calls.settle(0, at=4.0)  # that visit began before the call: it is made again
    assert calls.settle(1, at=6.0) and not calls.settle(1, at=6.0)
    assert calls.next(lambda host, source: False) is None and not calls
    calls.add(HOST, "indexnow", [50], at=7.0, most=10)
    assert (call := calls.next(always)) is not None and call.id == 50


def test_a_source_that_was_right_may_name_more_at_a_time() -> None:
    record, allowed = SourceRecord(since=1.0, heard=1.0), list[float]()
    for visit in range(100):
        allowed.append(record.allowance)
        record = learn(record, "report", 2.0 + visit, 1.5 + visit, 3.0 + visit, True, 0.1)
    assert allowed[:10] == [TRIALS] * 10 and 30 <= allowed[10] <= 40
    assert allowed == sorted(allowed) and allowed[30] > 80 and allowed[-1] == math.inf
    for visit in range(100, 104):
        record = learn(record, "report", 2.0 + visit, 1.5 + visit, 3.0 + visit, False, 0.1)
    assert not record.is_heeded


def test_a_fixed_budget_waits_for_pages_that_were_named(tmp_path: Path) -> None:
    refresher = Refresher(Terms(Budget(80.0)), VisitSchedule(["true"], tmp_path / "plan", repeat=False))
    refresher.schedule.step = lambda: None  # type: ignore[method-assign]
    turns = [PlannedVisit(id, HOST, 1.0, math.inf, 0.0, 1.0) for id in range(1000, 1200)]
    refresher.schedule.plan = VisitPlan(b"".join(PLANNED_VISIT.pack(*each) for each in turns), 200, 0, 0, 0, 0)
    refresher.calls.refilled()
    refresher.calls.add(HOST, "report", range(60), 5.0, 10)
    assert len(refresher.step(9.0)) == 10 + 20 and not refresher.over(idle=True, now=9.0)
    seen = set(refresher.ids(HOST, 100, ()))
    assert len(seen & set(range(60))) == 10
    for most in (40, 160):  # as its first words were right
        for id in sorted(seen):
            refresher.settle(Visit(id=id, outcome=Outcome.PAGE, status=200, at=12.0), HOST, excused=False)
        assert refresher.calls.is_short
        refresher.calls.refilled()
        refresher.calls.add_again(HOST, "report", range(60), 11.0, most)
        refresher.step(9.0)
        seen = set(refresher.ids(HOST, 100, ()))
    assert refresher.spent + len(seen) == 80 and len(seen) == 10
    for id in seen:
        refresher.settle(Visit(id=id, outcome=Outcome.PAGE, status=200, at=12.0), HOST, excused=False)
    assert refresher.over(idle=True, now=9.0) and not refresher.calls.unsent


@pytest.mark.parametrize(("relevance", "calls"), [(0.1, 0), (0.9, 1)])
def test_pages_off_the_topic_wait_for_the_plan(tmp_path: Path, relevance: float, calls: int) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    refresher = Refresher(Terms(Budget(80.0)), VisitSchedule(["true"], tmp_path / "plan", repeat=False))
    parts = crawl(store, tmp_path, refresher=refresher, topic="birds", order="topic")
    old = page("old").id
    visits = [Visit(id=old, outcome=Outcome.PAGE, status=200, at=10.0, digest=b"d", relevance=relevance)]
    store.commit(Commit("c", 2, [], [Settled(old, State.FETCHED, 0, 0.0, "")], visits, [], {}, parts.ledger.counts))
    assert store.seen([old])[old].relevance == pytest.approx(relevance)
    parts.change_hints.take_in(Told("indexnow", HOME, [page("old"), page("fresh")]))
    assert refresher.calls.unsent == calls
    assert all(rank < FRONT for rank in store.ranks(10))
    store.close()


def test_what_was_named_and_could_not_be_visited_is_not_tried_for_ever() -> None:
    calls = Calls()
    calls.add(HOST, "report", range(3), at=5.0, most=2)
    for _ in range(2):
        assert (call := calls.next(always)) is not None and calls.settle(call.id, at=6.0)
    calls.refilled()
    calls.add_again(HOST, "report", range(3), at=7.0, most=2)
    assert (call := calls.next(always)) is not None and call.id == 2
    assert calls.next(always) is None and not calls.is_short
    calls.add(HOST, "report", [0], at=8.0, most=2)  # named once more
    assert calls.next(always) is not None


def test_calls_of_a_host_that_is_left_alone_wait() -> None:
    calls, alone = Calls(), {1}
    calls.add(1, "report", [10, 11], at=5.0, most=10)
    calls.add(2, "report", [20], at=5.0, most=10)
    assert (call := calls.next(always, alone)) is not None and call.id == 20
    assert calls.next(always, alone) is None and calls
    alone.clear()
    assert [call.id for call in (calls.next(always, alone), calls.next(always, alone)) if call] == [10, 11]


def test_the_best_rank_is_visited_first() -> None:
    calls = Calls()
    calls.add(1, "report", [10, 11, 12], at=5.0, most=2, ranks={11: 0.9, 12: 0.5})
    calls.add(2, "report", [20, 21], at=5.0, most=10, ranks={20: 0.7})
    assert calls.unsent == 5
    calls.refilled()
    calls.add_again(1, "report", [10, 11, 12], at=6.0, most=10)  # the store does not know ranks
    calls.add(3, "indexnow", [30], at=5.0, most=10)
    assert [call.id for _ in range(6) if (call := calls.next(always))] == [11, 20, 12, 21, 10, 30]


def test_planned_visits_wait_until_the_other_crawler_has_gone(store: Store, tmp_path: Path) -> None:
    terms = Terms(Budget(3600.0, period=1.0), forever=True)
    said: list[str] = []
    refresher = Refresher(
        terms, VisitSchedule(["true"], tmp_path / "plan", repeat=False), Beside(always, lambda: False, said.append)
    )
    refresher.schedule.step = lambda: None  # type: ignore[method-assign]
    parts = crawl(store, tmp_path, refresher, said.append)
    turn = PlannedVisit(page("old").id, HOST, 1.0, 86_400.0, 0.0, 1.0)
    refresher.schedule.plan = VisitPlan(PLANNED_VISIT.pack(*turn), 1, 0.0, 0.0, 0.0, 0.0)
    now = clock.now()
    parts.change_hints.take_in(Told("report", HOME, [], taken_until=now + 60))
    refresher._filled_at -= 5.0
    assert refresher.step(now) == [] and len(said) == 1 and "visited after that" in said[0]
    parts.change_hints.take_in(Told("report", HOME, [], taken_until=now + 60))
    assert len(said) == 1  # said once
    parts.change_hints.step(now + 61)
    assert refresher.step(now + 61) == [HOST]


def test_links_that_a_proven_report_does_not_name_are_known_and_not_fetched(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    parts = crawl(store, tmp_path)
    admission, observer = parts.frontier._admission, parts.observer
    found = Found(page("linked").id, page("linked").url, "a link")
    visit, task = Visit(id=1, outcome=Outcome.PAGE, found=[found]), Task(1, f"{HOME}/", 0, 0, 0)
    now = clock.now()
    message = Told("report", HOME, [page("old")], silence_until=now, complete=True)
    parts.change_hints.take_in(message)
    assert [row.state for row in admission.found([(found, visit)], {1: task})] == [
        State.QUEUED
    ]  # nothing is proven yet
    proven = SourceRecord(since=1.0, heard=now / 86_400, true=40.0, unnamed=100.0, expected=100.0, complete=True)
    observer._trusted()[HOST] = trust.Trust(sources={"report": proven})
    parts.change_hints.take_in(message)
    (row,) = admission.found([(found, visit)], {1: task})
    assert (row.state, row.reason) == (State.EXCLUDED, "not-reported")
    parts.ledger.admitted([row])
    store.rework([], [row], [], parts.ledger.counts)
    # The report names it after all.
    parts.change_hints.take_in(Told("report", HOME, [page("linked")], silence_until=now, complete=True))
    assert store.known([row.id])[row.id][1] == State.QUEUED
    # Or the report is no longer proven: then links are followed as on any host.
    store.rework([Reworked(row.id, State.EXCLUDED, "not-reported")], [], [], parts.ledger.counts)
    parts.ledger.moved([(State.QUEUED, State.EXCLUDED)])
    observer._trusted()[HOST] = trust.Trust(sources={"report": proven._replace(missed=40.0)})
    parts.change_hints.step(now)
    assert store.known([row.id])[row.id][1] == State.QUEUED and not admission.reported
    assert store.counts() == parts.ledger.counts
    store.close()


def test_links_left_out_before_a_crash_are_followed_when_the_report_has_died(store: Store, tmp_path: Path) -> None:
    parts = crawl(store, tmp_path)
    long_ago = clock.now() - 86_400
    parts.change_hints.take_in(Told("report", HOME, [page("old")], silence_until=long_ago, complete=True))
    reading = [True]  # the report may still be read
    refresher = Refresher(
        Terms(Budget(9.0)), VisitSchedule(["true"], tmp_path / "plan", repeat=False), Beside(always, lambda: reading[0])
    )
    again = assemble(
        store, Settings(delay=0), [f"{HOME}/"], Folder(tmp_path), tmp_path, 1, Purpose(refresher=lambda _: refresher)
    )
    again.change_hints.step(clock.now())
    left_out = page("left-out").id
    assert store.known([left_out])[left_out][1] == State.EXCLUDED
    reading[0] = False
    again.change_hints.step(clock.now())
    assert store.known([left_out])[left_out][1] == State.QUEUED
    assert store.counts() == again.ledger.counts


def test_what_was_named_before_a_crash_is_found_in_the_store(store: Store, tmp_path: Path) -> None:
    parts = crawl(store, tmp_path)
    assert store.named_pages(10) == []
    parts.change_hints.take_in(Told("indexnow", HOME, [page("old"), page("fresh")]))
    assert store.named_pages(10) == [(page("old").id, HOST, "indexnow")]
