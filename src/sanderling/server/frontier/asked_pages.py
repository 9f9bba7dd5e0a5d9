"""The pages that a person wants visited now: they are leased before all others of their host.

The store knows them, too, so that none is lost when the server is killed: a page that was visited
before is due at once (`DUE_AT_ONCE`), and one that was not is queued in front of all that is
ranked.
"""

from collections.abc import Collection

from sanderling.model import DUE_AT_ONCE, Settled, Task
from sanderling.repository.store import RevisitStore
from sanderling.server.revisits.observer import Observer


class AskedPages:
    """Remembers what was asked for until it has been visited. Most crawls have none of it."""

    def __init__(self, store: RevisitStore, observer: Observer) -> None:
        self._store = store
        self._observer = observer
        self._hosts: dict[int, set[int]] = {}
        self._host_of: dict[int, int] = {}
        self._new: set[int] = set()  # never visited before
        self.later: dict[int, float] = {}  # when to try again what was visited before

    @property
    def count(self) -> int:
        return len(self._host_of)

    def __bool__(self) -> bool:
        return bool(self._host_of)

    def load(self) -> list[tuple[int, int]]:
        """Takes up what an earlier run did not get to; returns (host, how many)."""
        waiting = self._store.due(0.0, DUE_AT_ONCE)
        for host, count in waiting:
            for task in self._store.take_due(host, count, (), DUE_AT_ONCE):
                self.add(host, task.id, new=False)
        return waiting

    def add(self, host: int, id: int, new: bool) -> None:
        self._hosts.setdefault(host, set()).add(id)
        self._host_of[id] = host
        self.later.pop(id, None)
        if new:
            self._new.add(id)

    def revisits(self) -> list[int]:
        """The hosts of pages that were visited before, once for each. They wait for no limit of
        pages and no budget."""
        return [host for id, host in self._host_of.items() if id not in self._new and id not in self.later]

    def step(self, now: float) -> list[tuple[int, int]]:
        """(host, how many) of what is to be tried again by now."""
        due = [id for id, at in self.later.items() if at <= now]
        for id in due:
            del self.later[id]
        return [(self._host_of[id], 1) for id in due]

    def wanted(self, host: int) -> bool:
        """Whether a page of a host was asked for."""
        return host in self._hosts

    def take(self, host: int, count: int, new: int, leased: Collection[int]) -> list[Task]:
        """Up to `count` tasks of a host that are not leased, at most `new` of them for pages that
        were never visited."""
        if host not in self._hosts:
            return []
        ids = [id for id in self._hosts[host] if id not in leased and id not in self.later]
        first = [id for id in ids if id in self._new][: max(0, new)]
        again = [id for id in ids if id not in self._new]
        tasks = self._store.tasks([*again, *first][:count])
        return [Task(*task[:6]) if task.id in self._new else self._observer.question(task, host) for task in tasks]

    def settled(self, settled: list[Settled]) -> list[Settled]:
        """Forgets what was visited; returns what the store shall know.

        A page that has to be tried again stays due at once there. A first visit that has to be is
        in the queue anyway.
        """
        for each in settled:
            if each.id in self._host_of and each.due and each.id not in self._new:
                self.later[each.id] = each.due
            elif each.id in self._host_of:
                self._forget(each.id)
        return [each._replace(due=DUE_AT_ONCE) if each.id in self.later else each for each in settled]

    def _forget(self, id: int) -> None:
        host = self._host_of.pop(id)
        self._new.discard(id)
        self.later.pop(id, None)
        self._hosts[host].discard(id)
        if not self._hosts[host]:
            del self._hosts[host]
