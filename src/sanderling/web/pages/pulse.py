"""The rates of running crawls in the last minutes, for small plots. A sample is taken when somebody opens the page."""

import threading
from collections import OrderedDict, deque
from typing import NamedTuple

from sanderling.model import Live

_SAMPLES = 120
_CRAWLS = 50
# The least seconds between two samples, so that two viewers do not take twice as many.
_APART = 0.8


class Beat(NamedTuple):
    at: float
    visits: float
    queued: float
    bytes: float


class Pulse:
    """The last samples of running crawls. It is thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._beats: OrderedDict[str, deque[Beat]] = OrderedDict()

    def note(self, crawl: str, live: Live) -> list[Beat]:
        """Adds a sample of a crawl. Returns all samples of this run, the oldest first."""
        beat = Beat(live.at, live.visits_per_second, live.waiting, live.bytes_per_second)
        with self._guard:
            beats = self._beats.setdefault(crawl, deque(maxlen=_SAMPLES))
            self._beats.move_to_end(crawl)
            if beats and beats[-1].at < live.at - live.seconds:  # of an earlier run
                beats.clear()
            if not beats or beat.at - beats[-1].at >= _APART:
                beats.append(beat)
            while len(self._beats) > _CRAWLS:
                self._beats.popitem(last=False)
            return list(beats)
