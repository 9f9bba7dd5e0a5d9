"""How many pages a client asks for ahead of time, because its server is far away.

A client asks for as many pages as it has connections. If the answer takes longer than a page, its
connections wait. Real clients with messages of 0.2 s each way fetched 144 pages in 15 s, and 403
when they asked for more (`lab teams --real`).
"""

import math

# Servers on the same machine or in the same building answer faster: then nothing changes.
NEAR = 0.05
# Of the connections: so much more is asked for at most.
MOST = 3
_MEMORY = 0.2


class AskingAhead:
    """Measures how long answers take, and how many pages are fetched meanwhile."""

    def __init__(self, report_after: float) -> None:
        """A finished page waits for `report_after` seconds until it is reported."""
        self._report_after = report_after
        self._asked_at: float | None = None
        self._told_at: float | None = None
        self._answer = math.inf  # the shortest of late: a longer one may mean that there was no work
        self._rate = 0.0  # pages a second

    def told(self, now: float, pages: int, wanted: int) -> None:
        """A report about `pages` pages was sent, that asks for more or not."""
        if self._told_at is not None:
            self._rate += (pages / max(now - self._told_at, 1e-3) - self._rate) * _MEMORY
        self._told_at = now
        if wanted and self._asked_at is None:
            self._asked_at = now

    def answered(self, now: float) -> None:
        """Pages came from the server."""
        if self._asked_at is not None:
            self._answer = min(now - self._asked_at, 1.1 * self._answer)
            self._asked_at = None

    def pages(self, connections: int) -> int:
        """How many to ask for besides one for each connection."""
        if not NEAR < self._answer < math.inf:
            return 0
        # While connections wait, the rate is lower than it could be.
        return min(MOST * connections, math.ceil(2 * self._rate * (self._answer + self._report_after)))
