"""Limits how often something may happen, by buckets that fill again at an even rate."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

# Names whose buckets are remembered. The oldest is forgotten first, and is then full again.
MOST_NAMES = 10_000


class Buckets:
    """One bucket for each name. It is thread-safe."""

    def __init__(self, size: float, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._flow, self._clock = size, per_second, clock
        self._guard = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, amount: float = 1.0) -> float:
        """Takes from a bucket, and returns 0; or the seconds to wait until there is enough."""
        now = self._clock()
        with self._guard:
            level, at = self._levels.pop(name, (self._size, now))
            level = min(self._size, level + (now - at) * self._flow)
            enough = level >= amount
            self._levels[name] = (level - amount if enough else level, now)
            while len(self._levels) > MOST_NAMES:
                self._levels.popitem(last=False)
        return 0.0 if enough else (amount - level) / self._flow
