"""Beliefs about the change rate of a page: a prior from similar pages, updated with the evidence of
its own visits.

A belief is a distribution over classes of rates. The evidence of a page is the log-likelihood of
each class. Its prior is learned from the pages of its folder. With little evidence there, it backs
off to the URL pattern, the host and the whole crawl (empirical Bayes with a Dirichlet prior at
every level). Every visit anywhere can change a prior, so priors are learned now and then, not at
every visit.

Rates drift: many pages change often when they are new and rarely later. So evidence fades, and
beliefs about a page that was not visited for long become uncertain. Otherwise a page that once
changed too fast to keep fresh would never be visited again.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats

# From one change in eleven years to one an hour. Each class is 2.15 times the one before.
RATES: Floats = np.geomspace(1 / 4000, 24.0, 16)
LOG_RATES: Floats = np.log(RATES)
CLASSES = len(RATES)

# The belief before any visit. Visits cannot distinguish rates that are so high that every visit
# finds a change. Only the prior then keeps a busy page from being given up as impossible to keep
# fresh.
_SPREAD, _CENTRE = 2.2, np.log(0.01)
COMMON: Floats = np.exp(-((LOG_RATES - _CENTRE) ** 2) / (2 * _SPREAD**2))
COMMON /= COMMON.sum()

# A page that seems to change much faster than it is visited gets no visits. Rare visits cannot
# prove such a rate, so `common` lowers the probability of a rate by the changes it implies between
# two visits. Without this, freshness on rarely visited sites was up to 0.009 below uniform; with
# it, it is above (means of three synthetic sites of each of eleven kinds).
_TELLING = 2.0


def common(period: float = 0.0) -> Floats:
    """The belief before any evidence, for a page that is visited once in `period` days."""
    likely: Floats = COMMON / (1 + RATES * period / _TELLING)
    return np.asarray(likely / likely.sum())


# The level above counts as this many pages in the prior of a level. With 10, freshness was higher
# than with 3 on real and synthetic histories: by 0.005 on one of 30 pages, by 0.004 on one of 3,000
# pages with 16 visits each. On all others it was the same.
CONCENTRATION = 10.0

# `usual` fits a mixture of rates in this many steps, on a sample of the pages.
_FIRST_SWEEPS = 30
_SAMPLE = 20_000
# The possible distributions of rates in a crawl: log-normal around each of many centres, from
# narrow (pages that are nearly alike) to wide (pages of all kinds).
_CENTRES = np.linspace(LOG_RATES[0], LOG_RATES[-1], 4 * CLASSES)
_WIDTHS = (0.25, 0.5, 1.0, 1.5, _SPREAD)
_SHAPES: Floats = np.vstack([np.exp(-((LOG_RATES - c) ** 2) / (2 * width**2)) for width in _WIDTHS for c in _CENTRES])
_SHAPES /= _SHAPES.sum(axis=1, keepdims=True)
# The log prior probability of the fitted mixture beside these. It is low because a fit also
# explains chance. Values from -4 to -9 give the same results. With 0, freshness of pages that are
# alike was 0.0025 below uniform; without a mixture, freshness of pages of two kinds was 0.005
# lower.
_FITTED = -6.0


def log_likelihood(numbers: Floats) -> Floats:
    """The log-likelihood of each class of rates, from the evidence of one kind of change: (pages,
    numbers)."""
    quiet, changes, logs, dated = numbers.T
    interval = np.exp(logs / np.maximum(changes, 1e-9))
    with np.errstate(over="ignore"):
        x = RATES * np.minimum(interval, 1e6)[:, None]
    log_changed = np.log(np.maximum(-np.expm1(-x), 1e-12))
    found: Floats = changes[:, None] * log_changed + dated[:, None] * LOG_RATES - RATES * quiet[:, None]
    return np.asarray(found - found.max(axis=1, keepdims=True))


def posterior(prior: Floats, evidence: Floats) -> Floats:
    weight: Floats = prior * np.exp(evidence - evidence.max(axis=-1, keepdims=True))
    total: Floats = weight.sum(axis=-1, keepdims=True)
    return weight / total


def learn_prior(believed: Floats, trust: Floats, levels: Sequence[NDArray[np.intp]], first: Floats = COMMON) -> Floats:
    """Learns a prior for every page from all other pages.

    `levels` are group numbers, from the coarsest level to the finest. `first` is the prior of the
    whole crawl. `trust` (0 to 1) says how much the belief about a page counts: 0 before its first
    visit, and less with age. A page does not count in its own prior, because its evidence would
    then count twice.
    """
    counted = believed * trust[:, None]
    whole = counted.sum(axis=0)
    strength = CONCENTRATION
    prior: Floats = np.broadcast_to((whole + strength * first) / (whole.sum() + strength), believed.shape)
    for group in levels:
        sums = np.stack([np.bincount(group, counted[:, k]) for k in range(CLASSES)], axis=1)
        others = sums[group] - counted
        mass = others.sum(axis=1, keepdims=True)
        prior = (others + strength * prior) / (mass + strength)
    return prior


def usual(evidence: Floats, trust: Floats, first: Floats) -> Floats:
    """The distribution of rates in this crawl, learned from the `evidence` of its pages. `first` is
    its prior.

    With few visits a page, one cannot see whether pages differ or are alike. A wide distribution
    explains both, but a policy that uses it takes chance for differences. So narrow and wide
    distributions compete, together with one that is fitted to the evidence. The result mixes them
    by how well each explains the evidence.
    """
    some = slice(None, None, -(-len(evidence) // _SAMPLE))
    likely, trust = np.exp(evidence[some]), trust[some]
    fitted = first
    for _ in range(_FIRST_SWEEPS):
        weight = likely * fitted
        counted = trust @ (weight / weight.sum(axis=1, keepdims=True))
        fitted = (counted + CONCENTRATION * first) / (trust.sum() + CONCENTRATION)
    before = (_SHAPES @ first).reshape(len(_WIDTHS), -1)
    before /= before.sum(axis=1, keepdims=True) * len(_WIDTHS)
    tempered = _SHAPES * (first / COMMON)
    shapes = np.vstack([tempered / tempered.sum(axis=1, keepdims=True), fitted])
    score = trust @ np.log(np.maximum(likely @ shapes.T, 1e-300)) + np.append(np.log(before), _FITTED)
    chosen = np.exp(score - score.max())
    return np.asarray(chosen @ shapes / chosen.sum())


def mean_and_spread(believed: Floats) -> tuple[Floats, Floats]:
    """A belief as two numbers: mean and standard deviation of the logarithm of the rate."""
    mean = believed @ LOG_RATES
    variance = believed @ LOG_RATES**2 - mean**2
    return mean, np.sqrt(np.maximum(variance, 0.0))


def expected_rate(believed: Floats) -> Floats:
    """The middle between the arithmetic mean, which high rates dominate, and the harmonic mean,
    which low ones do."""
    return np.asarray(0.5 * (believed @ RATES) + 0.5 / (believed @ (1 / RATES)))
