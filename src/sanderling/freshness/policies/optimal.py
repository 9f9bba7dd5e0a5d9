"""The most freshness, or the most changes seen, for the budget: pages are visited by what a visit
is worth, as far as rates of change are known."""

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness.budget import LONGEST, plan_believed
from sanderling.freshness.checks import best_checks, check_visits
from sanderling.freshness.choosing import PlannedTimes, VisitBudget, affordable, everywhere, inverse, ready
from sanderling.freshness.worth import ROUGH_ERROR, rough_worth, worth

# With more pages than this, a rough score excludes most of them before the exact worth is computed.
_MANY = 50_000
# A source is never taken to announce more than all but this share of changes.
_LEAST_SILENCE = 0.01
# What is left of a budget for visits that no source called for, at least.
_UNCALLED = 0.2


class OptimalPolicy:
    inside = staticmethod(everywhere)

    def choose(self, asked: VisitBudget) -> NDArray[np.intp]:
        known, cost, now = asked.known, asked.cost, asked.now
        if (vouched := known.vouched) is not None:
            checkable = vouched & (ready(asked.pages, now) <= now)
            checks = best_checks(asked.objective, asked.pages, known, checkable, cost, asked.budget)
            rest = asked.budget - float(cost[checks].sum())
            others = asked._replace(known=known._replace(vouched=None), budget=rest, inside=~vouched & asked.inside)
            return np.concatenate([self.choose(others), checks])
        age = known.exposure + known.silence * _half_a_round(asked)
        if len(asked.pages) <= _MANY:
            score = known.weight * worth(age, known.log_rate, known.spread, asked.objective) / cost
            may = (ready(asked.pages, now) <= now) & asked.inside
            return affordable(np.where(may, score, -np.inf), cost, asked.budget)
        some = _promising(asked, age)
        worths = known.weight[some] * worth(age[some], known.log_rate[some], known.spread[some], asked.objective)
        return np.asarray(some[affordable(worths / cost[some], cost[some], asked.budget)])

    def schedule(self, asked: VisitBudget) -> PlannedTimes:
        known, cost, budget, hosts, caps = asked.known, asked.cost, asked.budget, asked.hosts, asked.caps
        # What sources announce is visited when they do; the rest of the budget is for what they do
        # not.
        unannounced = np.maximum(known.silence, _LEAST_SILENCE)
        called = float((cost * known.rate * (1 - unannounced)).sum())
        log_rate = known.log_rate + np.log(unannounced)
        visits, left = np.zeros(len(asked.pages)), max(budget - called, _UNCALLED * budget)
        others = np.ones(len(asked.pages), bool)
        if (vouched := known.vouched) is not None:
            hosts = np.zeros(len(asked.pages), np.intp) if hosts is None else hosts
            caps = np.broadcast_to(np.asarray(caps, np.float64), int(hosts.max()) + 1)
            visits[vouched] = check_visits(asked.objective, known, log_rate, vouched, cost, budget, hosts, caps)
            others, left = ~vouched, max(left - float(visits @ cost), _UNCALLED * budget)
        visits[others] = plan_believed(
            log_rate[others], known.spread[others], left, known.weight[others], cost[others],
            None if hosts is None else hosts[others], caps, asked.objective, LONGEST,
        ).visits  # fmt: skip
        wait = inverse(visits)
        due = asked.now - known.exposure / unannounced + wait
        return PlannedTimes(np.maximum(due, ready(asked.pages, asked.now)), wait)


def _promising(asked: VisitBudget, age: Floats) -> NDArray[np.intp]:
    """A part of the pages that contains all of the best ones for certain."""
    pages, known, cost, now = asked.pages, asked.known, asked.cost, asked.now
    key = rough_worth(age, known.log_rate, known.spread, asked.objective)
    with np.errstate(divide="ignore"):
        key += np.log((known.weight / cost).astype(np.float32))
    key[~np.broadcast_to(asked.inside, len(key))] = -np.inf
    failed = np.flatnonzero(pages["failures"])
    key[failed[ready(pages[failed], now) > now]] = -np.inf
    most = int(asked.budget / max(float(cost.min()), 1e-9))
    least = (
        -np.inf if most >= len(key) else np.partition(key, len(key) - most - 1)[len(key) - most - 1] - 2 * ROUGH_ERROR
    )
    return np.flatnonzero((key >= least) & (key > -np.inf))


def _half_a_round(asked: VisitBudget) -> float:
    """Half of the time until the next round, which is expected to be as long as since the last one.

    A page that is not chosen now waits until then, so its score uses its age half-way. In rounds of
    three days this raises freshness by up to 0.002.
    """
    return max(asked.now - float(asked.pages["at"].max()), 0.0) / 2 if len(asked.pages) else 0.0


POLICY = OptimalPolicy()
