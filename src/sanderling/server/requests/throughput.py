"""How a crawl is doing, for those who watch it: rates of the last seconds and the last mishaps.
Costs next to nothing."""

from collections import deque
from itertools import islice

from sanderling.model import Counts, Mishap, Outcome, Visit
from sanderling.model.reasons import sentence

WINDOW = 10.0
MISHAPS = 50
# Of one report, so that a host that fails in bulk costs no more than any other.
MISHAPS_A_REPORT = 10
_MISHAPS = (Outcome.FAILED, Outcome.RETRY, Outcome.GONE)


class Throughput:
    """Remembers little, and nothing that grows."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int, int]] = deque()
        self._mishaps: deque[Mishap] = deque(maxlen=MISHAPS)
        self.looked_up = self.fetched = 0.0  # seconds of all requests: until an address was known, and in all

    def sample(self, counts: Counts, now: float) -> None:
        """To be called a few times a second."""
        self._samples.append((now, counts.pages, counts.visits, counts.bytes))
        while self._samples[0][0] < now - WINDOW:
            self._samples.popleft()

    def time(self, looked_up: float, fetched: float) -> None:
        self.looked_up += looked_up
        self.fetched += fetched

    def note(self, visits: list[tuple[str, Visit]]) -> None:
        failed = ((url, visit) for url, visit in visits if visit.outcome in _MISHAPS)
        for url, visit in islice(failed, MISHAPS_A_REPORT):
            self._mishaps.append(Mishap(visit.at, url, visit.status, sentence(visit.reason)))

    @property
    def mishaps(self) -> list[Mishap]:
        """Newest first."""
        return list(self._mishaps)[::-1]

    @property
    def rates(self) -> tuple[float, float, float]:
        """Pages, visits and bytes a second, over the last ten seconds."""
        if len(self._samples) < 2 or self._samples[-1][0] <= self._samples[0][0]:
            return 0.0, 0.0, 0.0
        first, last = self._samples[0], self._samples[-1]
        seconds = last[0] - first[0]
        return (last[1] - first[1]) / seconds, (last[2] - first[2]) / seconds, (last[3] - first[3]) / seconds
