"""How a client is doing, and so how much it may hold: a slow or failing one gets smaller batches, a
quick one larger.

A lease has a plan: the host's pauses say when each of its pages should be back. Who is later than
planned has too much to do; who meets errors of the network on the way to many pages would only
spoil more of them.
"""

import math
from collections.abc import Iterable

from sanderling.model import Outcome, Visit

# Rates follow the last ten seconds or so; failures and lateness the last hundred pages.
WINDOW = 10.0
MEMORY = 0.02
# A little late is normal: reports are sent a few times a second.
NORMAL = 1.25
SMALLEST, LARGEST = 1 / 8, 2.0
# Plans for less than that say nothing.
SHORTEST_PLAN = 1.0


class ClientPace:
    """One client, since it came."""

    def __init__(self, now: float) -> None:
        self.visits_per_second = 0.0
        self.bytes_per_second = 0.0
        self.failing = 0.0  # the share of visits that no server answered
        self.late = NORMAL  # how long a page takes to come back, as a multiple of what was planned
        self._heard = now

    def hear(self, visits: Iterable[Visit], now: float) -> None:
        """Takes note of a report."""
        seconds = max(now - self._heard, 1e-3)
        self._heard = now
        count = size = 0
        for visit in visits:
            count += 1
            size += visit.size
            lost = visit.outcome is Outcome.RETRY and not visit.status
            self.failing += (lost - self.failing) * MEMORY
        weight = 1 - math.exp(-seconds / WINDOW)
        self.visits_per_second += (count / seconds - self.visits_per_second) * weight
        self.bytes_per_second += (size / seconds - self.bytes_per_second) * weight

    def settle(self, planned: float, taken: float) -> None:
        """A page is back, `taken` seconds after it was leased; it should have been after
        `planned`."""
        self.late += (min(10.0, taken / max(planned, SHORTEST_PLAN)) - self.late) * MEMORY

    @property
    def share(self) -> float:
        """How much of the usual stock this client gets."""
        return max(SMALLEST, min(LARGEST, NORMAL / max(self.late, 0.1)) * (1 - self.failing))
