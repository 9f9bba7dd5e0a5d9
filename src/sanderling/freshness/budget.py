"""Finds the threshold at which the visits to all pages together cost exactly the budget.

A page is visited when the worth of a visit reaches the threshold `mu`. The higher `mu`, the lower
the cost. On logarithmic scales this is nearly a straight line, so a few steps find it. If
politeness allows a host fewer visits, the host gets a higher threshold of its own, and the other
hosts share the rest of the budget.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.arrays import Floats
from sanderling.freshness.curves import even_freshness, inverse_gain
from sanderling.freshness.worth import COARSE, ROUNDS, Objective, wait

Groups = NDArray[np.intp]
Part = NDArray[np.intp] | slice
# (thresholds, the pages they are for) -> visits a day
Visits = Callable[[Floats, Part], Floats]

LONGEST = 3650.0
_SAMPLE = 20_000
_ROUNDS = 6  # in which hosts are capped and the others share the rest
_STEPS = 6
_NOT_MODIFIED = 300.0  # bytes of an answer without a body


class BudgetPlan(NamedTuple):
    """Visits a day for every page, and its threshold. Pages of a capped host have another
    threshold."""

    visits: Floats
    threshold: Floats


def plan_known(
    rates: ArrayLike,
    budget: float,
    weights: ArrayLike = 1.0,
    costs: ArrayLike = 1.0,
    objective: Objective = Objective.FRESHNESS,
) -> BudgetPlan:
    """The optimum for exactly known rates. Some pages may get no visits."""
    lam = np.asarray(rates, np.float64)
    weight, cost = np.broadcast_to(weights, lam.shape), np.broadcast_to(costs, lam.shape)

    def visits(threshold: Floats, part: Part) -> Floats:
        x = inverse_gain(_wanted(threshold, weight[part], cost[part]) * lam[part] ** objective.power)
        return np.where(lam[part] > 0, lam[part] / np.maximum(x, 1e-12), 0.0)

    return _plan(visits, cost, budget, None, np.inf)


def plan_believed(
    log_rate: Floats,
    spread: Floats,
    budget: float,
    weights: ArrayLike = 1.0,
    costs: ArrayLike = 1.0,
    hosts: Groups | None = None,
    caps: ArrayLike = np.inf,
    objective: Objective = Objective.FRESHNESS,
    longest: float = LONGEST,
) -> BudgetPlan:
    """The optimum for believed rates. `caps` are the most visits a day that politeness allows for
    each host."""
    weight, cost = np.broadcast_to(weights, log_rate.shape), np.broadcast_to(costs, log_rate.shape)

    def visits(threshold: Floats, part: Part, rounds: int = COARSE if len(log_rate) > _SAMPLE else ROUNDS) -> Floats:
        wanted = _wanted(threshold, weight[part], cost[part])
        ages = wait(wanted, log_rate[part], spread[part], longest, objective, rounds=rounds)
        return np.where(weight[part] > 0, 1 / ages, 0.0)

    found = _plan(visits, cost, budget, hosts, caps)
    if len(log_rate) <= _SAMPLE or not found.visits.any():
        return found
    # The thresholds were found with approximate ages. The visits are now computed exactly.
    exact = np.where(found.visits > 0, visits(found.threshold, slice(None), ROUNDS), 0.0)
    return found._replace(
        visits=exact if hosts is None else exact * _scale(exact, hosts, _per_host(hosts, caps))[hosts]
    )


def _per_host(hosts: Groups, caps: ArrayLike) -> Floats:
    each = np.asarray(caps, np.float64)
    return each if each.ndim else np.broadcast_to(each, (int(hosts.max()) + 1,))


def _scale(visits: Floats, hosts: Groups, caps: Floats) -> Floats:
    """For each host, the factor (at most 1) that brings its visits down to its cap."""
    load = np.bincount(hosts, visits, minlength=len(caps))
    return np.minimum(np.divide(caps, load, out=np.ones(len(caps)), where=load > 0), 1.0)


def _wanted(threshold: Floats, weight: Floats, cost: Floats) -> Floats:
    return np.asarray(np.divide(threshold * cost, weight, out=np.full(len(weight), np.inf), where=weight > 0))


def _plan(visits: Visits, cost: Floats, budget: float, hosts: Groups | None, caps: ArrayLike) -> BudgetPlan:
    pages = len(cost)
    if pages == 0 or budget <= 0:
        return BudgetPlan(np.zeros(pages), np.full(pages, np.inf))
    if hosts is None:
        hosts, caps = np.zeros(pages, np.intp), np.inf
    caps = _per_host(hosts, caps)
    # A sample of the pages gives mu to within a percent, at a fraction of the cost.
    some: Part = np.random.default_rng(0).choice(pages, _SAMPLE, replace=False) if pages > _SAMPLE else slice(None)
    within = 1e-3 if pages > _SAMPLE else 1e-9
    mu = _bisect(visits, cost[some], budget * len(cost[some]) / pages, some, within)
    planned, threshold = np.zeros(pages), np.zeros(pages)
    free, left = np.ones(len(caps), bool), budget
    for _ in range(_ROUNDS):
        part = slice(None) if free.all() else np.flatnonzero(free[hosts])
        mu, planned[part] = _meet_budget(visits, cost[part], left, part, mu)
        threshold[part] = mu
        load = np.asarray(np.bincount(hosts, planned, minlength=len(caps)), np.float64)
        over = free & (load > caps)
        if not over.any():
            break
        part = np.flatnonzero(over[hosts])
        threshold[part], planned[part] = _cap_hosts(visits, part, threshold[part], hosts[part], load, caps)
        free &= ~over
        left = budget - float((planned * cost)[~free[hosts]].sum())
        if left <= 0 or not free.any():
            break
    return BudgetPlan(planned, threshold)


def _bisect(visits: Visits, cost: Floats, budget: float, part: Part, within: float) -> float:
    low, high = 1e-15, 1e15
    while high / low > 1 + within:
        middle = float(np.sqrt(low * high))
        spent = float(visits(np.full(len(cost), middle), part) @ cost)
        low, high = (middle, high) if spent > budget else (low, middle)
    return high


def _meet_budget(visits: Visits, cost: Floats, budget: float, part: Part, mu: float) -> tuple[float, Floats]:
    """Takes secant steps from a good guess until the cost is within a thousandth of the budget."""
    slope, before = -0.5, (0.0, mu)
    planned = visits(np.full(len(cost), mu), part)
    for _ in range(_STEPS):
        spent = float(planned @ cost)
        if spent <= 0 or abs(spent / budget - 1) < 1e-3:
            break
        if before[0] and spent != before[0]:
            slope = float(np.log(spent / before[0]) / np.log(mu / before[1]))
        before = (spent, mu)
        mu *= float(np.clip((budget / spent) ** (1 / min(slope, -0.05)), 0.01, 100.0))
        planned = visits(np.full(len(cost), mu), part)
    return mu, planned


def _cap_hosts(
    visits: Visits, part: Part, threshold: Floats, hosts: Groups, load: Floats, caps: Floats
) -> tuple[Floats, Floats]:
    """Raises the thresholds of hosts that are above their caps. All take their secant steps at the
    same time."""
    held = np.zeros(len(caps), bool)
    held[hosts] = True
    fits = held & (caps > 0)
    log_cap = np.log(np.where(fits, caps, 1.0))
    raised, slope = np.zeros(len(caps)), np.full(len(caps), -1.0)
    log_load = np.log(np.where(fits, load, 1.0))
    planned = np.zeros(len(hosts))
    for _ in range(_STEPS):
        step = np.clip((log_cap - log_load) / slope, -4.0, 4.0)
        raised = raised + step
        planned = visits(threshold * np.exp(raised)[hosts], part)
        load = np.asarray(np.bincount(hosts, planned, minlength=len(caps)), np.float64)
        before, log_load = log_load, np.log(np.where(fits, np.maximum(load, 1e-12), 1.0))
        moved = np.abs(step) > 1e-6
        slope = np.where(moved, (log_load - before) / np.where(moved, step, 1.0), slope)
        slope = np.clip(slope, -20.0, -0.1)
        if np.abs(log_load - log_cap).max() < 1e-3:
            break
    return threshold * np.exp(raised)[hosts], planned * _scale(planned, hosts, caps)[hosts]


def expected_freshness(rates: ArrayLike, visits: ArrayLike, weights: ArrayLike = 1.0) -> float:
    """The weighted mean freshness of pages that are visited at even intervals."""
    lam, f = np.asarray(rates, np.float64), np.asarray(visits, np.float64)
    weight = np.broadcast_to(weights, lam.shape)
    r = np.divide(lam, f, out=np.full(lam.shape, np.inf), where=f > 0)
    return float((weight * even_freshness(np.where(lam > 0, r, 0.0))).sum() / weight.sum())


def expected_cost(size: ArrayLike, changed: ArrayLike, conditional: ArrayLike) -> Floats:
    """The expected bytes of a visit: the whole page, unless it is unchanged and the host answers
    304.

    `changed` is the probability that the page has changed. `conditional` is the share of visits to
    unchanged pages that the host answers with 304.
    """
    size = np.asarray(size, np.float64)
    saved = (1 - np.asarray(changed, np.float64)) * np.asarray(conditional, np.float64)
    return np.asarray(size - saved * np.maximum(size - _NOT_MODIFIED, 0.0))
