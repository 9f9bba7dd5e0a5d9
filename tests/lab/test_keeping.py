"""A site of 2,000 pages for 30 days, with visits to a tenth of them a day: the predicted freshness
is the true one."""

import numpy as np
import pytest

from lab.keeping import Log, WebTruth, planned, truth
from lab.served import KeptSite
from lab.simulation.replay import ReplayResult
from sanderling.testing import SyntheticWeb

POLICIES = ("uniform", "proportional", "nutch", "top-levels", "optimal")


ALIKE = {"unchanging": 0.0, "rate_spread": 0.0}
NEARLY = {"unchanging": 0.0, "rate_spread": 0.5}
# What optimal may stay below the best of the others: nothing, but where all pages change alike
# there is nothing to learn, and what is believed to be learned costs a little.
SITES = [({}, 0.0), (NEARLY, 0.001)]


@pytest.mark.parametrize(("temper", "behind"), SITES, ids=["as on the web", "all alike"])
def test_every_policy_is_as_fresh_as_it_believes(temper: dict[str, float], behind: float) -> None:
    """The mean of two sites. Each page links to twenty, so that the upper levels give information
    about the others."""
    kept: dict[str, list[ReplayResult]] = {policy: [] for policy in POLICIES}
    for seed in (7, 8):
        web = SyntheticWeb(pages=2000, links=40, seed=seed, appear=0.0, vanish=0.0, **temper)  # type: ignore[arg-type]
        site = truth(web, 30)
        for policy, results in kept.items():
            results.append(planned(site, policy, 0.1).result(policy, 0.1))
    for policy, results in kept.items():
        assert max(result.visits for result in results) <= 21 * 200, policy
        error = np.mean([(result.predicted or 0.0) - (result.true_then or 0.0) for result in results])
        assert abs(error) <= 0.02, policy
    freshness = {policy: np.mean([result.freshness for result in results]) for policy, results in kept.items()}
    assert freshness["optimal"] >= max(freshness.values()) - behind


# (temper, days between two rounds, visits a page a day, by how much optimal is ahead of the best of
# the others, at least): where there is nothing to learn, and where a round is so long that it
# matters when the next one comes.
HARD = [
    (ALIKE, 1.0, 0.2, -0.001),
    (NEARLY, 1.0, 0.1, -0.001),
    ({}, 3.0, 0.1, 0.004),
]


@pytest.mark.parametrize(("temper", "every", "budget", "ahead"), HARD)
def test_chance_aside_no_policy_keeps_more_fresh(
    temper: dict[str, float], every: float, budget: float, ahead: float
) -> None:
    """Sites of 300 pages, which are few to learn from. The result is the expected freshness, as the
    mean of three sites."""
    kept: dict[str, list[float]] = {policy: [] for policy in ("uniform", "nutch", "optimal")}
    for seed in (1, 2, 3):
        site = truth(SyntheticWeb(pages=300, seed=seed, appear=0.0, vanish=0.0, **temper), 30)  # type: ignore[arg-type]
        for policy, expected in kept.items():
            expected.append(planned(site, policy, budget, every).expected())
    mean = {policy: np.mean(expected) for policy, expected in kept.items()}
    assert mean["optimal"] - max(mean["uniform"], mean["nutch"]) >= ahead


def test_the_same_over_http() -> None:
    with KeptSite(pages=300, seed=7, days=30, rounds=10) as kept:
        assert len(kept.truth.urls) == 300
        result = kept.keep("optimal", 0.1)
    assert result.predicted == pytest.approx(result.true_then, abs=0.04)
    assert 600 <= result.visits <= 21 * 30
    by_planner = planned(kept.truth, "optimal", 0.1).result("optimal", 0.1)
    assert result.freshness == pytest.approx(by_planner.freshness, abs=0.03)


def test_a_log_measures_exactly_what_it_says() -> None:
    """Two pages for ten days, with three days of warm-up. One is stale from day 5 to 6, the other
    from day 8 on."""
    log = Log(
        WebTruth(["a", "b"], [0, 1], [np.array([5.0]), np.array([8.0, 9.0])], 10.0, np.array([0.2, 0.0])),
        np.array([1.0, 3.0]),
    )
    log.round([0], 6.0, 0.5, 1.0)
    result = log.result("uniform", 0.1)
    assert result.freshness == pytest.approx(1 - 3 / 14)
    assert result.weighted == pytest.approx(1 - (1 * 1 + 3 * 2) / (7 * 4))
    assert result.age == pytest.approx((0.5 + 2.0) / 14)
    assert (result.visits, result.caught) == (1, pytest.approx(1 / 3))
    # A page that never changes, and one whose copy is fresh with e^(-0.2 t) at t days after a
    # visit.
    changing = (np.exp(-0.6) - np.exp(-1.2)) / 0.2 + (1 - np.exp(-0.8)) / 0.2
    assert log.expected() == pytest.approx((7 + changing) / 14)
    assert (result.predicted, result.true_then) == (0.75, pytest.approx((0.75 + 1.0) / 2))
