"""What a host is visited for next: what a person asked for, URLs that are new, those due again, and
planned visits.

Queued URLs are checked once more when it is their turn: more may be known than when they were
admitted.
"""

import math
from collections.abc import Collection

from sanderling import clock
from sanderling.model import NewUrl, Reworked, State, Task
from sanderling.repository.store import FrontierStore
from sanderling.server.frontier.allocator import TaskQueue
from sanderling.server.frontier.asked_pages import AskedPages
from sanderling.server.frontier.collection import PageCollection
from sanderling.server.frontier.event_hints import EventHints
from sanderling.server.frontier.limits import Limits
from sanderling.server.frontier.ordering import Ordering
from sanderling.server.frontier.requisites import RANK
from sanderling.server.frontier.rescope import Rescoping
from sanderling.server.frontier.transition import Move, Transition, Transitions
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.revisits.observer import Observer
from sanderling.server.revisits.refresher import Refresher


class Queue(TaskQueue):
    """Chooses the tasks of a lease, host by host, as the limits allow."""

    def __init__(
        self, store: FrontierStore, gate: Gatekeeper, ordering: Ordering, rescoping: Rescoping, transitions: Transitions,
        limits: Limits, collection: PageCollection | None, refresher: Refresher | None, observer: Observer,
        asked: AskedPages, hints: EventHints, again: bool,
    ) -> None:  # fmt: skip
        self._store = store
        self._gate = gate
        self._ordering = ordering
        self._rescoping = rescoping
        self._transitions = transitions
        self._limits = limits
        self._collection = collection
        self._refresher = refresher
        self._observer = observer
        self._asked = asked
        self._hints = hints
        self._again = again

    def take(self, host: int, count: int, leased: Collection[int], /) -> list[Task]:
        """Up to `count` tasks of a host, without those that are leased."""
        tasks = self._take(host, count, leased)
        return self._hints.give(tasks) if self._hints else tasks

    @property
    def is_selective(self) -> bool:
        return self._ordering.is_focused

    @property
    def at_once(self) -> int | None:
        return self._ordering.at_once if self._refresher is None and not self._again else None

    def worth(self, host: int, count: int, leased: Collection[int], /) -> int:
        """Only what was not asked for and is not planned can wait."""
        if self._refresher is not None or self._again or self._asked.wanted(host):
            return count
        if self._collection is not None and self._collection.ids(host, 1, leased):
            return count
        return self._ordering.worth(host, count, leased)

    def _take(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        asked = self._asked.take(host, count, self._limits.new_leases_left(), leased)
        if len(asked) == count:
            return asked
        if asked or self._asked.later:
            leased = {*leased, *(task.id for task in asked), *self._asked.later}
        return asked + self._others(host, count - len(asked), len(asked), leased)

    def _others(self, host: int, count: int, taken: int, leased: Collection[int]) -> list[Task]:
        """What was not asked for; `taken` leases are given already and not counted yet. The files
        of pages come first, and no limit of pages counts them."""
        files = self._store.take(host, count, leased, RANK, math.inf) if self._limits.files_left else []
        if files:
            leased = {*leased, *(task.id for task in files)}
        return files + self._pages(host, count - len(files), taken, leased)

    def _pages(self, host: int, count: int, taken: int, leased: Collection[int]) -> list[Task]:
        room = min(count, self._limits.new_leases_left() - taken)
        if self._refresher is not None:
            return self._planned(self._refresher, host, count, room, leased)
        tasks = self._new(host, room, leased) if room > 0 else []
        if not self._again:
            return tasks
        return tasks + self._store.take_due(host, count - len(tasks), leased, clock.now())

    def _planned(self, refresher: Refresher, host: int, count: int, room: int, leased: Collection[int]) -> list[Task]:
        """For a refresh: some that are new, then second tries, then the visits that are planned."""
        room = min(room, refresher.room_for_new())
        tasks = self._new(host, room, leased) if room > 0 else []
        refresher.began(task.id for task in tasks)
        tasks += self._store.take_due(host, count - len(tasks), leased, clock.now())
        ids = refresher.ids(host, count - len(tasks), {*leased, *(task.id for task in tasks)})
        return tasks + [self._observer.question(task, host) for task in (self._store.tasks(ids) if ids else [])]

    # ---- what was never visited

    def _new(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """Newcomers to a full collection first, then what is queued."""
        if self._collection is None:
            return self._queued(host, count, leased)
        tasks = self._newcomers(self._collection, host, count, leased)
        room = min(count - len(tasks), self._limits.new_leases_left() - self._collection.expected)
        return tasks + (self._queued(host, room, {*leased, *(task.id for task in tasks)}) if room > 0 else [])

    def _newcomers(self, collection: PageCollection, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """Pages that take the place of others, without those that were excluded or held back
        meanwhile."""
        ids = collection.ids(host, count, leased)
        if not ids:
            return []
        known = self._store.known(ids)
        queued = [id for id in ids if known[id][1] == State.QUEUED]
        for id in {*ids}.difference(queued):
            collection.settle(host, id)
        return [task if task.stored else Task(*task[:6]) for task in self._store.tasks(queued)]

    def _queued(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """Queued URLs of a host that the scope and the gate let pass; the others are held back or
        excluded."""
        tasks = self._ordering.take(host, count, leased)
        if not self._gate.strict(host) and not self._rescoping.running:
            return tasks
        passed: list[Task] = []
        while tasks:
            stopped = {task.id: verdict for task in tasks if (verdict := self._objection(task, host))}
            passed += [task for task in tasks if task.id not in stopped]
            if not stopped:
                break
            self._stop([task for task in tasks if task.id in stopped], host, stopped)
            tasks = self._store.take(host, count - len(passed), {*leased, *(task.id for task in passed)})
        return passed

    def _objection(self, task: Task, host: int) -> tuple[Reworked, list[NewUrl]] | None:
        """Why a queued URL is not visited after all: the scope was changed, or the gate has
        learned."""
        if (objection := self._rescoping.objection(task)) is not None:
            return objection, []
        return self._gate.recheck(task, host, self._store.unknown) if self._gate.strict(host) else None

    def _stop(self, tasks: list[Task], host: int, verdicts: dict[int, tuple[Reworked, list[NewUrl]]]) -> None:
        """Takes URLs from the queue, and admits those that come in their place."""
        changes = [(task, verdicts[task.id][0]) for task in tasks]
        moves = [Move(task.id, host, task.depth, State.QUEUED, *change[1:]) for task, change in changes]
        urls = {row.id: row for _, rows in verdicts.values() for row in rows}
        self._transitions.apply(Transition(list(urls.values()), moves))
