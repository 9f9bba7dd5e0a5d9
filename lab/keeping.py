"""Keeps a synthetic site fresh for some days, and measures the true freshness from the known times
of its changes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lab.simulation.planned_pages import PlannedPages
from lab.simulation.replay import WARM_UP, ReplayResult, Sums
from sanderling.arrays import Floats
from sanderling.testing import DAY, SyntheticWeb


@dataclass(frozen=True)
class WebTruth:
    """The pages of a site, and the times at which each changes, in days."""

    urls: list[str]
    depths: list[int]
    changes: list[Floats]
    days: float
    rates: Floats  # of changes a day

    @property
    def happened(self) -> int:
        return sum(map(len, self.changes))

    @cached_property
    def _all_changes(self) -> Floats:
        """The changes of all pages in one sorted array: the times of each page are shifted to a
        range of their own."""
        return np.concatenate([page * 2 * self.days + times for page, times in enumerate(self.changes)])

    def stale(self, last: Floats, now: float) -> NDArray[np.bool_]:
        """Which of the copies made at `last` are out of date at `now`."""
        starts = np.arange(len(self.urls)) * 2 * self.days
        before, by_now = (self._all_changes.searchsorted(starts + at, "right") for at in (last, now))
        return np.asarray(by_now > before)


def truth(web: SyntheticWeb, days: float) -> WebTruth:
    """Finds the pages that can be reached from the seeds, and their changes."""
    depths = dict.fromkeys(web.seeds, 0)
    level = list(depths)
    while level:
        found = dict.fromkeys(link for url in level for link in web.links_at(url, 0.0) if link not in depths)
        depths |= dict.fromkeys(found, depths[level[0]] + 1)
        level = list(found)
    changes = [np.array([change.at / DAY for change in web.changes(url, 0.0, days * DAY)]) for url in depths]
    rates = np.array([web.rate(url) * DAY for url in depths])
    return WebTruth(list(depths), list(depths.values()), changes, days, rates)


class Log:
    """The visits that kept a site fresh, and the freshness that the crawler predicted. All pages
    were visited at time 0."""

    def __init__(self, site: WebTruth, weights: Floats) -> None:
        self._site = site
        self._share = weights / weights.sum()
        self._visits: list[list[float]] = [[] for _ in site.urls]
        self._last = np.zeros(len(site.urls))
        self._moments: list[tuple[float, float]] = []

    def round(
        self, visited: Sequence[int] | NDArray[np.intp], now: float, before: float | None, after: float | None
    ) -> None:
        """Adds visits at one time, and the freshness that the crawler predicted before and after
        them."""
        self._believed(before, now)
        for page in visited:
            self._visits[page].append(now)
            self._last[page] = now
        self._believed(after, now)

    def _believed(self, freshness: float | None, now: float) -> None:
        if freshness is not None:
            self._moments.append((freshness, float(self._share @ ~self._site.stale(self._last, now))))

    def expected(self) -> float:
        """The expected freshness with these visits, over all possible times of the changes.

        No policy can know the next change of a page before the next visit, so this is fair to every
        policy. It removes the random differences of about 0.005 between sites.
        """
        warm, days = WARM_UP * self._site.days, self._site.days
        fresh = 0.0
        for rate, visits in zip(self._site.rates.tolist(), self._visits, strict=True):
            for start, end in pairwise([0.0, *visits, days]):
                first, last = max(start, warm) - start, max(end, warm) - start
                fresh += (math.exp(-rate * first) - math.exp(-rate * last)) / rate if rate else last - first
        return fresh / (len(self._visits) * (days - warm))

    def result(self, policy: str, budget: float) -> ReplayResult:
        """The exact freshness with these visits and the true changes."""
        sums = Sums()
        warm = WARM_UP * self._site.days
        for changes, visits, share in zip(self._site.changes, self._visits, self._share, strict=True):
            seen = np.searchsorted(changes, [0.0, *visits, self._site.days], "right")
            for (start, end), first, by_then in zip(
                pairwise([0.0, *visits, self._site.days]), seen, seen[1:], strict=False
            ):
                stale_from = float(changes[first]) if first < len(changes) else math.inf
                sums.live(max(start, warm), end, stale_from, float(share))
                if end > warm:
                    sums.happened += int(by_then - max(first, np.searchsorted(changes, warm, "right")))
            for now, first, by_then in zip(visits, seen, seen[1:], strict=False):
                sums.visits += now > warm
                sums.caught += now > warm and bool(by_then > first)
        found = sums.result(policy, budget)
        if not self._moments:
            return found
        predicted, true_then = np.mean(self._moments, axis=0)
        return replace(found, predicted=float(predicted), true_then=float(true_then))


def planned(site: WebTruth, policy: str, budget: float, every: float = 1.0) -> Log:
    """Plans the visits as `sanderling refresh` does, in rounds of `every` days, without a network.

    `budget` is in visits a page a day.
    """
    pages = PlannedPages(site.urls, site.depths)
    pages.first_visit(slice(None), 0.0)
    log = Log(site, np.ones(len(site.urls)))
    amount = budget * every * len(site.urls)
    for day in every * np.arange(1, round(site.days / every) + 1):
        known = pages.believed(day)
        chosen = pages.choose(policy, amount, day, known)
        changed = site.stale(pages.rows["at"], day)
        for page in chosen:
            pages.visit(int(page), bool(changed[page]), day)
        afterwards = known.fresh.copy()
        afterwards[chosen] = 1.0
        log.round(chosen, day, float(known.fresh.mean()), float(afterwards.mean()))
    return log
