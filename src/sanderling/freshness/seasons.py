"""Pages change together: a commit, a release or a new template touches a whole folder at one moment.

How much is going on in a group of pages, bin by bin of recent time, is read off the last visit to each of them: one that
found a change lifts the time since the visit before, one that did not lowers it, each by how surprising it is for
a page of its rate. The time a page has been exposed to changes is then that tide summed over the time since its last
visit: a page whose neighbours have all changed is old after a day, one whose neighbours stood still is young after a
month. (`memory` does the same visit by visit, in the simulation; here nothing has to be kept.)

Three clocks compete: the plain one, the tide of the host and that of the folder. Each foretells what every last visit
found from all the others, and they are mixed folder by folder by how well it did: where pages have nothing to do with
each other the plain clock wins, and nothing is lost.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats

Groups = NDArray[np.intp]

BINS = 64
# To the median time between the last two visits.
_BINS_PER_VISIT = 8
# Expected changes' worth of "nothing special" in every bin: the less, the more one surprise moves it.
STILLNESS = 0.2
_SWEEPS = 3
# The share of each clock before anything was foretold. With equal shares the tides of small folders, which are chance where
# pages have nothing to do with each other, cost 0.0015 there, and won nothing where pages change together.
_AT_FIRST: Floats = np.array([0.96, 0.02, 0.02])
# So few observations tell nothing about their group.
FEWEST = 20
_CHUNK = 32_768


class LastVisits(NamedTuple):
    """What the last visits found, one row each."""

    page: Groups
    since: Floats
    at: Floats
    changed: NDArray[np.bool_]
    rate: Floats


def exposure(hosts: Groups, folders: Groups, at: Floats, seen: LastVisits, now: float) -> Floats:
    """The time since each page's last visit, as the page felt it."""
    elapsed: Floats = np.maximum(now - at, 0.0)
    if len(seen.page) < FEWEST:
        return elapsed
    width = max(float(np.median(seen.at - seen.since)) / _BINS_PER_VISIT, 1e-6)
    edges: Floats = now - width * np.arange(BINS, -1, -1, dtype=np.float64)
    felt, foretold = [elapsed], [_foretold(seen, seen.at - seen.since)]
    for group in (hosts, folders):
        tide = _Season(group, seen, edges)
        felt.append(elapsed - np.minimum(elapsed, now - edges[0]) + tide.since(group, at))
        foretold.append(_foretold(seen, tide.without_oneself()))
    mix = _mixed(np.stack(foretold, axis=1), folders[seen.page], int(folders.max()) + 1)[folders]
    return np.asarray((np.stack(felt, axis=1) * mix).sum(axis=1))


def _foretold(seen: LastVisits, exposed: Floats) -> Floats:
    """The logarithm of how probable what each visit found was."""
    unchanged = np.clip(np.exp(-seen.rate * exposed), 1e-3, 1 - 1e-3)
    return np.asarray(np.log(np.where(seen.changed, 1 - unchanged, unchanged)))


def _mixed(foretold: Floats, folder: Groups, folders: int) -> Floats:
    """The share of each clock in each folder."""
    score = np.stack([np.bincount(folder, foretold[:, clock], folders) for clock in range(3)], axis=1)
    usual = mix = _AT_FIRST
    known = np.unique(folder)
    for _ in range(_SWEEPS):
        weight = usual * np.exp(score - score.max(axis=1, keepdims=True))
        mix = weight / weight.sum(axis=1, keepdims=True)
        usual = (mix[known].mean(axis=0) + 0.02) / 1.06
    return mix


class _Season:
    """The tides of many groups: changes seen and expected, by group and bin."""

    def __init__(self, group: Groups, seen: LastVisits, edges: Floats) -> None:
        # By group, so that a group's rows are added up at once.
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
                # Last visits are no fair sample of all visits (a policy may come back sooner where it found a change):
                # a tide says when and where, and leaves how much in all to the rates.
                self._usual = float(found.sum()) / max(float(self._expected.sum()), 1e-12)
                self._expected *= self._usual
            self._found = found
            self.level = (STILLNESS + found) / (STILLNESS + self._expected)

    def since(self, group: Groups, at: Floats) -> Floats:
        """The tide summed from `at` until now, as far back as it is known."""
        sums = np.concatenate([np.zeros((len(self.level), 1)), np.cumsum(self.level, axis=1)], axis=1) * self._width
        place = np.clip((at - self._edges[0]) / self._width, 0.0, BINS - 1e-9)
        bin_ = place.astype(np.intp)
        before = sums[group, bin_] + self.level[group, bin_] * (place - bin_) * self._width
        return np.asarray(np.maximum(sums[group, -1] - before, 0.0))

    def without_oneself(self) -> Floats:
        """For every last visit: the time since the one before, as all others make it feel."""
        exposed = np.empty(len(self._group))
        for part in self._parts():
            length, usual, likely = self._share(part)
            group = self._group[part]
            level = (STILLNESS + np.maximum(self._found[group] - likely, 0.0)) / (
                STILLNESS + np.maximum(self._expected[group] - usual, 0.0)
            )
            plain = self._seen.at[part] - self._seen.since[part] - length.sum(axis=1)
            exposed[self._order[part]] = plain + (length * level).sum(axis=1)
        return exposed

    def _parts(self) -> list[slice]:
        return [slice(start, start + _CHUNK) for start in range(0, len(self._group), _CHUNK)]

    def _share(self, part: slice) -> tuple[Floats, Floats, Floats]:
        """Of each visit in each bin: the time, the changes expected in it, and those that it found."""
        seen, edges = self._seen, self._edges
        since, at, rate = seen.since[part, None], seen.at[part, None], seen.rate[part, None]
        length = np.maximum(np.minimum(at, edges[1:]) - np.maximum(since, edges[:-1]), 0.0)
        usual = rate * length * self._usual
        likely = usual * self.level[self._group[part]]
        before = rate[:, 0] * np.maximum(edges[0] - since[:, 0], 0.0)  # what may have come before the first bin
        # Expected number of changes in each bin, given that there was at least one in all of them.
        at_least_one = np.maximum(-np.expm1(-(likely.sum(axis=1) + before)), 1e-9)
        return length, usual, np.where(seen.changed[part, None], likely / at_least_one[:, None], 0.0)
