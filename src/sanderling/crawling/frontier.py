"""What is to be visited: hands out leases, takes them back with what came of them, and knows when
nothing is left.

The parts, each in a file of its own: `seeds` (what the user named, and the scope), `admission`
(from a found URL to rows), `backlog` (which hosts have work), `next_tasks` (what a host is visited
for next), `limits` and `due_times`. `assembly` puts them together.
"""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from sanderling import clock
from sanderling.crawling.asked_pages import AskedPages
from sanderling.crawling.collection import PageCollection
from sanderling.crawling.due_times import DueTimes
from sanderling.crawling.host_outage import HostOutages
from sanderling.crawling.ledger import Ledger
from sanderling.crawling.limits import Limits
from sanderling.crawling.next_tasks import NextTasks
from sanderling.crawling.outage import Network
from sanderling.crawling.queued_urls import QueuedUrls
from sanderling.crawling.rescope import Rescoping
from sanderling.crawling.swapping import apply_swaps
from sanderling.model import HostLease, Report, Reworked, Settled, State, Visit
from sanderling.refreshing.refresher import Refresher
from sanderling.repository.store import FrontierStore
from sanderling.server.admission import Admission
from sanderling.server.allocator import Allocator
from sanderling.server.backlog import Backlog
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.holding import Released
from sanderling.server.ordering import Ordering
from sanderling.server.seeds import Seeds
from sanderling.settings import Settings

if TYPE_CHECKING:  # loaded only by crawls that send forms
    from sanderling.crawling.form_queries import FormQueries

# A run that has nothing else to do waits so long for what is to be tried again; the next run does
# the rest.
LONGEST_PATIENCE = 300.0


