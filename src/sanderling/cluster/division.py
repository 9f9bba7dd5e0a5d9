"""What a relay was leased, divided among its children: the allocator of a server, with leases in
the place of a store.

Times are of the monotonic clock of the relay, as in messages; the allocator uses the time of day.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice

from msgspec.structs import replace

from sanderling.model import Host, HostLease, HostNote, Lease, Outcome, Task, Visit, VisitReport
from sanderling.model.reasons import reason
from sanderling.server.frontier.allocator import Allocator, TaskQueue
from sanderling.server.members.client_time import lease_of, moved_lease, moved_note
from sanderling.settings import Settings
from sanderling.urls import identity

# A page that was being parsed when this many clients died is given up.
MOST_DEATHS = 2


class Division(TaskQueue):
    """Knows every URL that the relay holds, and which child has it."""

    def __init__(self, settings: Settings) -> None:
        # A host belongs to one child, also where the user lifted the limits. Levels are kept by the
        # server.
        self._allocator = Allocator(replace(settings, delay=settings.delay or None, max_depth=None), private_addresses=self._private)  # fmt: skip
        self._hosts: dict[str, Host] = {}
        self._terms: dict[str, HostLease] = {}  # the last lease of each host, without its tasks
        self._tasks: dict[int, dict[int, Task]] = {}  # by host
        self._host_of: dict[int, int] = {}  # of every URL that is held
        self._recalled: set[int] = set()
        self._deaths_at: Counter[int] = Counter()

    @property
    def held(self) -> int:
        return len(self._host_of)

    @property
    def waiting(self) -> int:
        """URLs that no child has."""
        return self.held - self._allocator.leased

    @property
    def usable(self) -> int:
        """How many connections can be busy with what is held. Hosts that pause do not count.

        A host counts for no more than its own connections, however many URLs it has here.
        """
        soon = time.time() + 1
        return sum(
            min(len(self._tasks.get(host.id, ())), self._terms[host.origin].connections)
            for host in self._hosts.values()
            if host.not_before <= soon
        )

    def holdings(self) -> Counter[str]:
        """How many URLs each child has."""
        return self._allocator.holdings()

    # ---- the parent

    def add(self, lease: Lease, by: float) -> None:
        """Takes a lease whose times are `by` seconds behind the clock of the relay."""
        by += time.time() - time.monotonic()
        for part in (moved_lease(each, by) for each in lease.hosts):
            host = self._hosts.setdefault(part.origin, Host(identity(part.origin), part.origin))
            host.not_before = max(host.not_before, part.not_before)
            host.robots, host.rendering = part.robots or host.robots, part.rendering or host.rendering
            self._terms[part.origin] = replace(part, tasks=[])
            tasks = self._tasks.setdefault(host.id, {})
            new = {task.id: task for task in part.tasks if task.id not in tasks}
            tasks.update(new)
            self._host_of.update(dict.fromkeys(new, host.id))
            self._allocator.add(host, len(new), part.trusted)

    def recall(self) -> list[int]:
        """Gives back what no child has. The rest is given back as children return it."""
        waiting = [id for id in self._host_of if not self._allocator.is_leased(id)]
        self._forget(waiting)
        self._recalled = set(self._host_of)
        return waiting

    # ---- the children

    def join(self, child: str, place: str, clients: int) -> None:
        self._allocator.join(child, place, clients)

    def lease(self, child: str, want: int) -> Lease | None:
        """Tasks for `want` connections of a child; None when there are none for it."""
        hosts = self._allocator.lease(child, want, self.waiting, self)
        capped = [replace(each, connections=min(each.connections, self._terms[each.origin].connections)) for each in hosts]  # fmt: skip
        return lease_of(capped) if capped else None

    def report(self, child: str, report: VisitReport) -> tuple[list[Visit], list[int]]:
        """Takes a report with the times of this machine's monotonic clock.

        Returns the visits to what the child holds, and what the parent gets back.
        """
        self._allocator.hear(child, report.visits)
        visits = [visit for visit in report.visits if self._allocator.held(child, visit.id) is not None]
        self._allocator.settle((visit.id, False) for visit in visits)
        self._forget(visit.id for visit in visits)
        self._note(child, report.hosts)
        self._allocator.take_back(child, report.returned)
        returned = [id for id in report.returned if id in self._recalled]
        self._recalled.difference_update(returned)
        self._forget(returned)
        return visits, returned

    def leave(self, child: str, suspect: int) -> list[Visit]:
        """Takes back what a child had that is dead. Returns what is to be said of the page that
        ended it too often."""
        doomed = 0
        if suspect and self._allocator.held(child, suspect) is not None:
            self._deaths_at[suspect] += 1
            doomed = suspect if self._deaths_at[suspect] >= MOST_DEATHS else 0
        self._allocator.leave(child, doomed)
        if not doomed:
            return []
        self._forget([doomed])
        return [Visit(id=doomed, outcome=Outcome.FAILED, reason=reason("set-aside"), at=time.monotonic())]

    def _note(self, child: str, notes: Iterable[HostNote]) -> None:
        by = time.time() - time.monotonic()
        for note in notes:
            self._allocator.note(moved_note(note, by), child)

    def take(self, host: int, count: int, leased: Collection[int], /) -> list[Task]:
        """Tasks of a host that no child has."""
        return list(islice((task for id, task in self._tasks[host].items() if id not in leased), count))

    def _forget(self, ids: Iterable[int]) -> None:
        for id in ids:
            del self._tasks[self._host_of.pop(id)][id]

    def _private(self, origin: str) -> list[str]:
        return self._terms[origin].private
