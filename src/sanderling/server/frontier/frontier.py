"""What is to be visited: hands out leases, takes them back with what came of them, and knows when
nothing is left."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from sanderling import clock
from sanderling.model import Before, Counts, Host, HostLease, Settled, State, Task, Visit, VisitReport
from sanderling.repository.store import FrontierStore
from sanderling.server.frontier import beginning
from sanderling.server.frontier.admission import Admission
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.asked_pages import AskedPages
from sanderling.server.frontier.collection import PageCollection, Swap
from sanderling.server.frontier.due import DueTimes
from sanderling.server.frontier.host_outage import HostOutages
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.frontier.limits import Limits
from sanderling.server.frontier.mentions import Mentions, mentions
from sanderling.server.frontier.ordering import Ordering
from sanderling.server.frontier.outage import Connectivity
from sanderling.server.frontier.queue import Queue
from sanderling.server.frontier.rescope import Rescoping
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.frontier.settling import settle_all, with_reasons
from sanderling.server.frontier.swapping import apply_swaps
from sanderling.server.frontier.transition import Transition, Transitions, Write, queued
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.holding import Lessons, Released
from sanderling.server.ranking.focus import Focus
from sanderling.server.revisits.refresher import Refresher
from sanderling.settings import Settings

if TYPE_CHECKING:  # loaded only by crawls that send forms
    from sanderling.server.frontier.form_queries import FormQueries, FormWork

# A run that has nothing else to do waits so long for what is to be tried again; the next run does
# the rest.
LONGEST_PATIENCE = 300.0


class FrontierParts(NamedTuple):
    """What a frontier is made of."""

    store: FrontierStore
    ledger: Ledger
    seeds: Seeds
    admission: Admission
    allocator: Allocator
    gate: Gatekeeper
    connectivity: Connectivity
    outages: HostOutages
    ordering: Ordering
    focus: Focus | None  # of a crawl with a topic
    transitions: Transitions
    queue: Queue
    limits: Limits
    due_times: DueTimes
    asked: AskedPages
    rescoping: Rescoping
    collection: PageCollection | None
    refresher: Refresher | None
    forms: "FormQueries | None"  # of a crawl that sends forms


class HeldVisits(NamedTuple):
    """A report, as far as its client held what it visited."""

    visits: list[Visit]
    tasks: dict[int, Task]
    hosts: list[Host]  # with new facts to keep
    answers: "FormWork | None"  # what the answers of forms brought


class Settlement(NamedTuple):
    """What came of visits."""

    settled: list[Settled]  # the state that each leaves its URL in
    excused: set[int]  # those that only the network is to blame for
    lessons: Lessons  # what they taught the gate


class Frontier:
    """The URLs of a crawl, from the moment when they are found until they need no visit any more.

    The life of a URL. It is *admitted* once: the scope and the gate decide whether it is queued,
    held back or excluded, and ranking where in the queue it stands. A client that has room gets a
    *lease*: the allocator goes through the hosts that this client may visit and asks the queue what
    comes next of each. The store knows a leased URL as queued, so a lease that is lost returns by
    itself. The client's *report* ends it. The URL is then fetched, gone, failed or excluded, or it
    waits for another try. What it links to is admitted in turn. When a page was visited, only the
    plan of a refresh, a round over all pages, or a person brings it back.

        found ─► admit ─► queued ─► lease ─► report ─► settle ─► fetched · gone · failed · excluded
                   │         ▲                            │               │
                   ▼         │                            └─ another try ─┤
             held · excluded ┘ (the gate or the scope changed)  ▲         └─ due again
                                                                └──────────────┘

    Every change of a state is a `Transition`, which `apply` counts, writes and announces in one
    step. The parts are private, and `assembly` puts them together. Others look at `counts`,
    `limits` and `leases`; clients join and leave the latter.
    """

    def __init__(self, parts: FrontierParts, settings: Settings, again: bool) -> None:
        """`again` visits every known page once more."""
        (
            self._store, self._ledger, self._seeds, self._admission, self._allocator, self._gate, self._connectivity,
            self._outages, self._ordering, self._focus, self._transitions, self._queue, self._limits, self._due_times,
            self._asked, self._rescoping, self._collection, self._refresher, self._forms,
        ) = parts  # fmt: skip
        self._settings = settings
        self._again = again

    # ---- a run

    def begin(self) -> list[str]:
        """Takes up what the last run left, and adds the work of this one. Returns messages for the
        user."""
        by_level = self._settings.max_depth is not None
        beginning.load_queue(self._store, self._allocator, self._transitions, by_level)
        message = ""
        if self._again:
            sitemaps = self._admission.reads_sitemaps
            message = beginning.visit_all_again(self._store, self._transitions, self._due_times, sitemaps)
        elif self._refresher is not None:
            beginning.begin_refresh(self._store, self._transitions, self._due_times, self._refresher)
        # Pages that a person asked for and the last run did not get to.
        self._transitions.announce(self._asked.load())
        beginning.plant_seeds(self._store, self._seeds, self._admission, self._transitions)
        self._rescope()
        return [message] if message else []

    def change(self, settings: Settings) -> None:
        """Goes on with other limits, another scope or another order."""
        self._settings = settings
        self._limits.change(settings)
        self._seeds.change(settings)
        self._ordering.change(settings)
        self._admission.change(settings)
        self._allocator.change_depth(settings.max_depth is not None, self._store.depths())
        self._rescope()

    def tick(self, now: float) -> None:
        """To be called now and then: brings up what is due, and does a little of what takes
        long."""
        self._transitions.announce(self._due_times.step(now))
        self._transitions.announce(self._asked.step(now))
        self._connectivity.step()
        if self._refresher is not None:
            self._transitions.announce(Counter(self._refresher.step(now, self.away)).items())
        self._ordering.step(self.counts.fetched)
        self._rescoping.step(not self._allocator.leased)
        if self._collection is not None and (swaps := self._collection.step(self.counts)):
            self._swap(self._collection, swaps)

    @property
    def awaiting(self) -> int:
        """How many pages that somebody asked for have not been visited yet."""
        return self._asked.count

    def exhausted(self) -> bool:
        """Whether nothing is left to visit, or the limits allow no more."""
        if self._allocator.leased or self._rescoping.running:
            return False
        if self._limits.bytes_left == 0:
            return True
        if self._limits.files_left and self._store.files_wait():
            return False
        if any(map(self._allocator.may_lease, self._asked.revisits())):
            return False
        now = clock.now()
        waits = self._due_times.any_before(now + LONGEST_PATIENCE) or self._connectivity.away
        idle = self._allocator.nothing_left() and not waits
        if self._refresher is not None:
            return self._refresher.over(idle, now)
        if self._collection is not None and self._limits.pages_left != 0 and self._collection.busy(self.counts):
            return False
        if self._limits.leases_left() <= 0:
            return True
        return idle and not self._let_go(self._gate.idle().released) and not self._ask_forms()

    def end_jobs(self) -> None:
        """Ends the processes that rank, refine and plan."""
        self._ordering.close()
        if self._collection is not None:
            self._collection.close()
        if self._refresher is not None:
            self._refresher.schedule.close()

    def close(self) -> None:
        """Keeps what hosts and forms taught since they were kept last."""
        if self._forms is not None:
            self._forms.keep(self._forms.last_words())
        self._seeds.keep_addresses()
        if hosts := self._gate.last_words():
            self.apply(Transition(hosts=hosts))

    # ---- a visit

    def lease(self, client: str, want: int) -> list[HostLease]:
        """Tasks for `want` connections of a client, as the limits allow."""
        room = self._connectivity.room(self._limits.leases_left(), self._allocator.leased)
        with self._transitions.quietly():
            hosts = self._allocator.lease(client, want, room, self._queue)
        return hosts if self._forms is None else self._forms.with_bodies(hosts)

    def reported(self, report: VisitReport) -> HeldVisits:
        """Takes note of how a client and its hosts are doing, and takes back what it returns.

        What the client does not hold any more was given to another, and is left out.
        """
        client = report.client
        self._allocator.hear(client, report.visits)
        self._allocator.take_back(client, report.returned)
        held = ((visit.id, self._allocator.held(client, visit.id)) for visit in report.visits)
        tasks = {id: task for id, task in held if task is not None}
        hosts = [host for note in report.hosts if (host := self._allocator.note(note, client)) is not None]
        visits = [self._gate.without_soft_404(each, tasks[each.id]) for each in report.visits if each.id in tasks]
        if self._forms is None or not (visits or hosts):
            return HeldVisits(visits, tasks, hosts, None)
        answers = self._forms.hear(visits, tasks)
        return HeldVisits(answers.visits, tasks, hosts, answers)

    def settle(self, visits: list[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before]) -> Settlement:
        """Ends the leases of what was visited, learns from it, and remembers when to try again what
        has to be. `before` is what was known of pages that were visited again."""
        excused = self._excused(visits)
        settled = settle_all(visits, tasks, before, excused, self._settings.retries, self._settings.retry_wait)
        visited = [(visit, tasks[visit.id]) for visit in visits]
        lessons = self._gate.learn(visited)
        settled = with_reasons(settled, lessons.reasons)
        if self._focus is not None:
            self._focus.learn(visited)
        return Settlement(self._end_leases(settled), set(excused), lessons)

    def admit(
        self, visits: list[Visit], tasks: Mapping[int, Task], lessons: Lessons, answers: "FormWork | None"
    ) -> Mentions:
        """Decides about the URLs that visits mention, and about what they release."""
        return mentions(self._store, self._seeds, self._admission, self._gate, visits, tasks, lessons, answers)

    def apply(self, change: Transition, write: Write | None = None) -> None:
        """Counts, writes and announces a change. `write` is for transactions that contain more."""
        self._transitions.apply(change, write)

    def let_through(self, ids: Iterable[int]) -> None:
        """URLs are not held back any more, whatever the gate has learned about their like."""
        self._gate.forget(ids)

    # ---- what others want to know

    @property
    def counts(self) -> Counts:
        """The totals."""
        return self._ledger.counts

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def leases(self) -> Allocator:
        """Who holds what."""
        return self._allocator

    @property
    def waiting(self) -> int:
        """URLs that wait for a visit: the first or, about, another."""
        revisits = self._again or self._refresher is not None
        return max(self._unvisited, self._allocator.waiting if revisits else 0)

    @property
    def away(self) -> bool:
        """Whether the network is away."""
        return self._connectivity.away

    @property
    def unreachable(self) -> list[str]:
        """Hosts that answered before and that this run no longer waits for."""
        return self._outages.given_up

    @property
    def rejudging(self) -> bool:
        """Whether known URLs are being brought in line with a scope that was changed."""
        return self._rescoping.running

    def list_lengths(self) -> list[int] | None:
        """About how long the three lists are; None when pages are visited in the order of their
        depth."""
        return self._ordering.list_lengths(self._unvisited)

    @property
    def _unvisited(self) -> int:
        return max(0, self.counts.queued - self._allocator.leased)

    # ---- parts of the above

    def _rescope(self) -> None:
        """Judges known URLs again if the settings that decide about them are other ones."""
        self._rescoping.begin(self._seeds.scope, self._seeds.centres, self._settings, self._ordering.by_depth)

    def _excused(self, visits: list[Visit]) -> dict[int, float]:
        """The visits that only the network or an outage of their host is to blame for, each with
        the seconds until it is tried again."""
        wait = self._settings.retry_wait
        hosts = [(visit, self._allocator.host_of(visit.id)) for visit in visits]
        if self._refresher is None:
            return dict.fromkeys(self._connectivity.hear(hosts), wait) | self._outages.hear(hosts)
        excused = self._connectivity.hear(hosts, self._refresher.hosts)
        for visit, host in hosts:
            self._refresher.settle(visit, host.id, visit.id in excused)
        return dict.fromkeys(excused, wait)

    def _end_leases(self, settled: list[Settled]) -> list[Settled]:
        """Returns what the store shall know."""
        if self._collection is not None:
            for each in settled:
                self._collection.settle(self._allocator.host_of(each.id).id, each.id)
        self._due_times.settled(settled)
        self._allocator.settle((each.id, each.state is State.QUEUED) for each in settled)
        return self._asked.settled(settled) if self._asked else settled

    def _swap(self, collection: PageCollection, swaps: list[Swap]) -> None:
        apply_swaps(swaps, collection, self._store, self._transitions, self._allocator)

    def _ask_forms(self) -> bool:
        """Queues the next queries of forms; False when there are none."""
        work = self._forms.idle() if self._forms is not None else None
        if self._forms is None or work is None:
            return False
        self._forms.keep(work.changes)
        self.apply(Transition(work.urls))
        return bool(work.urls)

    def _let_go(self, released: list[Released]) -> bool:
        """Queues what is held back no longer; False when there is nothing."""
        if released:
            self.apply(Transition(moves=queued(released)))
        return bool(released)
