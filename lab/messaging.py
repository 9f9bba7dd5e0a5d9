"""Teams of crawlers whose messages take time: simulated crawls that end after a fixed time.

independent   each crawler has its own queue and follows every link; there are no messages
dependent     before each page, a crawler asks all others whether they have begun it, and waits
              for all answers
seed-server   a server knows all URLs; after each page a crawler reports its links, asks for a
              URL and waits for it
ours          the server leases pages in batches; a crawler asks for the next batch while it
              still has half of one, and the same message reports what it has fetched; while
              there is none, the answer waits, and what was fetched is reported alone
"""

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

import msgspec
import numpy as np

from lab.parallel import BATCH, Queue, starts
from lab.webs import Web

_SPREAD = 0.5  # of the logarithms of the download times


class Costs(msgspec.Struct, frozen=True):
    """What takes time, in seconds."""

    download: float = 0.2  # mean time of a page
    message: float = 0.05  # one way between two machines
    handling: float = 0.001  # of one message; a machine handles one at a time
    visit: float = 0.00012  # of one page in a report, at the server


class Timed:
    """A simulated crawl: events in the order of their times, and the pages in the order in which
    they were fetched."""

    def __init__(self, web: Web, costs: Costs) -> None:
        self.web, self.costs = web, costs
        self.now = 0.0
        self.visits: list[int] = []
        self.messages = 0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._chance = np.random.default_rng(1)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        self._number += 1
        heappush(self._events, (self.now + seconds, self._number, action))

    def download(self, page: int, then: Callable[[], None]) -> None:
        def fetched() -> None:
            self.visits.append(page)
            then()

        mean = np.log(self.costs.download) - _SPREAD**2 / 2
        self.after(float(self._chance.lognormal(mean, _SPREAD)), fetched)

    def links(self, page: int) -> list[int]:
        found: list[int] = self.web.graph.links_of(page).tolist()
        return found

    def run(self, seconds: float) -> None:
        while self._events and self._events[0][0] <= seconds:
            self.now, _, action = heappop(self._events)
            action()


class Independent(Timed):
    """Crawlers with their own queues, one page at a time. Each begins at a start page of its
    own."""

    def __init__(self, web: Web, costs: Costs, crawlers: int) -> None:
        super().__init__(web, costs)
        self.queues = [Queue() for _ in range(crawlers)]
        entries = starts(web, crawlers)
        for number, queue in enumerate(self.queues):
            queue.add(entries[number % len(entries)])
            self.work(number)

    def work(self, crawler: int) -> None:
        """Goes on with the next page of the queue. A crawler whose queue is empty rests: only its
        own pages fill it."""
        if (page := self.queues[crawler].next()) is not None:
            self.choose(crawler, page)

    def choose(self, crawler: int, page: int) -> None:
        self.visit(crawler, page)

    def visit(self, crawler: int, page: int) -> None:
        def fetched() -> None:
            for target in self.links(page):
                self.queues[crawler].add(target)
            self.work(crawler)

        self.download(page, fetched)


class Dependent(Independent):
    """The same crawlers, but each asks all others first. Two that ask at the same time both hear
    no."""

    def __init__(self, web: Web, costs: Costs, crawlers: int) -> None:
        self._begun: set[int] = set()
        self._busy = np.zeros(crawlers)  # until when each crawler handles messages
        super().__init__(web, costs, crawlers)

    def choose(self, crawler: int, page: int) -> None:
        others = len(self._busy) - 1
        self.messages += 2 * others
        self.after(self.costs.message, lambda: self._asked(crawler, page, others))

    def _asked(self, crawler: int, page: int, others: int) -> None:
        """The questions reach the others. The last of them to handle its question answers last."""
        taken = page in self._begun
        own = self._busy[crawler]
        self._busy = np.maximum(self._busy, self.now) + self.costs.handling
        self._busy[crawler] = own
        last = float(np.delete(self._busy, crawler).max(initial=self.now))
        self.after(last - self.now + self.costs.message, lambda: self._read(crawler, page, taken, others))

    def _read(self, crawler: int, page: int, taken: bool, others: int) -> None:
        self._busy[crawler] = read = max(float(self._busy[crawler]), self.now) + others * self.costs.handling
        self.after(read - self.now, lambda: self._answered(crawler, page, taken))

    def _answered(self, crawler: int, page: int, taken: bool) -> None:
        if taken:
            self.work(crawler)
            return
        self._begun.add(page)
        self.visit(crawler, page)


