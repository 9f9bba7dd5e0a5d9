"""Revisit policies, each as a score over all pages. The replay visits the page with the highest
score.

All policies have the same budget, so only the order of visits differs. `oracle` knows the true mean
rate of every page, which no crawler does, but assumes that rates are constant and pages
independent. `mix-oracle` knows the distribution of the true rates, but has to learn the rate of
each page. It shows the limit for a crawler that learns from each page alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sanderling.arrays import Floats
from sanderling.freshness import belief
from sanderling.freshness.adaptive import NUTCH_FIRST, nutch_interval
from sanderling.freshness.curves import gain
from sanderling.lab.simulation.exact_evidence import no_evidence, observed
from sanderling.lab.simulation.memory import Memory


@dataclass(frozen=True)
class SiteFacts:
    """What is known about the pages before any visit."""

    urls: list[str]
    weights: Floats
    depths: Floats
    true_rates: Floats
    start: float
    budget: float  # visits a page a day


class Picker:
    """The base class is the uniform policy: it picks the page that has waited longest."""

    def __init__(self, site: SiteFacts) -> None:
        self.site = site
        self.prepare()

    def prepare(self) -> None: ...

    def first_visit(self, page: int, now: float) -> None: ...

    def observe(self, page: int, last: float, now: float, changed: bool) -> None: ...

    def scores(self, now: float, last: Floats) -> Floats:
        return now - last


class Optimal(Picker):
    """Sanderling's policy: the worth of a visit, from beliefs that are learned on the way."""

    def prepare(self) -> None:
        self.memory = Memory(1 / self.site.budget, self.site.start)
        self.memory.extend(self.site.urls)

    def first_visit(self, page: int, now: float) -> None:
        self.memory.first_visit(page, now)

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        self.memory.observe(page, now, changed)

    def scores(self, now: float, last: Floats) -> Floats:
        return self.memory.worth(now) * self.site.weights


class Counted(Picker):
    """Estimates rates by counting changes, with one prior for the whole site."""

    def prepare(self) -> None:
        self.hits = np.zeros(len(self.site.urls))
        self.exposed = np.zeros(len(self.site.urls))

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        self.hits[page] += changed
        self.exposed[page] += (now - last) * (0.5 if changed else 1.0)

    def rates(self) -> Floats:
        usual = (self.hits.sum() + 0.5) / max(self.exposed.sum(), 1.0)
        return np.asarray((self.hits + 1) / (self.exposed + 1 / usual))


class OnePrior(Counted):
    """The optimal policy on counted rates, without URL patterns, seasons and drift."""

    def scores(self, now: float, last: Floats) -> Floats:
        rates = self.rates()
        return np.asarray(self.site.weights * gain(rates * (now - last)) / rates)


class Proportional(Counted):
    def scores(self, now: float, last: Floats) -> Floats:
        return np.asarray(self.site.weights * self.rates() * (now - last))


class Nutch(Picker):
    def prepare(self) -> None:
        self.interval = np.full(len(self.site.urls), NUTCH_FIRST)

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        self.interval[page] = nutch_interval(float(self.interval[page]), changed)

    def scores(self, now: float, last: Floats) -> Floats:
        return np.asarray((now - last) / self.interval)


class TopLevels(Picker):
    """Only the upper half of the site, by depth."""

    def prepare(self) -> None:
        self.inside = self.site.depths <= np.median(self.site.depths)

    def scores(self, now: float, last: Floats) -> Floats:
        return np.where(self.inside, now - last, 0.0)


class VisitAll(Picker):
    """Visits the whole site in rounds, always in the order of its URLs."""

    def prepare(self) -> None:
        self.place = np.argsort(np.argsort(np.array(self.site.urls))) / len(self.site.urls)
        self.at = 0.0

    def observe(self, page: int, last: float, now: float, changed: bool) -> None:
        self.at = float(self.place[page])

    def scores(self, now: float, last: Floats) -> Floats:
        return np.asarray(1 - (self.place - self.at - 1e-9) % 1.0)


class Oracle(Picker):
    def scores(self, now: float, last: Floats) -> Floats:
        rates = self.site.true_rates
        return np.asarray(self.site.weights * gain(rates * (now - last)) / rates)


class MixOracle(Picker):
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


PICKERS: dict[str, Callable[[SiteFacts], Picker]] = {
    "uniform": Picker,
    "proportional": Proportional,
    "nutch": Nutch,
    "top-levels": TopLevels,
    "all": VisitAll,
    "one-prior": OnePrior,
    "oracle": Oracle,
    "mix-oracle": MixOracle,
    "optimal": Optimal,
}
