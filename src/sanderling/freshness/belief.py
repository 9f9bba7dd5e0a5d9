"""What is believed about a page's change rate: evidence of its own, and a prior learned from pages like it.

A page's evidence is one small vector, the log-likelihood of each class of rates, and a visit updates it in constant
time. Its prior is a distribution over the same classes, averaged from the pages of its folder, which backs off to
its URL pattern, its host and the crawl by the weight of the evidence each of them has (empirical Bayes with a
Dirichlet at every level). Priors move with the whole crawl, so they are learned now and then, not at every visit.

Rates drift: pages are busy when young and are left alone later. Evidence fades accordingly, and a page not seen for
long is less and less certain. Without this a page once thought hopeless would never be looked at again.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness.evidence import MEMORY

# From one change in eleven years to one an hour; neighbours differ by 2.15.
RATES: Floats = np.geomspace(1 / 4000, 24.0, 16)
LOG_RATES: Floats = np.log(RATES)
CLASSES = len(RATES)

# What is believed before anything was seen. Rates so high that every visit finds a change cannot be told apart by
# visits, so only the prior keeps a busy page from being taken for a hopeless one.
_SPREAD, _CENTRE = 2.2, np.log(0.01)
COMMON: Floats = np.exp(-((LOG_RATES - _CENTRE) ** 2) / (2 * _SPREAD**2))
COMMON /= COMMON.sum()

# A rate at which most visits find a change is believed in only as far as visits come often enough to tell: what is taken
# for hopeless is starved. `common` takes from rates the more, the more changes they put between two visits. Without it a
# site that is visited seldom stayed up to 0.009 below uniform, with it above (means of three synthetic sites of each of
# eleven kinds).
_TELLING = 2.0


def common(period: float = 0.0) -> Floats:
    """What is believed before anything was seen, when a page is visited once in `period`."""
    likely: Floats = COMMON / (1 + RATES * period / _TELLING)
    return np.asarray(likely / likely.sum())


# Pages' worth of belief that a level of the prior takes from the level above it. 10 kept more fresh than 3 on real and
# synthetic histories: 0.005 on one of 30 pages, 0.004 on one of 3,000 pages with 16 visits each; elsewhere they were alike.
CONCENTRATION = 10.0

# Of a mixture of rates and of beliefs in turn, over some of the pages.
_FIRST_SWEEPS = 30
_SAMPLE = 20_000
# How the rates of a crawl may be distributed, from pages that are nearly alike to pages of all kinds: normally in the
# logarithm, around each of many centres.
_CENTRES = np.linspace(LOG_RATES[0], LOG_RATES[-1], 4 * CLASSES)
_WIDTHS = (0.25, 0.5, 1.0, 1.5, _SPREAD)
_SHAPES: Floats = np.vstack([np.exp(-((LOG_RATES - c) ** 2) / (2 * width**2)) for width in _WIDTHS for c in _CENTRES])
_SHAPES /= _SHAPES.sum(axis=1, keepdims=True)
# The logarithm of how likely a fitted mixture is beside them: it explains chance, too. From 4 to 9 it is the same; with 0
# pages that are alike stayed 0.0025 below uniform, and without a mixture pages of two kinds lost 0.005.
_FITTED = -6.0


def no_evidence(pages: int) -> Floats:
    return np.zeros((pages, CLASSES))


def weigh(evidence: Floats, elapsed: float, exposure: float, changed: bool, memory: float = MEMORY) -> Floats:
    """Evidence after one more visit.

    `elapsed` is the time since the visit before; `exposure` the same as the page felt it (see `tide`): the same
    number unless more or less than usual was going on.
    """
    x = RATES * max(exposure, 1e-9)
    said = np.log(np.maximum(-np.expm1(-x), 1e-12)) if changed else -x
    updated: Floats = evidence * np.exp(-elapsed / memory) + said
    return np.asarray(updated - updated.max())


def likelihood(numbers: Floats) -> Floats:
    """The logarithm of the likelihood of each class of rates, from `evidence` of one kind of change: (pages, numbers)."""
    quiet, changes, logs, dated = numbers.T
    interval = np.exp(logs / np.maximum(changes, 1e-9))
    with np.errstate(over="ignore"):
        x = RATES * np.minimum(interval, 1e6)[:, None]
    said = np.log(np.maximum(-np.expm1(-x), 1e-12))
    found: Floats = changes[:, None] * said + dated[:, None] * LOG_RATES - RATES * quiet[:, None]
    return np.asarray(found - found.max(axis=1, keepdims=True))


def posterior(prior: Floats, evidence: Floats) -> Floats:
    weight: Floats = prior * np.exp(evidence - evidence.max(axis=-1, keepdims=True))
    total: Floats = weight.sum(axis=-1, keepdims=True)
    return weight / total


def learn_prior(believed: Floats, trust: Floats, levels: Sequence[NDArray[np.intp]], first: Floats = COMMON) -> Floats:
    """A prior for every page from all others: `levels` are group numbers from the coarsest to the finest.

    `first` is what was believed of a page of any group. `trust` in 0..1 says how much a page's belief counts: nothing before its first visit, less when it is old.
    A page is left out of its own prior, or its evidence would count twice.
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


def usual(said: Floats, trust: Floats, first: Floats) -> Floats:
    """What a page of this crawl does, as far as the evidence of its pages says; beginning from `first`.

    Few visits a page cannot tell pages that differ from pages that are alike: a wide distribution of rates explains both,
    and whoever acts on it takes chance for difference. So narrow and wide ones compete, and are mixed by how well each
    explains what was seen. Among them is one of any form that is fitted to it.
    """
    some = slice(None, None, -(-len(said) // _SAMPLE))
    likely, trust = np.exp(said[some]), trust[some]
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
    """A belief in two numbers, mean and standard deviation of the logarithm of the rate, as the scheduler keeps it."""
    mean = believed @ LOG_RATES
    variance = believed @ LOG_RATES**2 - mean**2
    return mean, np.sqrt(np.maximum(variance, 0.0))


def expected_rate(believed: Floats) -> Floats:
    """Between the mean rate, which rare wild guesses dominate, and the harmonic mean, which slow ones do."""
    return np.asarray(0.5 * (believed @ RATES) + 0.5 / (believed @ (1 / RATES)))
