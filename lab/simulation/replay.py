"""Replays a history with a simulated crawler, and measures how fresh its copies would have been.

There is one visit every 1 / (budget * living pages) days. It goes to a new page if there is one,
else to the page that the policy picks. The first 30 % of the time is a warm-up. After it, freshness
and age are computed exactly from the times of all events, not by sampling.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.simulation.history import PageHistory
from lab.simulation.pickers import PICKERS, Picker, SiteFacts
from sanderling.arrays import Floats

WARM_UP = 0.3
# Visits that are decided at once, as a share of the pages: as by a refresh each day that visits a
# twentieth of them. With a sixty-fourth, freshness is the same within 0.002.
_BATCH = 1 / 20


@dataclass(frozen=True)
class ReplayResult:
    policy: str
    budget: float
    freshness: float
    weighted: float  # by importance
    age: float  # mean days since the first missed change; 0 while a copy is fresh
    caught: float  # share of changes that were seen as a change of their own
    visits: int
    # The mean (weighted) freshness that the crawler predicted before and after its rounds, if it
    # did, and the true one.
    predicted: float | None = None
    true_then: float | None = None


@dataclass
class Sums:
    """Totals over the time after the warm-up."""

    time: float = 0.0
    fresh: float = 0.0
    weighted_time: float = 0.0
    weighted_fresh: float = 0.0
    age: float = 0.0
    caught: int = 0
    happened: int = 0
    visits: int = 0

    def live(self, start: float, end: float, stale_from: float, weight: float) -> None:
        if end <= start:
            return
        fresh = min(max(stale_from - start, 0.0), end - start)
        self.time += end - start
        self.fresh += fresh
        self.weighted_time += weight * (end - start)
        self.weighted_fresh += weight * fresh
        if stale_from < end:
            self.age += ((end - stale_from) ** 2 - max(start - stale_from, 0.0) ** 2) / 2

    def result(self, policy: str, budget: float) -> ReplayResult:
        return ReplayResult(
            policy, budget, float(self.fresh / max(self.time, 1e-12)),
            float(self.weighted_fresh / max(self.weighted_time, 1e-12)), float(self.age / max(self.time, 1e-12)),
            float(self.caught / max(self.happened, 1)), int(self.visits),
        )  # fmt: skip


def replay(pages: Sequence[PageHistory], policy: str, budget: float, weights: Floats | None = None) -> ReplayResult:
    if budget <= 0:  # without visits there are no copies
        return ReplayResult(policy, budget, 0.0, 0.0, 0.0, 0.0, 0)
    start = min(page.born for page in pages)
    end = max(page.changes[-1] for page in pages if page.changes)
    site = SiteFacts(
        [_url(page.url) for page in pages],
        np.ones(len(pages)) if weights is None else weights,
        np.array([float(page.url.rstrip("/").count("/")) for page in pages]),
        np.array([(len(p.changes) + 0.1) / max(min(p.gone, end) - p.born, 1.0) for p in pages]),
    )
    return _live_through(pages, PICKERS[policy](site), site, start, end, budget).result(policy, budget)


def _url(path: str) -> str:
    return path if "://" in path else f"http://site/{path.lstrip('/')}"


def _live_through(
    pages: Sequence[PageHistory], picker: Picker, site: SiteFacts, start: float, end: float, budget: float
) -> Sums:
    sums = Sums()
    warm = start + WARM_UP * (end - start)
    changes = [np.asarray(page.changes) for page in pages]
    last = np.full(len(pages), -np.inf)
    passed = [0] * len(pages)  # changes before the last visit
    population = _Population(pages)
    now = start
    queue: list[int] = []

    def stale_from(page: int) -> float:
        return float(changes[page][passed[page]]) if passed[page] < len(changes[page]) else math.inf

    while True:
        population.until(now)
        if not population.living:
            now += 1.0
            if now > end:
                break
            continue
        now += 1 / (budget * population.living)
        if now > end:
            break
        page = population.newcomer()
        if page is None:
            while queue and not population.alive[queue[-1]]:
                queue.pop()
            if not queue:
                queue = _choose(picker, now, last, population)
            if not queue:  # the policy spares this visit
                continue
            page = queue.pop()
        before = float(last[page])
        seen = int(np.searchsorted(changes[page], now, "right"))
        if before > -math.inf:
            sums.live(max(before, warm), min(now, pages[page].gone), stale_from(page), float(site.weights[page]))
            if now > warm:
                sums.happened += seen - passed[page]
                sums.caught += seen > passed[page]
            picker.observe(page, before, now, seen > passed[page])
        else:
            picker.first_visit(page, now)
        last[page], passed[page] = now, seen
        sums.visits += now > warm
    for one in map(int, np.flatnonzero(last > -np.inf)):
        alive_until = min(end, pages[one].gone)
        sums.live(max(float(last[one]), warm), alive_until, stale_from(one), float(site.weights[one]))
        sums.happened += int(np.searchsorted(changes[one], alive_until, "right")) - passed[one]
    return sums


class _Population:
    """Births and deaths, in order of time."""

    def __init__(self, pages: Sequence[PageHistory]) -> None:
        self.alive = np.zeros(len(pages), bool)
        self.known = np.zeros(len(pages), bool)
        self.living = 0
        self._births = sorted(((page.born, k) for k, page in enumerate(pages)), reverse=True)
        self._deaths = sorted(((p.gone, k) for k, p in enumerate(pages) if p.gone < math.inf), reverse=True)
        self._new: list[int] = []

    def until(self, now: float) -> None:
        while self._births and self._births[-1][0] <= now:
            page = self._births.pop()[1]
            self.alive[page] = True
            self.living += 1
            heapq.heappush(self._new, page)
        while self._deaths and self._deaths[-1][0] <= now:
            page = self._deaths.pop()[1]
            self.living -= bool(self.alive[page])
            self.alive[page] = False

    def newcomer(self) -> int | None:
        while self._new:
            page = heapq.heappop(self._new)
            if self.alive[page]:
                self.known[page] = True
                return page
        return None


def _choose(picker: Picker, now: float, last: Floats, population: _Population) -> list[int]:
    """The pages to visit next, the best last."""
    alive = population.alive & population.known
    count = min(max(1, int(population.living * _BATCH)), int(alive.sum()))
    chosen = picker.choose(now, np.where(np.isfinite(last), last, now), alive, count)
    return [int(page) for page in chosen[::-1]]
