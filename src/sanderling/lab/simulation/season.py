"""Seasons that are updated visit by visit: how active groups of pages were over recent time.

`freshness/seasons.py` explains the idea and estimates the same from the last visits alone.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats

Groups = NDArray[np.intp]

# The mean time between visits has eight bins, so these reach eight visits back.
BINS = 64
# Every bin begins with this many expected and as many seen changes. The fewer, the more one visit
# moves its activity.
_USUAL_CHANGES = 0.2


class Season:
    """The seasons of many groups: changes seen and expected, by group and bin."""

    def __init__(self, groups: int, start: float, width: float) -> None:
        self.width = width
        self.first = start  # where the oldest bin begins
        self.seen = np.zeros((groups, BINS))
        self.expected = np.zeros((groups, BINS))
        self.level = np.ones((groups, BINS))
        self._sum = self._running_sum()

    def grow(self, groups: int) -> None:
        more = groups - len(self.seen)
        if more > 0:
            self.seen = np.vstack([self.seen, np.zeros((more, BINS))])
            self.expected = np.vstack([self.expected, np.zeros((more, BINS))])
            self.level = np.vstack([self.level, np.ones((more, BINS))])
            self._sum = self._running_sum()

    def exposure(self, group: Groups, since: Floats, now: float) -> Floats:
        """The time from `since` to `now`, in which each bin counts by the activity of the group."""
        self._reach(now)
        return np.maximum(self._at(group, np.full_like(since, now)) - self._at(group, since), 1e-9)

    def exposure_of(self, group: int, since: float, now: float) -> float:
        """`exposure` for one page, without the cost of arrays."""
        self._reach(now)
        return max(self._at_one(group, now) - self._at_one(group, since), 1e-9)

    def observe(self, group: int, since: float, now: float, changed: bool, rate: float) -> None:
        self._reach(now)
        low = max(0, int((since - self.first) / self.width))
        high = max(low, int((now - self.first) / self.width)) + 1
        edges = self.first + self.width * np.arange(low, high + 1)
        usual = rate * np.maximum(np.minimum(now, edges[1:]) - np.maximum(since, edges[:-1]), 0.0)
        bins = slice(low, high)
        if changed:
            likely = usual * self.level[group, bins]
            # Expected number of changes in each bin, given that there was at least one in all of
            # them.
            self.seen[group, bins] += likely / max(-math.expm1(-float(likely.sum())), 1e-9)
        self.expected[group, bins] += usual
        self.level[group, bins] = (_USUAL_CHANGES + self.seen[group, bins]) / (
            _USUAL_CHANGES + self.expected[group, bins]
        )
        self._sum[group, low + 1 :] = self._sum[group, low] + np.cumsum(self.level[group, low:]) * self.width

    def _running_sum(self) -> Floats:
        sums = np.cumsum(self.level, axis=1) * self.width
        return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)

    def _reach(self, now: float) -> None:
        """Drops the oldest half of the bins when `now` is after the newest one."""
        while now >= self.first + self.width * (BINS - 1):
            half = BINS // 2
            for counts, empty in ((self.seen, 0.0), (self.expected, 0.0), (self.level, 1.0)):
                counts[:, :half] = counts[:, half:]
                counts[:, half:] = empty
            self.first += self.width * half
            self._sum = self._running_sum()

    def _at(self, group: Groups, when: Floats) -> Floats:
        # Before the oldest bin the activity counts as usual, so the sum is negative there.
        position = (when - self.first) / self.width
        inside = np.clip(position, 0.0, BINS - 1e-9)
        bin_ = inside.astype(np.intp)
        return (
            self._sum[group, bin_]
            + self.level[group, bin_] * (inside - bin_) * self.width
            + np.minimum(position, 0.0) * self.width
        )

    def _at_one(self, group: int, when: float) -> float:
        position = (when - self.first) / self.width
        if position < 0:
            return position * self.width
        bin_ = min(int(position), BINS - 1)
        return float(self._sum[group, bin_] + self.level[group, bin_] * (position - bin_) * self.width)
