"""What a simulated crawl has learned about the changes of its pages. Each visit is one observation.

Three clocks measure the exposure of a page: plain time, the season of its host and the season of
its folder. Each folder scores the clocks by how well they predicted the results of visits, and
mixes them by that score. On a site whose pages change independently, plain time wins and nothing is
lost.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness import belief
from sanderling.freshness.evidence import MEMORY
from sanderling.freshness.url_groups import url_folder, url_host, url_pattern
from sanderling.freshness.worth import worth
from sanderling.lab.simulation.exact_evidence import no_evidence, observed
from sanderling.lab.simulation.season import Season

_CLOCKS = 3  # plain time, the season of the host, the season of the folder
_BINS_PER_VISIT = 8
# Scores fade, so that a folder whose pages begin to change together gets another mix within some
# hundred visits.
_SCORE_MEMORY = 0.999
# Evidence lasts for this many visits at least. A rarely visited page must not forget one visit
# before the next.
_VISITS_REMEMBERED = 10
# How often priors and beliefs are computed from each other, each time the priors are learned.
_SWEEPS = 2
# Priors are learned this many times while every page is visited once.
_LESSONS_PER_ROUND = 3


class _PageGroups:
    """Numbers for the names of groups, in the order of their first use."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.of_page: NDArray[np.intp] = np.zeros(0, np.intp)

    def extend(self, names: Iterable[str]) -> None:
        numbers = [self.names.setdefault(name, len(self.names)) for name in names]
        self.of_page = np.concatenate([self.of_page, np.asarray(numbers, np.intp)])


class Memory:
    """One row for each page. `period` is the mean time between two visits to a page; it sets the
    width of bins."""

    def __init__(self, period: float, start: float) -> None:
        self.memory = max(MEMORY, _VISITS_REMEMBERED * period)
        self._first = belief.common(period)
        self.host, self.pattern, self.folder = _PageGroups(), _PageGroups(), _PageGroups()
        self.last: Floats = np.zeros(0)
        self.visited: NDArray[np.bool_] = np.zeros(0, bool)
        self.evidence = no_evidence(0)
        self.prior = self.evidence.copy()
        self.believed = self.evidence.copy()
        self.log_rate: Floats = np.zeros(0)
        self.spread: Floats = np.zeros(0)
        width = period / _BINS_PER_VISIT
        self.host_season, self.folder_season = Season(0, start, width), Season(0, start, width)
        self.score: Floats = np.zeros((0, _CLOCKS))
        self.mix: Floats = np.zeros((0, _CLOCKS))
        self._usual_mix = np.full(_CLOCKS, 1 / _CLOCKS)
        self._until_lesson = 0

    def __len__(self) -> int:
        return len(self.last)

    def extend(self, urls: Iterable[str]) -> None:
        """Adds pages that were not visited yet. The first belief about each comes from similar
        pages."""
        urls = list(urls)
        before = len(self)
        self.host.extend(map(url_host, urls))
        self.pattern.extend(map(url_pattern, urls))
        self.folder.extend(map(url_folder, urls))
        self.last = np.concatenate([self.last, np.zeros(len(urls))])
        self.visited = np.concatenate([self.visited, np.zeros(len(urls), bool)])
        for name in ("evidence", "prior", "believed"):
            rows = np.zeros((len(urls), belief.CLASSES))
            setattr(self, name, np.vstack([getattr(self, name), rows]))
        self.host_season.grow(len(self.host.names))
        self.folder_season.grow(len(self.folder.names))
        new = len(self.folder.names) - len(self.score)
        self.score = np.vstack([self.score, np.zeros((new, _CLOCKS))])
        self.mix = np.vstack([self.mix, np.tile(self._usual_mix, (new, 1))])
        self.log_rate = np.concatenate([self.log_rate, np.zeros(len(urls))])
        self.spread = np.concatenate([self.spread, np.zeros(len(urls))])
        self._learn(self.last[:before].max(initial=0.0), sweeps=1)

    def first_visit(self, page: int, now: float) -> None:
        self.visited[page] = True
        self.last[page] = now

    def observe(self, page: int, now: float, changed: bool) -> None:
        """Learns from a later visit, and whether it found a change that counts."""
        since = float(self.last[page])
        if now <= since:  # the clock jumped back, so the visit says nothing about rates
            return
        folder, host = int(self.folder.of_page[page]), int(self.host.of_page[page])
        believed = self.believed[page]
        self._judge_clocks(folder, believed, self._clocks(host, folder, since, now), changed)
        rate = float(belief.expected_rate(believed))
        self.host_season.observe(host, since, now, changed, rate)
        self.folder_season.observe(folder, since, now, changed, rate)
        # The seasons already include this visit: a change that the folder explains says little
        # about the page.
        exposure = float(self.mix[folder] @ self._clocks(host, folder, since, now))
        self.evidence[page] = observed(self.evidence[page], now - since, exposure, changed, self.memory)
        self._believe(slice(page, page + 1))
        self.last[page] = now
        self._until_lesson -= 1
        if self._until_lesson < 0:
            self._learn(now)
            self._until_lesson = int(self.visited.sum()) // _LESSONS_PER_ROUND

    def exposure(self, now: float) -> Floats:
        """The time since each page's last visit, corrected by the seasons of its host and
        folder."""
        mix = self.mix[self.folder.of_page]
        since = np.minimum(self.last, now)
        return (
            mix[:, 0] * (now - since)
            + mix[:, 1] * self.host_season.exposure(self.host.of_page, since, now)
            + mix[:, 2] * self.folder_season.exposure(self.folder.of_page, since, now)
        )

    def worth(self, now: float) -> Floats:
        return worth(self.exposure(now), self.log_rate, self.spread, drift=1 / self.memory)

    def _clocks(self, host: int, folder: int, since: float, now: float) -> Floats:
        return np.array(
            [
                now - since,
                self.host_season.exposure_of(host, since, now),
                self.folder_season.exposure_of(folder, since, now),
            ]
        )

    def _judge_clocks(self, folder: int, believed: Floats, exposures: Floats, changed: bool) -> None:
        unchanged = np.clip(np.exp(-exposures[:, None] * belief.RATES) @ believed, 1e-3, 1 - 1e-3)
        score = self.score[folder] * _SCORE_MEMORY + np.log(1 - unchanged if changed else unchanged)
        weight = self._usual_mix * np.exp(score - score.max())
        self.score[folder] = score
        self.mix[folder] = weight / weight.sum()

    def _believe(self, pages: slice) -> None:
        self.believed[pages] = belief.posterior(self.prior[pages], self.evidence[pages])
        self.log_rate[pages], self.spread[pages] = belief.mean_and_spread(self.believed[pages])

    def _learn(self, now: float, sweeps: int = _SWEEPS) -> None:
        faded = np.exp(-np.maximum(now - self.last, 0.0) / self.memory)
        trust: Floats = np.where(self.visited, faded, 0.0)
        levels = [self.host.of_page, self.pattern.of_page, self.folder.of_page]
        for _ in range(sweeps):
            self.prior = belief.learn_prior(self.believed, trust, levels, self._first)
            self._believe(slice(0, len(self)))
        if len(self.mix):
            self._usual_mix = (self.mix.mean(axis=0) + 0.02) / (1 + 0.02 * _CLOCKS)
