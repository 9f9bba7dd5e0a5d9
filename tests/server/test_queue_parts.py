"""From a found URL to the queue: admission, transitions and the order of visits, with a real
store."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from sanderling.model import Found, Host, Kind, NewUrl, Outcome, State, Task, Visit
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.frontier.admission import Admission
from sanderling.server.frontier.allocator import Allocator, TaskQueue
from sanderling.server.frontier.hosts import Hosts
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.frontier.ordering import Ordering
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.frontier.transition import Move, Transition, Transitions
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.settings import Settings
from sanderling.urls import identity

SEED, HOME = "http://e.org/", identity("http://e.org")
CLIENT = "0123456789ab"


class Queue(TaskQueue):
    """The parts under test, put together as the server does."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.store = SqliteStore(path / "sanderling.db")
        chosen = Settings(delay=0.0, **settings)
        self.seeds = Seeds(self.store, chosen, [SEED])
        self.hosts = Hosts(self.store)
        self.gate = Gatekeeper(self.store, self.hosts.find, self.seeds.objection, self.seeds.is_home, False)
        self.allocator = Allocator(chosen, self.gate.most_at_once, 1)
        self.allocator.join(CLIENT)
        self.ordering = Ordering(self.store, chosen, path, path)
        ledger = Ledger(self.store.counts())
        self.transitions = Transitions(self.store, ledger, self.hosts, self.allocator, self.seeds)
        self.admission = Admission(self.store, chosen, self.seeds, self.gate, self.hosts, self.ordering)

    def put(self, rows: list[NewUrl]) -> None:
        self.transitions.apply(Transition(rows), lambda _, hosts, counts: self.store.seed([SEED], rows, hosts, counts))

    def take(self, host: int, count: int, leased: Collection[int], /) -> list[Task]:
        return self.ordering.take(host, count, leased)

    def leased(self, want: int = 100) -> list[str]:
        found = self.allocator.lease(CLIENT, want, want, self)
        return [task.url for host in found for task in host.tasks]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[list[Queue]]:
    queues: list[Queue] = []
    yield queues
    for queue in queues:
        queue.ordering.close()
        queue.store.close()


def queue(made: list[Queue], path: Path, **settings: Any) -> Queue:
    made.append(Queue(path, **settings))
    return made[-1]


def mentioned(*urls: str, depth: int = 0, outcome: Outcome = Outcome.PAGE) -> tuple[Any, dict[int, Task]]:
    """URLs that the seed mentions, at a depth."""
    visit = Visit(id=identity(SEED), outcome=outcome)
    return [(Found(identity(url), url, ""), visit) for url in urls], {visit.id: Task(visit.id, SEED, depth, 0, 0)}


def row(path: str, rank: float, depth: int = 1) -> NewUrl:
    url = SEED + path
    return NewUrl(identity(url), url, HOME, depth, State.QUEUED, rank, 0, 0, "", "")


# ---- admission


def test_seeds_are_admitted_once_and_wherever_they_are(tmp_path: Path, made: list[Queue]) -> None:
    one = queue(made, tmp_path, include=("nothing",))
    (seed,) = one.admission.unknown_seeds()
    assert (seed.url, seed.depth, seed.state) == (SEED, 0, State.QUEUED)
    one.put([seed])
    assert one.admission.unknown_seeds() == []


def test_what_is_out_of_scope_or_too_deep_is_kept_with_the_reason(tmp_path: Path, made: list[Queue]) -> None:
    one = queue(made, tmp_path, max_depth=1)
    rows = one.admission.found(*mentioned(SEED + "a", "http://other.test/"))
    assert [(each.url, each.depth, each.state) for each in rows] == [
        (SEED + "a", 1, State.QUEUED), ("http://other.test/", 1, State.EXCLUDED),
    ]  # fmt: skip
    (deep,) = one.admission.found(*mentioned(SEED + "b", depth=1))
    assert (deep.state, deep.reason) == (State.EXCLUDED, "too-deep")
    assert not one.admission.reads_sitemaps


def test_the_target_of_a_redirect_is_as_near_as_its_source(tmp_path: Path, made: list[Queue]) -> None:
    one = queue(made, tmp_path)
    (target,) = one.admission.found(*mentioned(SEED + "new", depth=2, outcome=Outcome.REDIRECT))
    assert (target.depth, target.hops) == (2, 1)
    assert one.admission.reads_sitemaps


# ---- transitions


def test_a_host_gets_work_by_what_is_queued(tmp_path: Path, made: list[Queue]) -> None:
    one = queue(made, tmp_path)
    excluded = row("x", 0.0)._replace(state=State.EXCLUDED)
    one.put([row("a", 1.0), row("b", 2.0), excluded])
    assert one.allocator.waiting == 2
    assert sorted(one.leased()) == [SEED + "a", SEED + "b"]


def test_hosts_by_id_and_released_urls(tmp_path: Path, made: list[Queue]) -> None:
    one = queue(made, tmp_path)
    one.transitions.announce([(HOME, 5)])  # nobody knows that host
    assert one.allocator.waiting == 0
    one.store.seed([], [], [Host(HOME, "http://e.org")], one.store.counts())
    one.transitions.announce([(HOME, 5)])
    one.transitions.apply(Transition(moves=[Move(id, HOME, 1, State.KNOWN) for id in (1, 2)]))
    assert one.allocator.waiting == 7


# ---- order


def test_ranks_decide_unless_depth_is_limited(tmp_path: Path, made: list[Queue]) -> None:
    rows = [row("far-but-dear", 9.0, depth=3), row("near", -1.0, depth=1), row("between", -2.0, depth=2)]
    by_rank = queue(made, tmp_path)
    by_rank.put(rows)
    assert not by_rank.ordering.by_depth and by_rank.leased(1) == [SEED + "far-but-dear"]
    lengths = by_rank.ordering.list_lengths(3)
    assert lengths is not None and sum(lengths) == 3
    other = tmp_path / "other"
    other.mkdir()
    by_depth = queue(made, other, max_depth=5)
    assert by_depth.ordering.by_depth and by_depth.ordering.list_lengths(3) is None
    assert by_depth.ordering.rank(1) > by_depth.ordering.rank(2)


def test_an_order_can_be_changed_while_it_runs(tmp_path: Path, made: list[Queue]) -> None:
    one = queue(made, tmp_path)
    one.put([row("a", -3.0), row("b", -1.0)])
    one.ordering.change(Settings(order="breadth-first"))
    assert one.ordering.by_depth
    assert [task.url for task in one.ordering.take(HOME, 2, {identity(SEED + "b")})] == [SEED + "a"]
    one.ordering.change(Settings(order="backlinks"))
    assert not one.ordering.by_depth


def test_a_sitemap_that_is_mentioned_is_a_source(tmp_path: Path, made: list[Queue]) -> None:
    one = queue(made, tmp_path)
    ((found, visit),), tasks = mentioned(SEED + "sitemap.xml")
    (source,) = one.admission.found([(found._replace(kind=Kind.SOURCE), visit)], tasks)
    assert source.kind == Kind.SOURCE and source.state is State.QUEUED
