"""A site of 2,000 pages, kept for 30 days by a tenth of its pages a day: what a policy believes is what it gets."""

import numpy as np
import pytest

from sanderling.freshness.simulation.replay import Result
from sanderling.lab.keeping import Log, Truth, planned, truth
from sanderling.lab.served import KeptSite
from sanderling.testing import SyntheticWeb

POLICIES = ("uniform", "proportional", "nutch", "top-levels", "optimal")


# What optimal may stay below the best of the others: nothing, but where all pages change alike there is nothing to
# learn, and what is believed to be learned costs a little.
TEMPERS = [({}, 0.0), ({"unchanging": 0.0, "rate_spread": 0.5}, 0.001)]


@pytest.mark.parametrize(("temper", "behind"), TEMPERS, ids=["as on the web", "all alike"])
def test_every_policy_is_as_fresh_as_it_believes(temper: dict[str, float], behind: float) -> None:
    """On the mean of two sites. Twenty pages below each, so that the upper levels say something about the others."""
    kept: dict[str, list[Result]] = {policy: [] for policy in POLICIES}
    for seed in (7, 8):
        web = SyntheticWeb(pages=2000, links=40, seed=seed, appear=0.0, vanish=0.0, **temper)  # type: ignore[arg-type]
        site = truth(web, 30)
        for policy, results in kept.items():
            results.append(planned(site, policy, 0.1))
    for policy, results in kept.items():
        assert max(result.visits for result in results) <= 21 * 200, policy
        error = np.mean([(result.predicted or 0.0) - (result.true_then or 0.0) for result in results])
        assert abs(error) <= 0.02, policy
    freshness = {policy: np.mean([result.freshness for result in results]) for policy, results in kept.items()}
    assert freshness["optimal"] >= max(freshness.values()) - behind


def test_the_same_over_http() -> None:
    with KeptSite(pages=1000, seed=7, days=30, rounds=10) as kept:
        assert len(kept.truth.urls) == 1000
        result = kept.keep("optimal", 0.1)
    assert result.predicted == pytest.approx(result.true_then, abs=0.02)
    assert 2000 <= result.visits <= 21 * 100
    by_planner = planned(kept.truth, "optimal", 0.1)
    assert result.freshness == pytest.approx(by_planner.freshness, abs=0.03)


def test_a_log_measures_exactly_what_it_says() -> None:
    """Two pages for ten days, three of them to warm up: one is stale from day 5 to 6, the other from day 8 on."""
    log = Log(Truth(["a", "b"], [0, 1], [np.array([5.0]), np.array([8.0, 9.0])], 10.0), np.array([1.0, 3.0]))
    log.round([0], 6.0, 0.5, 1.0)
    result = log.result("uniform", 0.1)
    assert result.freshness == pytest.approx(1 - 3 / 14)
    assert result.weighted == pytest.approx(1 - (1 * 1 + 3 * 2) / (7 * 4))
    assert result.age == pytest.approx((0.5 + 2.0) / 14)
    assert (result.visits, result.caught) == (1, pytest.approx(1 / 3))
    assert (result.predicted, result.true_then) == (0.75, pytest.approx((0.75 + 1.0) / 2))
