"""When URLs are due: those that wait for another try, and visited ones that are to be visited
again."""

import math
from collections.abc import Iterable

from sanderling.model import Settled, State
from sanderling.repository.store import FrontierStore

# Seconds: no page waits longer for another try. Hosts may ask for an hour.
LONGEST_RETRY = 7200.0


class DueTimes:
    """Knows the next moment at which something is due, so that the store is not asked all the
    time."""

    def __init__(self, store: FrontierStore) -> None:
        self._store = store
        self._next_try = store.next_wake()
        self._next_visit: float | None = None
        self._visits_until = 0.0  # visits that are due by then have been announced

    def ignore_visits_until(self, now: float) -> None:
        """Leaves out the visits that were due before; later ones are announced."""
        self._visits_until = now

    def visits_due(self, now: float) -> list[tuple[int, int]]:
        """(host, how many) of the visited URLs that became due since this was asked last."""
        due = self._store.due(self._visits_until, now)
        self._visits_until = now
        self._next_visit = self._store.next_due(now)
        return due

    def step(self, now: float) -> list[tuple[int, int]]:
        """(host, how many) of all URLs that are due by now."""
        due: list[tuple[int, int]] = []
        if self._next_try is not None and self._next_try <= now:
            due += self._store.wake(now)
            self._next_try = self._store.next_wake()
        elif self._next_try is not None and self._next_try > now + LONGEST_RETRY:  # the clock was set back
            due += self._store.wake(math.inf)
            self._next_try = None
        if self._next_visit is not None and self._next_visit <= now:
            due += self.visits_due(now)
        return due

    def settled(self, settled: Iterable[Settled]) -> None:
        """Takes note of what has to be tried again."""
        for each in settled:
            if each.due and each.state is State.QUEUED:
                self._next_try = min(self._next_try or each.due, each.due)
            elif each.due:
                self._next_visit = min(self._next_visit or each.due, each.due)
                # The report may have come so late that the moment is past, and what was due by then
                # has been announced.
                self._visits_until = min(self._visits_until, math.nextafter(each.due, 0.0))

    def any_before(self, at: float) -> bool:
        """Whether something is due before a moment."""
        return any(due is not None and due < at for due in (self._next_try, self._next_visit))