class Frontier(Struct, frozen=True, kw_only=True, eq=False):
    """The URLs of a crawl that are not visited yet, or are due again."""

    store: FrontierStore
    ledger: Ledger
    seeds: Seeds
    admission: Admission
    allocator: Allocator
    gate: Gatekeeper
    network: Network
    outages: HostOutages
    ordering: Ordering
    backlog: Backlog
    queued: QueuedUrls
    next_tasks: NextTasks
    limits: Limits
    due_times: DueTimes
    asked: AskedPages
    rescoping: Rescoping
    collection: PageCollection | None
    refresher: Refresher | None
    forms: "FormQueries | None"
    again: bool

    def change(self, settings: Settings) -> None:
        """Goes on with other limits, another scope or another order."""
        self.limits.change(settings)
        self.seeds.change(settings)
        self.ordering.change(settings)
        self.admission.change(settings)
        self.allocator.change_depth(settings.max_depth is not None, self.store.depths())
        self.rescoping.begin(self.seeds.scope, self.seeds.centres, settings, self.ordering.by_depth)

    def notify(self, on_notice: Callable[[str], None]) -> None:
        """Says to whom the user's notices go."""
        self.network.on_notice = self.outages.on_notice = on_notice
        if self.refresher is not None:
            self.refresher.on_notice = on_notice

    @property
    def waiting(self) -> int:
        """URLs that wait for a visit: the first or, about, another."""
        revisits = self.again or self.refresher is not None
        return max(self._unvisited, self.allocator.waiting if revisits else 0)

    def list_lengths(self) -> list[int] | None:
        """About how long the three lists are; None when pages are visited in the order of their
        depth."""
        return self.ordering.list_lengths(self._unvisited)

    @property
    def _unvisited(self) -> int:
        return max(0, self.ledger.counts.queued - self.allocator.leased)

    def lease(self, client: str, want: int) -> list[HostLease]:
        """Tasks for `want` connections of a client, as the limits allow."""
        room = self.network.room(self.limits.leases_left(), self.allocator.leased)
        hosts = self.allocator.lease(client, want, room, self.next_tasks.take)
        self.queued.announce_admitted()
        return hosts if self.forms is None else self.forms.with_bodies(hosts)

    @property
    def away(self) -> bool:
        """Whether the network is."""
        return self.network.away

    @property
    def rejudging(self) -> bool:
        """Whether known URLs are being brought in line with a scope that was changed."""
        return self.rescoping.running

    def reported(self, report: Report) -> None:
        """Takes note of how fast a client is, and takes back what it was told to return."""
        self.allocator.hear(report.client, report.visits)
        self.allocator.take_back(report.client, report.returned)

    def hear(self, visits: list[Visit], retry_wait: float) -> dict[int, float]:
        """Takes note of what came of visits.

        Returns those that only the network or an outage of their host is to blame for, each with
        the seconds until it is tried again.
        """
        hosts = [(visit, self.allocator.host_of(visit.id)) for visit in visits]
        if self.refresher is None:
            return dict.fromkeys(self.network.hear(hosts), retry_wait) | self.outages.hear(hosts)
        excused = self.network.hear(hosts, self.refresher.hosts)
        for visit, host in hosts:
            self.refresher.settle(visit, host.id, visit.id in excused)
        return dict.fromkeys(excused, retry_wait)

    def settle(self, settled: list[Settled]) -> list[Settled]:
        """Ends the leases of what was visited, and remembers when to try again what has to be.

        Returns what the store shall know.
        """
        if self.collection is not None:
            for each in settled:
                self.collection.settle(self.allocator.host_of(each.id).id, each.id)
        self.due_times.settled(settled)
        self.allocator.settle((each.id, each.state is State.QUEUED) for each in settled)
        return self.asked.settled(settled)

    def tick(self, now: float) -> None:
        """To be called now and then: brings up what is due, and does a little of what takes
        long."""
        self.backlog.add_all(self.due_times.step(now))
        self.backlog.add_all(self.asked.step(now))
        self.network.step()
        if self.refresher is not None:
            self.backlog.add_all(Counter(self.refresher.step(now, self.network.away)).items())
        counts = self.ledger.counts
        self.ordering.step(counts.fetched)
        self.backlog.add_urls(self.rescoping.step(self.ledger, not self.allocator.leased))
        if self.collection is not None and (swaps := self.collection.step(counts)):
            newcomers = apply_swaps(swaps, self.collection, self.store, self.ledger, self.allocator)
            self.backlog.add_all(newcomers)

    def exhausted(self) -> bool:
        """Whether nothing is left to visit, or the limits allow no more."""
        if self.allocator.leased or self.rescoping.running:
            return False
        if self.limits.bytes_left == 0:
            return True
        if any(map(self.allocator.may_lease, self.asked.revisits())):
            return False
        now = clock.now()
        waits = self.due_times.any_before(now + LONGEST_PATIENCE) or self.network.away
        idle = self.allocator.nothing_left() and not waits
        if self.refresher is not None:
            return self.refresher.over(idle, now)
        if self.collection is not None and self.limits.pages_left != 0 and self.collection.busy(self.ledger.counts):
            return False
        if self.limits.leases_left() <= 0:
            return True
        return idle and not self._let_go(self.gate.idle().released) and not self._ask_forms()

    def end_jobs(self) -> None:
        """Ends the processes that rank, refine and plan."""
        self.ordering.close()
        if self.collection is not None:
            self.collection.close()
        if self.refresher is not None:
            self.refresher.schedule.close()

    def close(self) -> None:
        """Keeps what hosts and forms taught since they were kept last."""
        if self.forms is not None:
            self.forms.keep(self.forms.last_words())
        self.seeds.keep_addresses()
        if hosts := self.gate.last_words():
            self.store.rework([], [], hosts, self.ledger.counts)

    def _ask_forms(self) -> bool:
        """Queues the next queries of forms; False when there are none."""
        work = self.forms.idle() if self.forms is not None else None
        if self.forms is None or work is None:
            return False
        self.forms.keep(work.changes)
        if work.urls:
            hosts = self.queued.hosts.first_used(work.urls)
            self.store.rework([], work.urls, list(hosts.values()), self.ledger.counts)
            self.backlog.add_urls(work.urls, hosts)
        return bool(work.urls)

    def _let_go(self, released: list[Released]) -> bool:
        """Queues what is held back no longer; False when there is nothing."""
        if released:
            self.ledger.moved((each.was, State.QUEUED) for each in released)
            self.store.rework([Reworked(each.id, State.QUEUED, "") for each in released], [], [], self.ledger.counts)
            self.backlog.add_released(released)
        return bool(released)
