"""How a running crawl is doing: for the one who started it, and for those who ask from outside."""

import os
import time
from collections.abc import Callable
from itertools import chain, islice

import msgspec

from sanderling.model import Counts, Live, PageRow, State
from sanderling.model.reasons import reason, sentence
from sanderling.repository.store import PageStore
from sanderling.server.frontier.frontier import Frontier
from sanderling.server.members.clients import Clients
from sanderling.server.requests.control import Control
from sanderling.server.requests.throughput import Throughput
from sanderling.server.revisits.observer import Observer
from sanderling.server.revisits.refresher import Refresher, Refreshing

# Whoever asks again within this many seconds gets the same answer, so that watching costs nothing
# more with many watchers.
ANSWER_AGE = 0.1
ACTIVE_HOSTS = 50
DISAPPOINTMENTS = 5


class CrawlProgress(msgspec.Struct, frozen=True):
    """How far a running crawl is."""

    counts: Counts
    leased: int
    hosts: int
    clients: int
    replaced: int
    seconds: float
    pages_left: int | None  # pages until their limit
    time_left: float | None = None
    bytes_left: int | None = None
    away: bool = False  # the network
    refresh: Refreshing | None = None
    waiting: int = 0  # URLs that wait for a visit, the first or another


OnProgress = Callable[[CrawlProgress], None]


class CrawlStatus:
    """Asks each part what it knows."""

    def __init__(
        self, frontier: Frontier, refresher: Refresher | None, observer: Observer, control: Control, clients: Clients,
        throughput: Throughput,
    ) -> None:  # fmt: skip
        self._frontier = frontier
        self._refresher = refresher
        self._observer = observer
        self._control = control
        self._clients = clients
        self._throughput = throughput
        self._live: Live | None = None
        self._looked_at = 0.0

    def progress(self) -> CrawlProgress:
        leases, limits = self._frontier.leases, self._frontier.limits
        return CrawlProgress(
            self._frontier.counts, leases.leased, leases.hosts, self._clients.connected, self._clients.replaced,
            self._control.seconds, limits.pages_left, self._control.time_left, limits.bytes_left, self._frontier.away,
            self._refresher.progress(self._observer.spared) if self._refresher is not None else None,
            self._frontier.waiting,
        )  # fmt: skip

    def forget(self) -> None:
        """Something was changed: the next answer is a fresh one."""
        self._live = None

    def live(self, stopping: bool) -> Live:
        """The answer for those who ask from outside."""
        if self._live is None or time.monotonic() - self._looked_at > ANSWER_AGE:
            self._live, self._looked_at = self.look(stopping), time.monotonic()
        return self._live

    def look(self, stopping: bool) -> Live:
        """The same, made now."""
        progress = self.progress()
        pages, visits, size = self._throughput.rates
        return Live(
            at=time.time(), pid=os.getpid(), seconds=progress.seconds, paused=self._control.paused,
            stopping=stopping or self._control.told_to_stop, counts=progress.counts, leased=progress.leased,
            waiting=self._frontier.waiting, hosts=progress.hosts, pages_left=progress.pages_left, replaced=progress.replaced,
            lists=self._frontier.list_lengths(), pages_per_second=pages, visits_per_second=visits,
            bytes_per_second=size, clients=self._clients.states(), active=self._frontier.leases.active(ACTIVE_HOSTS),
            mishaps=self._throughput.mishaps, away=progress.away, rejudging=self._frontier.rejudging,
            looked_up=self._throughput.looked_up, fetched=self._throughput.fetched,
            machines=self._clients.machines, wanted=self._clients.wanted_because,
        )  # fmt: skip


def sample_failures(store: PageStore) -> list[tuple[str, str]]:
    """Some URLs that brought no page, and why."""
    states = (State.FAILED, State.EXCLUDED, State.QUEUED)
    rows = chain(store.pages(), *map(store.unanswered, states))
    return [
        (row.url, row.reason or (sentence(reason("status", row.status)) if row.status else "not visited yet"))
        for row in islice(rows, DISAPPOINTMENTS)
    ]


def first_seeds(store: PageStore) -> list[PageRow]:
    """Some of the pages that the user named, and where they redirect to. Of few pages: it looks at
    all."""
    rows = chain(store.pages(), *map(store.unanswered, (State.FAILED, State.EXCLUDED)))
    return [*islice((row for row in rows if row.depth == 0), DISAPPOINTMENTS)]
