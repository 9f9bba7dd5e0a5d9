"""Seasons: how active a group of pages was over recent time.

Pages change together: a commit, a release or a new template changes a whole folder at once. The
season of a group is its activity in each bin of recent time, where 1 is usual. It is estimated from
the last visit to each page. A visit that found a change raises the bins since the visit before; a
visit that found none lowers them. The less expected the result is for the rate of the page, the
more it counts. The exposure of a page is the time since its last visit, in which each bin counts by
its activity. If all neighbours have changed, the exposure is large after a day; if none has, it is
small after a month.

There are three clocks: plain time, the season of the host and the season of the folder. Each
predicts the result of every last visit from all other visits. Each folder mixes the clocks by the
quality of these predictions. Where pages change independently, plain time wins and nothing is lost.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats

Groups = NDArray[np.intp]

BINS = 64
# How many bins the median time between the last two visits has.
_BINS_PER_VISIT = 8
# Every bin begins with this many expected and as many seen changes. The fewer, the more one visit
# moves its activity.
_USUAL_CHANGES = 0.2
_SWEEPS = 3
# The share of each clock before any prediction. Where pages are independent, the seasons of small
# folders are chance: with equal shares, freshness there was 0.0015 lower, and no higher where pages
# change together.
_PRIOR_MIX: Floats = np.array([0.96, 0.02, 0.02])
# With fewer observations, plain time is used.
FEWEST = 20
_CHUNK = 32_768


class LastVisits(NamedTuple):
    """The last visit to each page that was visited more than once, and the time of the visit before
    (`since`)."""

    page: Groups
    since: Floats
    at: Floats
    changed: NDArray[np.bool_]
    rate: Floats


def exposure(hosts: Groups, folders: Groups, at: Floats, seen: LastVisits, now: float) -> Floats:
    """The time since each page's last visit, corrected by the season of its neighbours."""
    elapsed: Floats = np.maximum(now - at, 0.0)
    if len(seen.page) < FEWEST:
        return elapsed
    width = max(float(np.median(seen.at - seen.since)) / _BINS_PER_VISIT, 1e-6)
    edges: Floats = now - width * np.arange(BINS, -1, -1, dtype=np.float64)
    exposures, fit = [elapsed], [_log_likelihood(seen, seen.at - seen.since)]
    for group in (hosts, folders):
        season = _Season(group, seen, edges)
        exposures.append(elapsed - np.minimum(elapsed, now - edges[0]) + season.since(group, at))
        fit.append(_log_likelihood(seen, season.leave_one_out()))
    mix = _mixed(np.stack(fit, axis=1), folders[seen.page], int(folders.max()) + 1)[folders]
    return np.asarray((np.stack(exposures, axis=1) * mix).sum(axis=1))


def _log_likelihood(seen: LastVisits, exposed: Floats) -> Floats:
    """The log-likelihood of the result of each visit."""
    unchanged = np.clip(np.exp(-seen.rate * exposed), 1e-3, 1 - 1e-3)
    return np.asarray(np.log(np.where(seen.changed, 1 - unchanged, unchanged)))


def _mixed(fit: Floats, folder: Groups, folders: int) -> Floats:
    """The share of each clock in each folder."""
    score = np.stack([np.bincount(folder, fit[:, clock], folders) for clock in range(3)], axis=1)
    usual = mix = _PRIOR_MIX
    known = np.unique(folder)
    for _ in range(_SWEEPS):
        weight = usual * np.exp(score - score.max(axis=1, keepdims=True))
        mix = weight / weight.sum(axis=1, keepdims=True)
        usual = (mix[known].mean(axis=0) + 0.02) / 1.06
    return mix


class _Season:
    """The seasons of many groups: changes seen and expected, by group and bin."""

    def __init__(self, group: Groups, seen: LastVisits, edges: Floats) -> None:
        # Sorted by group, so that the rows of a group are added up at once.
        self._order = np.argsort(group[seen.page], kind="stable")
        self._seen = LastVisits._make(column[self._order] for column in seen)
        self._edges, self._width = edges, float(edges[1] - edges[0])
        self._group = group[self._seen.page]
        shape = (int(group.max()) + 1, BINS)
        self._expected, self._found = np.zeros(shape), np.zeros(shape)
        self.level = np.ones(shape)
        self._usual = 1.0
        for sweep in range(_SWEEPS):
            found = np.zeros(shape)
            for part in self._parts():
                _, usual, likely = self._share(part)
                first = np.flatnonzero(np.diff(self._group[part], prepend=-1))
                found[self._group[part][first]] += np.add.reduceat(likely, first, axis=0)
                if sweep == 0:
                    self._expected[self._group[part][first]] += np.add.reduceat(usual, first, axis=0)
            if sweep == 0:
                # Last visits are a biased sample (a policy may return sooner where it found a
                # change). So a season says when and where changes happened; the rates alone say how
                # many there are in all.
                self._usual = float(found.sum()) / max(float(self._expected.sum()), 1e-12)
                self._expected *= self._usual
            self._found = found
            self.level = (_USUAL_CHANGES + found) / (_USUAL_CHANGES + self._expected)

    def since(self, group: Groups, at: Floats) -> Floats:
        """The activity summed from `at` until now, as far back as there are bins."""
        sums = np.concatenate([np.zeros((len(self.level), 1)), np.cumsum(self.level, axis=1)], axis=1) * self._width
        place = np.clip((at - self._edges[0]) / self._width, 0.0, BINS - 1e-9)
        bin_ = place.astype(np.intp)
        before = sums[group, bin_] + self.level[group, bin_] * (place - bin_) * self._width
        return np.asarray(np.maximum(sums[group, -1] - before, 0.0))

    def leave_one_out(self) -> Floats:
        """For every last visit: the exposure since the visit before, computed from all other
        visits."""
        exposed = np.empty(len(self._group))
        for part in self._parts():
            length, usual, likely = self._share(part)
            group = self._group[part]
            level = (_USUAL_CHANGES + np.maximum(self._found[group] - likely, 0.0)) / (
                _USUAL_CHANGES + np.maximum(self._expected[group] - usual, 0.0)
            )
            plain = self._seen.at[part] - self._seen.since[part] - length.sum(axis=1)
            exposed[self._order[part]] = plain + (length * level).sum(axis=1)
        return exposed

    def _parts(self) -> list[slice]:
        return [slice(start, start + _CHUNK) for start in range(0, len(self._group), _CHUNK)]

    def _share(self, part: slice) -> tuple[Floats, Floats, Floats]:
        """For each visit and bin: the time, the expected changes, and the changes that it found."""
        seen, edges = self._seen, self._edges
        since, at, rate = seen.since[part, None], seen.at[part, None], seen.rate[part, None]
        length = np.maximum(np.minimum(at, edges[1:]) - np.maximum(since, edges[:-1]), 0.0)
        usual = rate * length * self._usual
        likely = usual * self.level[self._group[part]]
        before = rate[:, 0] * np.maximum(edges[0] - since[:, 0], 0.0)  # changes expected before the first bin
        # Expected number of changes in each bin, given that there was at least one in all of them.
        at_least_one = np.maximum(-np.expm1(-(likely.sum(axis=1) + before)), 1e-9)
        return length, usual, np.where(seen.changed[part, None], likely / at_least_one[:, None], 0.0)
