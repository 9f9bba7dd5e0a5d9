"""The rates of running crawls in the last minutes, for small plots. A sample is taken when somebody
opens the page."""

import threading
from collections import OrderedDict, deque
from typing import NamedTuple

from sanderling.model import Live

_SAMPLES = 120
_CRAWLS = 50
# The least seconds between two samples, so that two viewers do not take twice as many.
_APART = 0.8


class RateSample(NamedTuple):
    at: float
    visits: float
    queued: float
    bytes: float


class RecentRates:
    """The last samples of running crawls. It is thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._samples: OrderedDict[str, deque[RateSample]] = OrderedDict()

    def note(self, crawl: str, live: Live) -> list[RateSample]:
        """Adds a sample of a crawl. Returns all samples of this run, the oldest first."""
        sample = RateSample(live.at, live.visits_per_second, live.waiting, live.bytes_per_second)
        with self._guard:
            samples = self._samples.setdefault(crawl, deque(maxlen=_SAMPLES))
            self._samples.move_to_end(crawl)
            if samples and samples[-1].at < live.at - live.seconds:  # of an earlier run
                samples.clear()
            if not samples or sample.at - samples[-1].at >= _APART:
                samples.append(sample)
            while len(self._samples) > _CRAWLS:
                self._samples.popitem(last=False)
            return list(samples)
