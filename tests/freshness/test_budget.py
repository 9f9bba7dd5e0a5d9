"""The threshold: golden values, optimality and caps."""

import numpy as np
import pytest

from sanderling.freshness.adaptive import nutch_interval
from sanderling.freshness.budget import expected_cost, expected_freshness, plan_believed, plan_known
from sanderling.freshness.curves import gain
from sanderling.freshness.worth import Objective

FIVE = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def test_golden_five_pages() -> None:
    plan = plan_known(FIVE, 5.0)
    assert plan.visits.round(4).tolist() == [1.1499, 1.3584, 1.3538, 1.1379, 0.0]
    assert expected_freshness(FIVE, plan.visits) == pytest.approx(0.37389, abs=5e-6)
    assert expected_freshness(FIVE, np.ones(5)) == pytest.approx(0.36505, abs=5e-6)
    assert expected_freshness(FIVE, FIVE / 3) == pytest.approx(0.31674, abs=5e-6)


@pytest.mark.parametrize("visits_a_page", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("weighting", ["equal", "pareto"])
def test_known_rates_reach_the_optimum(visits_a_page: float, weighting: str) -> None:
    """Visiting by the index, one page after the other, is worth at least 99.9 % of the continuous
    optimum."""
    rng = np.random.default_rng(9)
    rates = 0.05 * rng.lognormal(0, 1.5, 1000)
    weights = np.ones(1000) if weighting == "equal" else rng.pareto(1.5, 1000) + 0.1
    best = expected_freshness(rates, plan_known(rates, 1000 * visits_a_page, weights).visits, weights)
    assert _by_index(rates, weights, visits_a_page, rng) >= 0.999 * best


def _by_index(rates: np.ndarray, weights: np.ndarray, visits_a_page: float, rng: np.random.Generator) -> float:
    step, batch = 4 / (1000 * visits_a_page), 4
    last = -rng.uniform(0, 2 / visits_a_page, 1000)
    fresh = np.zeros(1000)
    rounds, warm = 7500, 3000
    for k in range(rounds):
        now = k * step
        picked = np.argpartition(weights / rates * gain(rates * (now - last)), -batch)[-batch:]
        _credit(fresh, rates, last, picked, now, warm * step)
        last[picked] = now
    _credit(fresh, rates, last, np.arange(1000), rounds * step, warm * step)
    return float((weights * fresh).sum() / weights.sum() / ((rounds - warm) * step))


def _credit(fresh: np.ndarray, rates: np.ndarray, last: np.ndarray, pages: np.ndarray, now: float, warm: float) -> None:
    """Expected fresh time from the last visit (or the end of the warm-up) to now."""
    start = np.maximum(last[pages], warm)
    lam = rates[pages]
    gained = (np.exp(-lam * (start - last[pages])) - np.exp(-lam * (now - last[pages]))) / lam
    fresh[pages] += np.where(now > warm, gained, 0.0)


def test_nutch_settles_at_a_fixed_number_of_changes_a_visit() -> None:
    """x0.8 as often as x1.2: ln 0.8 P + ln 1.2 (1 - P) = 0 at lam * tau = 0.60."""
    p = np.log(1.2) / (np.log(1.2) - np.log(0.8))
    assert -np.log(1 - p) == pytest.approx(0.60, abs=0.005)
    assert nutch_interval(30.0, True) == 24.0 and nutch_interval(360.0, False) == 365.0


def test_costs_and_objective_move_visits() -> None:
    dear = plan_known(np.full(2, 0.2), 1.0, costs=[1.0, 4.0])
    assert dear.visits[0] > dear.visits[1]
    assert dear.visits @ [1.0, 4.0] == pytest.approx(1.0, rel=1e-3)
    changes = plan_known(FIVE, 5.0, objective=Objective.CHANGES)
    assert changes.visits[4] > changes.visits[0]
    assert expected_cost(10_000, changed=0.0, conditional=1.0) == 300
    assert expected_cost(10_000, changed=1.0, conditional=1.0) == 10_000


def test_no_budget_no_visit() -> None:
    assert not plan_known(FIVE, 0.0).visits.any()


def test_caps_of_hosts_hold_and_others_share_what_they_leave() -> None:
    rng = np.random.default_rng(2)
    log_rate, spread = rng.normal(-3, 1, 3000), rng.uniform(0.2, 1.5, 3000)
    host = np.repeat([0, 1, 2], 1000)
    plan = plan_believed(log_rate, spread, 90.0, hosts=host, caps=[10.0, np.inf, np.inf])
    load = np.bincount(host, plan.visits)
    assert load[0] == pytest.approx(10.0, rel=2e-3)
    assert load.sum() == pytest.approx(90.0, rel=3e-3)
    assert plan_believed(log_rate, spread, 90.0, hosts=host, caps=5.0).visits.sum() <= 15.001
