"""Due times of a whole crawl in memory: 24 bytes a page, and the next visits in milliseconds.

`Schedule` is told what is believed about the pages and what they are worth; `resolve` sets all due times for a
budget, `next_visits` names the pages whose turn it is. Nothing here bursts: due times are spread by the
solution itself, and `Pace` hands out visits no faster than the budget flows, however long the crawl was asleep.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.freshness.budget import LONGEST, plan_believed
from sanderling.freshness.worth import Objective, wait

Floats = NDArray[np.float64]
Pages = NDArray[np.intp]

_TICK = 1 / 86400  # times are kept in whole seconds since the origin: 136 years in four bytes
_LATEST = 2**32 - 2
NEVER = 2**32 - 1

_COLUMNS = {
    "last": np.uint32,
    "due": np.uint32,
    "log_rate": np.float32,
    "spread": np.float16,
    "log_cost": np.float16,
    "weight": np.float32,
    "host": np.uint32,
}


class Schedule:
    """Columns of equal length, one row a page. `last` is the visit as the page felt it: a tide or a signal that makes
    a page older moves it back, and so its due time forward."""

    def __init__(self, pages: int, origin: float) -> None:
        self.origin = origin
        self.threshold = 1.0
        self.objective = Objective.FRESHNESS
        self.longest = LONGEST
        self._columns = {name: np.zeros(pages, kind) for name, kind in _COLUMNS.items()}
        self._columns["due"][:] = NEVER
        self._columns["weight"][:] = 1.0

    def __len__(self) -> int:
        return len(self._columns["due"])

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns.values())

    def due(self, pages: Pages | slice = slice(None)) -> Floats:
        ticks = self._columns["due"][pages].astype(np.float64)
        return np.where(ticks >= NEVER, np.inf, self.origin + ticks * _TICK)

    def set_pages(
        self,
        pages: Pages | slice,
        last: ArrayLike,
        log_rate: ArrayLike,
        spread: ArrayLike,
        weight: ArrayLike = 1.0,
        cost: ArrayLike = 1.0,
        host: ArrayLike = 0,
    ) -> None:
        """What is known now, in place of what was; due times follow from the threshold as it stands."""
        columns = self._columns
        columns["last"][pages] = self._ticks(np.asarray(last, np.float64))
        columns["log_rate"][pages] = log_rate
        columns["spread"][pages] = spread
        columns["log_cost"][pages] = np.log(np.maximum(np.asarray(cost, np.float64), 1e-3))
        columns["weight"][pages] = weight
        columns["host"][pages] = host
        self._set_due(pages, np.full(len(columns["last"][pages]), self.threshold))

    def resolve(self, budget: float, caps: ArrayLike = np.inf) -> float:
        """New thresholds and due times for `budget` (in units of cost a day); returns the threshold of free hosts.

        Due times change only by as much as the rates or the budget did: last visits stay where they are.
        """
        columns = self._columns
        plan = plan_believed(
            columns["log_rate"].astype(np.float64),
            columns["spread"].astype(np.float64),
            budget,
            columns["weight"].astype(np.float64),
            np.exp(columns["log_cost"].astype(np.float64)),
            columns["host"].astype(np.intp),
            caps,
            self.objective,
            self.longest,
        )
        self.threshold = plan.mu
        wait_for = np.divide(1.0, plan.visits, out=np.full(len(self), np.inf), where=plan.visits > 0)
        self._put_due(slice(None), wait_for)
        return plan.mu

    def next_visits(self, count: int, now: float | None = None, per_host: int | None = None) -> Pages:
        """The `count` pages due first, earliest first; only those due by `now` when it is given."""
        due = self._columns["due"]
        count = min(count, len(due))
        if count <= 0:
            return np.zeros(0, np.intp)
        pool = count if per_host is None else min(len(due), 8 * count)
        first = np.argpartition(due, pool - 1)[:pool] if pool < len(due) else np.arange(len(due))
        first = first[np.argsort(due[first], kind="stable")]
        limit = NEVER - 1 if now is None else min(int((now - self.origin) / _TICK), NEVER - 1)
        first = first[due[first] <= limit]
        if per_host is not None:
            first = first[_rank_within(self._columns["host"][first]) < per_host]
        return np.asarray(first[:count])

    def settle(self, pages: Pages, now: float, log_rate: ArrayLike, spread: ArrayLike) -> None:
        """After their visits: what is believed now, and a new turn under the same threshold."""
        self._columns["last"][pages] = self._ticks(np.full(len(pages), now))
        self._columns["log_rate"][pages] = log_rate
        self._columns["spread"][pages] = spread
        self._set_due(pages, np.full(len(pages), self.threshold))

    def feel(self, pages: Pages, exposure: ArrayLike, now: float) -> None:
        """Tides and signals: these pages are as old as if they had last been visited `exposure` ago."""
        self._columns["last"][pages] = self._ticks(now - np.asarray(exposure, np.float64))
        self._set_due(pages, np.full(len(pages), self.threshold))

    def _set_due(self, pages: Pages | slice, threshold: Floats) -> None:
        columns = self._columns
        weight = columns["weight"][pages].astype(np.float64)
        cost = np.exp(columns["log_cost"][pages].astype(np.float64))
        wanted = np.divide(threshold * cost, weight, out=np.full(len(weight), np.inf), where=weight > 0)
        spread = columns["spread"][pages].astype(np.float64)
        log_rate = columns["log_rate"][pages].astype(np.float64)
        ages = wait(wanted, log_rate, spread, self.longest, self.objective)
        self._put_due(pages, np.where(weight > 0, ages, np.inf))

    def _put_due(self, pages: Pages | slice, waits: Floats) -> None:
        ticks = self._columns["last"][pages] + np.minimum(waits / _TICK, 2.0**33)
        never = np.isinf(waits)
        self._columns["due"][pages] = np.where(never, NEVER, np.clip(ticks, 0, _LATEST)).astype(np.uint32)

    def _ticks(self, when: Floats) -> NDArray[np.uint32]:
        return np.asarray(np.clip((when - self.origin) / _TICK, 0, _LATEST), np.float64).astype(np.uint32)


def _rank_within(groups: NDArray[np.uint32]) -> NDArray[np.intp]:
    """For each position, how many before it belong to the same group."""
    order = np.argsort(groups, kind="stable")
    sorted_groups = groups[order]
    starts = np.flatnonzero(np.r_[True, sorted_groups[1:] != sorted_groups[:-1]])
    begin = np.repeat(starts, np.diff(np.r_[starts, len(groups)]))
    ranks = np.empty(len(groups), np.intp)
    ranks[order] = np.arange(len(groups)) - begin
    return ranks


class Pace(NamedTuple):
    """How much may be spent: it flows in at `budget` a day and no more than `burst` of it is ever saved up."""

    budget: float
    burst: float
    saved: float
    at: float

    def allowance(self, now: float) -> "Pace":
        """As of `now`. A clock that jumped back gives nothing and takes nothing."""
        gained = self.budget * max(now - self.at, 0.0)
        return self._replace(saved=min(self.saved + gained, self.burst), at=now)

    def spend(self, cost: float) -> "Pace":
        return self._replace(saved=self.saved - cost)

    def ready_at(self, cost: float) -> float | None:
        """When this much will have been saved, or never."""
        if self.saved >= cost:
            return self.at
        return self.at + (cost - self.saved) / self.budget if self.budget > 0 and cost <= self.burst else None
