"""Formulas against published values, and estimators against simulated truth."""

import numpy as np
import pytest

from lab.estimators import VisitInterval, bayesian, bias_reduced, from_last_modified, most_likely, naive
from lab.simulation.exact_evidence import no_evidence, observed
from sanderling.freshness import belief, evidence
from sanderling.freshness.curves import even_freshness, gain, inverse_gain
from sanderling.freshness.worth import Objective, wait, worth


def test_even_freshness() -> None:
    assert even_freshness([0.0, 1.0, np.inf]) == pytest.approx([1.0, 0.6321, 0.0], abs=5e-5)


def test_gain_and_its_inverse() -> None:
    x = np.geomspace(1e-4, 25, 200)
    assert np.allclose(inverse_gain(gain(x)), x, rtol=1e-6)
    assert inverse_gain(1.0) == np.inf
    assert inverse_gain(-1.0) == inverse_gain(0.0) == 0


@pytest.mark.parametrize("objective", list(Objective))
def test_worth_without_doubt_is_the_formula(objective: Objective) -> None:
    rate, age = np.array([0.01, 0.5, 3.0]), np.array([40.0, 3.0, 0.2])
    exact = gain(rate * age) / rate**objective.power
    assert np.allclose(worth(age, np.log(rate), 0.0, objective, drift=0.0), exact, rtol=2e-3)


def test_wait_inverts_worth_and_doubt_keeps_every_page_in_play() -> None:
    rng = np.random.default_rng(3)
    log_rate, spread = rng.normal(-4, 1.5, 500), rng.uniform(0, 2, 500)
    ages = wait(5.0, log_rate, spread, 5000.0)
    inside = ages < 4999
    assert np.allclose(worth(ages, log_rate, spread)[inside], 5.0, rtol=1e-2)
    hopeless = wait(1.0, np.log(5.0), np.array([0.0, 1.0]), 20000.0)
    assert hopeless[1] < hopeless[0] < 20000


def test_bias_reduced_estimator() -> None:
    """With one change expected per visit, the naive count finds 0.63 of the rate, and EP nearly all
    of it."""
    rng = np.random.default_rng(5)
    seen = rng.binomial(20, 1 - np.exp(-1.0), 20000)
    assert np.mean([naive(20, int(x), 1.0) for x in seen]) == pytest.approx(0.632, abs=0.005)
    assert np.mean([bias_reduced(20, int(x), 1.0) for x in seen]) == pytest.approx(1.0, abs=0.03)
    assert bias_reduced(10, 0, 2.0) == 0.0
    with pytest.raises(ValueError, match="between"):
        bias_reduced(3, 4, 1.0)


def test_most_likely_rate_of_irregular_intervals() -> None:
    rng = np.random.default_rng(6)
    lengths = rng.exponential(3.0, 4000)
    found = most_likely([VisitInterval(t, bool(rng.random() < 1 - np.exp(-0.4 * t))) for t in lengths])
    assert found == pytest.approx(0.4, rel=0.05)
    assert 0 < most_likely([VisitInterval(2.0, False)]) < most_likely([VisitInterval(2.0, True)]) < 10
    # Even intervals have a closed form: the root is -ln(unchanged share), both fakes included.
    even = most_likely([VisitInterval(1.0, True)] * 3 + [VisitInterval(1.0, False)] * 5)
    assert even == pytest.approx(-np.log(6 / 10), rel=1e-9)


def test_last_modified_estimator_uses_when_not_only_whether() -> None:
    rng = np.random.default_rng(7)
    rates = []
    for _ in range(300):
        age = rng.exponential(1 / 0.8, 60)  # time back from each visit to the last change
        seen = age < 2.0
        rates.append(from_last_modified(60, int(seen.sum()), 120.0, float(np.minimum(age, 2.0).sum())))
    assert np.mean(rates) == pytest.approx(0.8, rel=0.05)
    assert from_last_modified(5, 0, 10.0, 10.0) == 0.0


def test_bayesian_classes() -> None:
    weekly_or_monthly = [1 / 7, 1 / 30]
    after = bayesian([VisitInterval(30, False)], weekly_or_monthly, [0.5, 0.5])
    assert after[1] > 0.95
    assert bayesian([VisitInterval(7, True)] * 3, weekly_or_monthly, [0.5, 0.5])[0] > 0.9


def test_evidence_equals_bayes_when_nothing_fades() -> None:
    visits = [VisitInterval(3.0, True), VisitInterval(9.0, False), VisitInterval(5.0, True)]
    evidence = no_evidence(1)[0]
    for length, changed in visits:
        evidence = observed(evidence, length, length, changed, memory=1e12)
    expected = bayesian(visits, belief.RATES, belief.COMMON)
    assert np.allclose(belief.posterior(belief.COMMON, evidence), expected, atol=1e-9)


def test_a_prior_backs_off_from_folder_to_crawl() -> None:
    slow, fast = np.eye(belief.CLASSES)[2], np.eye(belief.CLASSES)[12]
    believed = np.array([slow] * 40 + [fast] * 40 + [belief.COMMON] * 2)
    trust = np.array([1.0] * 80 + [0.0] * 2)
    folder = np.array([0] * 40 + [1] * 40 + [0, 1])
    crawl = np.zeros(82, np.intp)
    prior = belief.learn_prior(believed, trust, [crawl, folder])
    assert prior[80] @ slow > 0.8 and prior[81] @ fast > 0.8
    assert np.allclose(prior.sum(axis=1), 1)


def test_what_is_known_of_a_page_that_rarely_changes_fades_slowly() -> None:
    """A page changes every 400 days and is visited every 50: with a memory of 500 days, the changes
    before the last one would be nearly gone."""
    packed = evidence.NONE
    for visit in range(1, 49):
        packed = evidence.observe(packed, 50.0, [visit % 8 == 0] * len(evidence.KINDS))
    rate = evidence.rough_rate(packed, 0.0)
    kept = np.frombuffer(packed, np.float32)[1]
    assert kept > 3.5
    assert 1 / 600 < rate < 1 / 250
