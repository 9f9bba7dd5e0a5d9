"""Published estimators of the change rate of a page. Each visit says only "changed" or "unchanged
since the last one".

The naive count over time counts several changes between two visits as one: with one change expected
per visit, it finds 0.63 of the rate. Four estimators correct this:

- `bias_reduced` (EP): a closed form for even intervals. It is exactly 0 before the first change is
  seen.
- `bayesian` (EB): the probability of each class of rates, given the visits and a prior.
- `most_likely`: for any intervals. One imagined change and one imagined interval without change
  keep it finite and positive.
- `from_last_modified`: uses trusted Last-Modified dates, which say when the last change was.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sanderling.arrays import Floats
from sanderling.freshness import rates


class VisitInterval(NamedTuple):
    """The time between two visits of a page, and whether the second found a change."""

    length: float
    changed: bool


def naive(visits: int, changes: int, interval: float) -> float:
    return changes / (visits * interval) if visits else 0.0


def bias_reduced(visits: int, changes: int, interval: float) -> float:
    """EP, as the product has it."""
    if not 0 <= changes <= visits or interval <= 0:
        raise ValueError("changes must lie between 0 and visits, and the interval be positive")
    return float(rates.bias_reduced(visits, changes, interval)) if visits else 0.0


def bayesian(intervals: Sequence[VisitInterval], rates: ArrayLike, prior: ArrayLike) -> Floats:
    """EB: the probability of each class of rates, beginning from `prior`."""
    lam = np.asarray(rates, np.float64)
    with np.errstate(divide="ignore"):
        weight = np.log(np.asarray(prior, np.float64))
        for length, changed in intervals:
            weight = weight + (np.log(-np.expm1(-lam * length)) if changed else -lam * length)
    weight = np.exp(weight - weight.max())
    return np.asarray(weight / weight.sum())


def most_likely(intervals: Sequence[VisitInterval]) -> float:
    """The root of  sum_changed t / (e^(lam t) - 1) = sum_unchanged t.

    One interval with a change and one without are added; both are as long as the mean interval. The
    left side falls and the right side is constant, so bisection always finds the root.
    """
    if not intervals:
        raise ValueError("there must be at least one interval")
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
    """The rate from `changes` seen in `visits`, if each answer also gave the date of the last
    change.

    `quiet` is the time known to be free of changes: whole intervals without a change, and the time
    from Last-Modified to the visit in those with one. The factor (n - 1) / n corrects the bias of a
    ratio with a random denominator.
    """
    if watched <= 0 or not 0 <= quiet <= watched:
        raise ValueError("quiet time must lie within the time watched")
    if changes == 0:
        return 0.0
    correction = (visits - 1 + 1e-9) / (visits + 1e-9) if visits > 1 else 0.5
    return correction * changes / max(quiet, 1e-3 * watched)
