"""The queued URLs of a host, checked once more when it is their turn: more may be known than when
they were admitted."""

from collections import Counter
from collections.abc import Collection

from sanderling.crawling.ledger import Ledger
from sanderling.crawling.rescope import Rescoping
from sanderling.model import NewUrl, Reworked, State, Task
from sanderling.repository.store import FrontierStore
from sanderling.server.allocator import Allocator
from sanderling.server.backlog import Backlog
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.hosts import Hosts
from sanderling.server.ordering import Ordering


class QueuedUrls:
    """Takes URLs that were never visited from the queue."""

    def __init__(
        self, store: FrontierStore, ledger: Ledger, allocator: Allocator, gate: Gatekeeper, hosts: Hosts, ordering: Ordering,
        rescoping: Rescoping, backlog: Backlog,
    ) -> None:  # fmt: skip
        self._store = store
        self._ledger = ledger
        self._allocator = allocator
        self._gate = gate
        self.hosts = hosts
        self._ordering = ordering
        self._rescoping = rescoping
        self._backlog = backlog
        self.worth = ordering.worth
        self._admitted: list[NewUrl] = []  # and not announced: the allocator is busy with a lease

    def take(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """Up to `count` URLs of a host that the scope and the gate let pass; the others are held
        back or excluded."""
        tasks = self._ordering.take(host, count, leased)
        if not self._gate.strict(host) and not self._rescoping.running:
            return tasks
        passed: list[Task] = []
        while tasks:
            stopped = {task.id: verdict for task in tasks if (verdict := self._objection(task, host))}
            passed += [task for task in tasks if task.id not in stopped]
            if not stopped:
                break
            self._stop([task for task in tasks if task.id in stopped], stopped)
            tasks = self._store.take(host, count - len(passed), {*leased, *(task.id for task in passed)})
        return passed

    def announce_admitted(self) -> None:
        """Adds what the gate admitted in place of others to the backlog. To be called when no lease
        is being made."""
        if self._admitted:
            admitted, self._admitted = self._admitted, []
            self._backlog.add_urls(admitted)

    def _objection(self, task: Task, host: int) -> tuple[Reworked, list[NewUrl]] | None:
        """Why a queued URL is not visited after all: the scope was changed, or the gate has
        learned."""
        if (left := self._rescoping.objection(task)) is not None:
            return left, []
        return self._gate.recheck(task, host, self._store.unknown) if self._gate.strict(host) else None

    def _stop(self, tasks: list[Task], verdicts: dict[int, tuple[Reworked, list[NewUrl]]]) -> None:
        urls = list({row.id: row for _, rows in verdicts.values() for row in rows}.values())
        changes = [change for change, _ in verdicts.values()]
        self._allocator.add_depths({depth: -count for depth, count in Counter(task.depth for task in tasks).items()})
        self._ledger.moved((State.QUEUED, change.state) for change in changes)
        self._ledger.admitted(urls)
        self._store.rework(changes, urls, list(self.hosts.first_used(urls).values()), self._ledger.counts)
        self._admitted += urls