class Served(Timed):
    """Machines that lease pages from one server. `threads[n]` threads of machine n fetch the pages
    of part n.

    `owner` is the part of each page. Without it, all machines work on all pages.
    """

    def __init__(
        self, web: Web, costs: Costs, threads: Sequence[int], batch: int, owner: Sequence[int] | None = None
    ) -> None:
        super().__init__(web, costs)
        self._batch, self._owner = batch, owner
        self._queues = [Queue() for _ in (threads if owner else [0])]
        self._waiting = [0] * len(self._queues)  # pages in each queue
        self._known: set[int] = set()
        self._busy = 0.0  # until when the server handles messages
        self._leased: list[deque[int]] = [deque() for _ in threads]
        self._fetched: list[list[int]] = [[] for _ in threads]
        self._idle = list(threads)
        self._asking = [0] * len(threads)
        self._parked: list[deque[int]] = [deque() for _ in self._queues]  # machines that wait for an answer
        self._admit(web.seeds)
        for machine in range(len(threads)):
            self._go_on(machine)

    def _go_on(self, machine: int) -> None:
        while self._idle[machine] and self._leased[machine]:
            self._idle[machine] -= 1
            self._begin(machine, self._leased[machine].popleft())
        # A machine that leases one page at a time has one question under way for each idle thread,
        # others one in all.
        single = self._batch == 1
        while self._asking[machine] < (self._idle[machine] if single else 1):
            if not single and len(self._leased[machine]) >= self._batch / 2:
                return
            self._asking[machine] += 1
            report, self._fetched[machine] = self._fetched[machine], []
            self.messages += 2
            self.after(self.costs.message, lambda report=report: self._handle(machine, report))  # type: ignore[misc]
        if self._fetched[machine] and machine in self._parked[machine if self._owner else 0]:
            report, self._fetched[machine] = self._fetched[machine], []
            self.messages += 1
            self.after(self.costs.message, lambda: self._handle(machine, report, asks=False))

    def _begin(self, machine: int, page: int) -> None:
        def fetched() -> None:
            self._idle[machine] += 1
            self._fetched[machine].append(page)
            self._go_on(machine)

        self.download(page, fetched)

    def _handle(self, machine: int, report: list[int], asks: bool = True) -> None:
        """The message reaches the server, which answers when it has handled the messages before
        it."""
        self._busy = max(self._busy, self.now) + self.costs.handling + self.costs.visit * len(report)
        self.after(self._busy - self.now, lambda: self._answer(machine, report, asks))

    def _answer(self, machine: int, report: list[int], asks: bool) -> None:
        for page in report:
            self._admit(self.links(page))
        if asks:
            self._parked[machine if self._owner else 0].append(machine)
        for waiting in self._parked:
            for _ in range(len(waiting)):
                self._lease(waiting.popleft())

    def _lease(self, machine: int) -> None:
        """Answers a question. If there is nothing to fetch, the answer waits until there is, as it
        does in the product: nobody asks again and again."""
        part = machine if self._owner else 0
        if not self._waiting[part]:
            self._parked[part].append(machine)
            return
        sharing = 1 if self._owner else len(self._leased)
        lease: list[int] = []
        # Nobody gets more than an equal share of the queue: at the start, a batch for one would
        # leave none for others.
        for _ in range(min(self._batch, -(-self._waiting[part] // sharing))):
            if (found := self._queues[part].next()) is not None:
                lease.append(found)
        self._waiting[part] -= len(lease)
        self.after(self.costs.message, lambda: self._receive(machine, lease))

    def _receive(self, machine: int, lease: list[int]) -> None:
        self._leased[machine].extend(lease)
        self._asking[machine] -= 1
        self._go_on(machine)

    def _admit(self, pages: Sequence[int]) -> None:
        for page in pages:
            part = self._owner[page] if self._owner else 0
            if page not in self._known:
                self._known.add(page)
                self._waiting[part] += 1
            self._queues[part].add(page)


class Reported(Served):
    """A later day of ours: watchers at the sites report which pages were updated since they were
    visited. The first reading resets a report, so the server has each page once."""

    def __init__(self, web: Web, costs: Costs, crawlers: int, updated: frozenset[int]) -> None:
        self._updated = updated
        super().__init__(web, costs, [1] * crawlers, BATCH)
        self._admit(sorted(updated))

    def links(self, page: int) -> list[int]:
        """All of them are known."""
        return []

    def _admit(self, pages: Sequence[int]) -> None:
        super()._admit([page for page in pages if page in self._updated])


def crawl(team: str, web: Web, costs: Costs, crawlers: int) -> Timed:
    match team:
        case "independent":
            return Independent(web, costs, crawlers)
        case "dependent":
            return Dependent(web, costs, crawlers)
        case "seed-server":
            return Served(web, costs, [1] * crawlers, 1)
        case _:
            return Served(web, costs, [1] * crawlers, BATCH)
