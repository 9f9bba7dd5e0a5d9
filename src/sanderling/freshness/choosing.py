"""What a revisit policy plans from, and what the policies share."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.arrays import Floats
from sanderling.freshness.collection import Believed
from sanderling.freshness.worth import Objective

# Days until a page that did not answer is retried. The wait doubles with each failure.
_FIRST_BACKOFF, _LONGEST_BACKOFF = 10 / 1440, 7.0


class VisitBudget(NamedTuple):
    """Pages, what is believed about them, and what may be spent. Times are in days."""

    objective: Objective
    pages: NDArray[np.void]  # rows of `collection.COLUMNS`
    known: Believed
    cost: Floats  # of a visit to each page, in the unit of the budget
    budget: float  # in all, or a day
    now: float
    inside: NDArray[np.bool_] | bool = True  # only these pages are visited
    hosts: NDArray[np.intp] | None = None  # the number of each page's host
    caps: ArrayLike = np.inf  # the most visits a day to each host

    @property
    def elapsed(self) -> Floats:
        """Days since the last visit to each page."""
        return np.asarray(self.now - self.pages["at"])


class PlannedTimes(NamedTuple):
    due: Floats  # infinite for never
    wait: Floats  # between two visits


def everywhere(pages: NDArray[np.void], threshold: float, levels: int) -> bool:
    return True


class ScoredPolicy(NamedTuple):
    """A policy that is two functions: what a visit to each page is worth now, and how long each
    page waits when the budget may be spent each day."""

    score: Callable[[VisitBudget], Floats]
    wait: Callable[[VisitBudget], Floats]
    inside: Callable[[NDArray[np.void], float, int], NDArray[np.bool_] | bool] = everywhere

    def choose(self, asked: VisitBudget) -> NDArray[np.intp]:
        may = (ready(asked.pages, asked.now) <= asked.now) & asked.inside
        return affordable(np.where(may, self.score(asked), -np.inf), asked.cost, asked.budget)

    def schedule(self, asked: VisitBudget) -> PlannedTimes:
        wait = self.wait(asked)
        return PlannedTimes(np.maximum(asked.pages["at"] + wait, ready(asked.pages, asked.now)), wait)


def waited_longest(asked: VisitBudget) -> Floats:
    return asked.elapsed


def evenly(asked: VisitBudget) -> Floats:
    """All pages that are visited wait equally long."""
    once = float((asked.cost * asked.inside).sum())
    inside = np.broadcast_to(asked.inside, len(asked.pages))
    return np.where(inside, once / max(asked.budget, 1e-12), np.inf)


def affordable(score: Floats, cost: Floats, budget: float) -> NDArray[np.intp]:
    """The pages with the highest scores that the budget allows, the best first. A score of -inf
    excludes a page."""
    candidates = np.flatnonzero(score > -np.inf)
    most = min(len(candidates), int(budget / max(float(cost[candidates].min()), 1e-9)) if len(candidates) else 0)
    if most < len(candidates):
        candidates = candidates[np.argpartition(score[candidates], len(candidates) - most)[len(candidates) - most :]]
    best = candidates[np.argsort(-score[candidates], kind="stable")]
    return np.asarray(best[np.cumsum(cost[best]) <= budget])


def ready(pages: NDArray[np.void], now: float) -> Floats:
    """The time from which a page that did not answer may be retried.

    A last try in the future means that the clock was wrong then; such a page may be retried at
    once.
    """
    failures = pages["failures"]
    backoff: Floats = np.minimum(_FIRST_BACKOFF * 2.0 ** np.minimum(failures - 1, 20), _LONGEST_BACKOFF)
    return np.asarray(np.where((failures > 0) & (pages["tried"] <= now), pages["tried"] + backoff, -np.inf))


def inverse(visits: Floats) -> Floats:
    """Days between two visits, for visits a day."""
    return np.asarray(np.divide(1.0, visits, out=np.full(len(visits), np.inf), where=visits > 0))
