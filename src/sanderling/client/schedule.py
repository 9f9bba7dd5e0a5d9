"""Which host is asked next. A host that pauses waits by its time, one whose address is in use by
its turn."""

from collections import deque
from heapq import heappop, heappush

from sanderling.client.polite_host import Pause, PoliteHost


class Schedule:
    """The hosts of a client that have tasks and may be asked, now or after a pause."""

    def __init__(self) -> None:
        self._ready: deque[PoliteHost] = deque()
        self._pausing: list[tuple[float, int, PoliteHost]] = []
        self._pushes = 0

    @property
    def ready(self) -> bool:
        """Whether a host may be asked now."""
        return bool(self._ready)

    @property
    def next_at(self) -> float:
        """When the next pause is over."""
        return self._pausing[0][0] if self._pausing else float("inf")

    def add(self, host: PoliteHost, now: float) -> None:
        """Has a host asked when it may be, if it has something to be asked for."""
        if host.scheduled or not host.queue or host.in_flight >= host.connections:
            return
        host.scheduled = True
        if not host.alone():
            host.pause.waiting.append(host)
        elif host.pause.next_at <= now:
            self._ready.append(host)
        else:
            self._pushes += 1
            heappush(self._pausing, (host.pause.next_at, self._pushes, host))

    def wake(self, pause: Pause, now: float) -> None:
        """The next of the hosts that wait for their address has its turn."""
        while pause.waiting and pause.user is None:
            host = pause.waiting.popleft()
            host.scheduled = False
            self.add(host, now)
            if host.scheduled:
                return

    def end_pauses(self, now: float) -> None:
        while self._pausing and self._pausing[0][0] <= now:
            self._ready.append(heappop(self._pausing)[2])

    def take(self) -> PoliteHost:
        """The host that is asked now."""
        host = self._ready.popleft()
        host.scheduled = False
        return host
