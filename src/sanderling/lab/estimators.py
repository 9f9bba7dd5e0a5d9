"""How often does a page change, judged by visits that each say only "changed" or "unchanged since the last one"?

The naive count over time misses every second change between two visits (it finds 0.63 of the rate when one change is
expected per visit). Four answers, from a few numbers a page:

- `bias_reduced` (EP): even intervals, closed form; exactly 0 while no change was seen, so it needs a prior after it.
- `bayesian` (EB): how probable each class of rates is, given the visits and what was believed before.
- `most_likely`: any intervals; one imagined change and one imagined no-change keep it finite and above zero.
- `from_last_modified`: a trustworthy Last-Modified tells when the last change was, not only that there was one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sanderling.arrays import Floats


class Interval(NamedTuple):
    """The time between two visits of a page, and what the second found."""

    length: float
    changed: bool


def naive(visits: int, changes: int, interval: float) -> float:
    return changes / (visits * interval) if visits else 0.0


def bias_reduced(visits: int, changes: int, interval: float) -> float:
    """EP: -ln((n - X + 0.5) / (n + 0.5)) / I."""
    if not 0 <= changes <= visits or interval <= 0:
        raise ValueError("changes must lie between 0 and visits, and the interval be positive")
    return float(-np.log((visits - changes + 0.5) / (visits + 0.5)) / interval) if visits else 0.0


def bayesian(intervals: Sequence[Interval], rates: ArrayLike, prior: ArrayLike) -> Floats:
    """EB: the probability of each class of rates, beginning from `prior`."""
    lam = np.asarray(rates, np.float64)
    with np.errstate(divide="ignore"):
        weight = np.log(np.asarray(prior, np.float64))
        for length, changed in intervals:
            weight = weight + (np.log(-np.expm1(-lam * length)) if changed else -lam * length)
    weight = np.exp(weight - weight.max())
    return np.asarray(weight / weight.sum())


def most_likely(intervals: Sequence[Interval]) -> float:
    """The root of  sum_changed t / (e^(lam t) - 1) = sum_unchanged t, with one change and one no-change imagined.

    Both imagined intervals are as long as the mean one, so a page seen once is believed to change about every
    ln 2 of its interval; the left side falls and the right is constant, so bisection cannot miss.
    """
    if not intervals:
        raise ValueError("no interval, no estimate")
    mean = sum(interval.length for interval in intervals) / len(intervals)
    if mean <= 0:
        raise ValueError("intervals must be positive")
    changed = np.array([i.length for i in intervals if i.changed] + [mean])
    unchanged = sum(i.length for i in intervals if not i.changed) + mean
    changed = np.maximum(changed, 1e-9 * mean)
    low, high = 1e-12 / mean, 1e12 / mean
    for _ in range(200):
        middle = (low * high) ** 0.5
        with np.errstate(over="ignore"):
            excess = float((changed / np.expm1(middle * changed)).sum()) - unchanged
        low, high = (middle, high) if excess > 0 else (low, middle)
        if high / low < 1 + 1e-12:
            break
    return float((low * high) ** 0.5)


def from_last_modified(visits: int, changes: int, watched: float, quiet: float) -> float:
    """Rate from `changes` seen in `visits`, when each answer also dated its last change.

    `quiet` is the time known to be free of changes: whole intervals without one, and from Last-Modified to the visit
    in those with one. A changed interval's remainder ended in its last change, so it counts as one change per change
    seen; the -1/n correction takes out the bias of a ratio whose denominator is random.
    """
    if watched <= 0 or not 0 <= quiet <= watched:
        raise ValueError("quiet time must lie within the time watched")
    if changes == 0:
        return 0.0
    correction = (visits - 1 + 1e-9) / (visits + 1e-9) if visits > 1 else 0.5
    return correction * changes / max(quiet, 1e-3 * watched)
