"""What a host is visited for next: what a person asked for, URLs that are new, those due again, and
planned visits."""

from collections.abc import Collection

from sanderling import clock
from sanderling.crawling.asked_pages import AskedPages
from sanderling.crawling.collection import PageCollection
from sanderling.crawling.event_hints import EventHints
from sanderling.crawling.limits import Limits
from sanderling.crawling.queued_urls import QueuedUrls
from sanderling.model import State, Task
from sanderling.refreshing.observer import Observer
from sanderling.refreshing.refresher import Refresher
from sanderling.repository.store import FrontierStore


class NextTasks:
    """Chooses the tasks of a lease, host by host, as the limits allow."""

    def __init__(
        self, store: FrontierStore, queued: QueuedUrls, limits: Limits, collection: PageCollection | None,
        refresher: Refresher | None, observer: Observer, asked: AskedPages, hints: EventHints, again: bool,
    ) -> None:  # fmt: skip
        self._store = store
        self._queued = queued
        self._limits = limits
        self._collection = collection
        self._refresher = refresher
        self._observer = observer
        self._asked = asked
        self._hints = hints
        self._again = again

    def take(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """Up to `count` tasks of a host, without those that are leased."""
        return self._hints.give(self._take(host, count, leased))

    def worth(self, host: int, count: int, leased: Collection[int]) -> int:
        """How many tasks of a host may be leased now, of `count`. Only what nobody asked for and
        nothing planned can wait."""
        if self._refresher is not None or self._again or self._asked.wanted(host):
            return count
        if self._collection is not None and self._collection.ids(host, 1, leased):
            return count
        return self._queued.worth(host, count, leased)

    def _take(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        asked = self._asked.take(host, count, self._limits.new_leases_left(), leased)
        if len(asked) == count:
            return asked
        if asked or self._asked.later:
            leased = {*leased, *(task.id for task in asked), *self._asked.later}
        return asked + self._others(host, count - len(asked), len(asked), leased)

    def _others(self, host: int, count: int, taken: int, leased: Collection[int]) -> list[Task]:
        """What nobody asked for; so many leases are `taken` already and not counted yet."""
        room = min(count, self._limits.new_leases_left() - taken)
        if self._refresher is not None:
            return self._planned(self._refresher, host, count, room, leased)
        tasks = self._new(host, room, leased) if room > 0 else []
        if not self._again:
            return tasks
        return tasks + self._store.take_due(host, count - len(tasks), leased, clock.now())

    def _new(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """What was never visited: newcomers to a full collection first."""
        if self._collection is None:
            return self._queued.take(host, count, leased)
        tasks = self._newcomers(self._collection, host, count, leased)
        room = min(count - len(tasks), self._limits.new_leases_left() - self._collection.expected)
        return tasks + (self._queued.take(host, room, {*leased, *(task.id for task in tasks)}) if room > 0 else [])

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
        return [Task(*task[:6]) for task in self._store.tasks(queued)]

    def _planned(self, refresher: Refresher, host: int, count: int, room: int, leased: Collection[int]) -> list[Task]:
        """For a refresh: some that are new, then second tries, then the visits that are planned."""
        room = min(room, refresher.room_for_new())
        tasks = self._new(host, room, leased) if room > 0 else []
        refresher.began(task.id for task in tasks)
        tasks += self._store.take_due(host, count - len(tasks), leased, clock.now())
        ids = refresher.ids(host, count - len(tasks), {*leased, *(task.id for task in tasks)})
        return tasks + [self._observer.question(task, host) for task in (self._store.tasks(ids) if ids else [])]
