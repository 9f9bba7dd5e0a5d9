"""Revisit policies in the replay of a history. All have the same budget, so only their choice of
pages differs.

`uniform`, `proportional`, `nutch`, `top-levels` and `optimal` are the policies of `sanderling
refresh`: the planner that ships chooses. The others are there for comparison. `all` visits the
whole site in rounds. `one-prior` has one belief about all rates, without URL patterns, seasons and
fading. `oracle` knows the true mean rate of every page, which no crawler does, but assumes that
rates are constant and pages independent. `mix-oracle` knows the distribution of the true rates, but
has to learn the rate of each page. It shows the limit for a crawler that learns from each page
alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lab.simulation.exact_evidence import no_evidence, observed
from lab.simulation.planned_pages import PlannedPages
from sanderling.arrays import Floats
from sanderling.freshness import belief
from sanderling.freshness.curves import gain


@dataclass(frozen=True)
class SiteFacts:
    """What is known about the pages before any visit."""

    urls: list[str]
    weights: Floats
    depths: Floats
    true_rates: Floats


class Picker(Protocol):
    def first_visit(self, page: int, now: float) -> None: ...

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        """Learns from a later visit, and whether it found a change that counts."""

    def choose(self, now: float, last: Floats, alive: NDArray[np.bool_], count: int) -> NDArray[np.intp]:
        """At most so many of the pages that are alive, the best first. `last` are their last
        visits."""


class Planned:
    """A policy of `sanderling refresh`, which plans anew for each batch of visits."""

    def __init__(self, policy: str, site: SiteFacts) -> None:
        self._policy = policy
        self._pages = PlannedPages(site.urls, site.depths, site.weights)

    def first_visit(self, page: int, now: float) -> None:
        self._pages.first_visit(page, now)

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        self._pages.visit(page, changed, now)

    def choose(self, now: float, last: Floats, alive: NDArray[np.bool_], count: int) -> NDArray[np.intp]:
        return self._pages.choose(self._policy, count, now, alive=alive)


class Scored:
    """Picks the pages with the highest score."""

    def __init__(self, site: SiteFacts) -> None:
        self.site = site
        self.prepare()

    def prepare(self) -> None: ...

    def first_visit(self, page: int, now: float) -> None: ...

    def observe(self, page: int, last: float, now: float, changed: bool) -> None: ...

    def scores(self, now: float, last: Floats) -> Floats:
        raise NotImplementedError

    def choose(self, now: float, last: Floats, alive: NDArray[np.bool_], count: int) -> NDArray[np.intp]:
        pages = np.flatnonzero(alive)
        scores = self.scores(now, last)[pages]
        best = np.argpartition(-scores, min(count, len(pages)) - 1)[:count]
        return np.asarray(pages[best[np.argsort(-scores[best], kind="stable")]])


class OnePrior(Scored):
    """The worth of a visit by counted changes, with one prior for the whole site."""

    def prepare(self) -> None:
        self.hits = np.zeros(len(self.site.urls))
        self.exposed = np.zeros(len(self.site.urls))

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        self.hits[page] += changed
        self.exposed[page] += (now - last) * (0.5 if changed else 1.0)

    def scores(self, now: float, last: Floats) -> Floats:
        usual = (self.hits.sum() + 0.5) / max(self.exposed.sum(), 1.0)
        rates = (self.hits + 1) / (self.exposed + 1 / usual)
        return np.asarray(self.site.weights * gain(rates * (now - last)) / rates)


class VisitAll(Scored):
    """Visits the whole site in rounds, always in the order of its URLs."""

    def prepare(self) -> None:
        self.place = np.argsort(np.argsort(np.array(self.site.urls))) / len(self.site.urls)
        self.at = 0.0

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        self.at = float(self.place[page])

    def scores(self, now: float, last: Floats) -> Floats:
        return np.asarray(1 - (self.place - self.at - 1e-9) % 1.0)


class Oracle(Scored):
    def scores(self, now: float, last: Floats) -> Floats:
        rates = self.site.true_rates
        return np.asarray(self.site.weights * gain(rates * (now - last)) / rates)


class MixOracle(Scored):
    def prepare(self) -> None:
        nearest = np.abs(np.log(self.site.true_rates)[:, None] - belief.LOG_RATES).argmin(axis=1)
        self.mix = np.bincount(nearest, minlength=belief.CLASSES) / len(nearest)
        self.evidence = no_evidence(len(self.site.urls))
        self.believed = np.tile(self.mix, (len(self.site.urls), 1))

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        self.evidence[page] = observed(self.evidence[page], now - last, now - last, changed, np.inf)
        self.believed[page] = belief.posterior(self.mix, self.evidence[page])

    def scores(self, now: float, last: Floats) -> Floats:
        each = gain(belief.RATES * (now - last)[:, None]) / belief.RATES
        return np.asarray(self.site.weights * (self.believed * each).sum(axis=1))


def _planned(policy: str) -> Callable[[SiteFacts], Picker]:
    return lambda site: Planned(policy, site)


PICKERS: dict[str, Callable[[SiteFacts], Picker]] = {
    "uniform": _planned("uniform"),
    "proportional": _planned("proportional"),
    "nutch": _planned("nutch"),
    "top-levels": _planned("top-levels"),
    "all": VisitAll,
    "one-prior": OnePrior,
    "oracle": Oracle,
    "mix-oracle": MixOracle,
    "optimal": _planned("optimal"),
}
