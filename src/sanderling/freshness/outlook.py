"""Summaries of the beliefs about a collection: how often pages change, which hosts give wrong
hints, and the freshness that each budget gives."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness import belief
from sanderling.freshness.budget import plan_believed
from sanderling.freshness.collection import Believed, numbers_of
from sanderling.freshness.curves import even_freshness
from sanderling.freshness.evidence import KINDS, SIZE
from sanderling.freshness.sources import SOURCES
from sanderling.freshness.trust import Trust

# The least changes a day of each class, and its name.
PACES = (
    (1.0, "daily or more often"),
    (1 / 7, "weekly"),
    (1 / 30, "monthly"),
    (1 / 365, "yearly"),
    (0.0, "less often"),
)
# Budgets in visits a page a day.
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Days from now for which freshness without visits is predicted.
DAYS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 18.0, 22.0, 28.0)
# Pages that were watched for fewer days say little about a day.
SHORTEST_WATCH = 1.0
# Pages that a source did not name have shown what its silence is worth when this many changes were
# expected there.
KNOWN_AFTER = 1.0
FOUR_OF_FIVE = 1.28  # standard deviations of a normal distribution
_WIDEST = 9.0  # a greater variance of the logarithm of a rate says no more
_SAMPLE = 50_000
# Gauss-Hermite quadrature: the mean over a normal distribution.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class BudgetValue(NamedTuple):
    """The long-run freshness that a budget gives, with the optimal and the uniform policy."""

    visits: float  # a day
    optimal: float
    uniform: float


class SignalDoubt(NamedTuple):
    """A hint of a host that visits have contradicted too often."""

    host: int
    about: str
    why: str


class SourceBelief(NamedTuple):
    """How far a source that names pages of a host is believed, and what that saves."""

    host: int
    source: str
    heard: float  # last sign of life, in days since 1970
    named: int  # pages
    precision: float | None  # the share of its words that visits confirmed; None before there were any
    recall: float | None  # the share of changes it announces; None before visits to other pages have shown it
    heeded: bool  # what it names is visited at once
    young: int  # pages that need no visit now because it is silent about them
    a_day: float  # changes that it is expected to announce
    taken: float = 0.0  # until when another crawler has the site, in days since 1970


class Interval(NamedTuple):
    """A number that lies between `low` and `high` in four of five cases."""

    low: float
    expected: float
    high: float


def changes_a_day(known: Believed, pages: NDArray[np.void]) -> Interval:
    """The changes of all pages in a day.

    Each page has its own uncertainty. All share that of the usual rate, which is learned from few
    changes.
    """
    total = float(known.rate.sum())
    numbers = numbers_of(pages)[:, 0].astype(np.float64)
    own = float(np.sqrt((known.rate**2 * np.expm1(np.minimum(known.spread**2, _WIDEST))).sum())) / max(total, 1e-12)
    shared = 1 / np.sqrt(1 + numbers[:, 1].sum() + numbers[:, 3].sum())
    factor = float(np.exp(FOUR_OF_FIVE * np.hypot(own, shared)))
    return Interval(total / factor, total, total * factor)


def watched_days(pages: NDArray[np.void]) -> float:
    """For how long the pages that were visited again have been watched, on average."""
    numbers = numbers_of(pages)[:, 0].astype(np.float64)
    quiet, changes, logs, _ = numbers[numbers.any(axis=1)].T
    if not len(quiet):
        return 0.0
    return float((quiet + changes * np.exp(logs / np.maximum(changes, 1e-9))).mean())


def paces(known: Believed) -> list[tuple[str, int]]:
    """How many pages there are in each class of PACES."""
    rate = np.exp(known.log_rate)
    counts, above = [], np.inf
    for least, name in PACES:
        counts.append((name, int(((rate >= least) & (rate < above)).sum())))
        above = least
    return counts


def rates_by_kind(pages: NDArray[np.void]) -> dict[str, float]:
    """Mean changes a day of each kind, over the pages that were visited more than once."""
    numbers = numbers_of(pages)
    seen = numbers[numbers[:, 0].any(axis=1)].astype(np.float64)
    if not len(seen):
        return {}
    found = {}
    for n, kind in enumerate(KINDS):
        evidence = belief.log_likelihood(seen[:, n])
        usual = belief.usual(evidence, np.ones(len(evidence)), belief.COMMON)
        found[kind] = float(belief.expected_rate(belief.posterior(usual, evidence)).mean())
    return found


def rates_of(packed: bytes) -> dict[str, float]:
    """Expected changes a day of each kind, from the visits of one page. Empty if it was visited
    only once."""
    if len(packed) < SIZE:
        return {}
    numbers = np.frombuffer(packed[:SIZE], np.float32).reshape(len(KINDS), -1).astype(np.float64)
    if not numbers[0].any():
        return {}
    believed = belief.posterior(
        np.broadcast_to(belief.COMMON, (len(KINDS), belief.CLASSES)), belief.log_likelihood(numbers)
    )
    return dict(zip(KINDS, map(float, belief.expected_rate(believed)), strict=True))


def budget_values(known: Believed) -> list[BudgetValue]:
    """Freshness as a function of the budget. For a large collection a sample is used."""
    pages, some = len(known.log_rate), _sample(known)
    log_rate, spread, weight = known.log_rate[some], known.spread[some], known.weight[some]
    return [
        BudgetValue(
            share * pages,
            _freshness(log_rate, spread, weight, plan_believed(log_rate, spread, share * len(some), weight).visits),
            _freshness(log_rate, spread, weight, np.full(len(some), share)),
        )
        for share in SHARES
        if share * pages >= 1
    ]


def fading(known: Believed) -> list[tuple[float, float]]:
    """The share of pages that will still be fresh after each of DAYS, if none of them is
    visited."""
    some = _sample(known)
    fresh = known.fresh[some] / max(len(some), 1)
    rates = np.exp(known.log_rate[some, None] + known.spread[some, None] * _NODES)
    return [(day, float(fresh @ (np.exp(-rates * day) @ _WEIGHTS))) for day in DAYS]


def _sample(known: Believed) -> NDArray[np.intp]:
    pages = len(known.log_rate)
    return np.random.default_rng(0).choice(pages, _SAMPLE, replace=False) if pages > _SAMPLE else np.arange(pages)


def _freshness(log_rate: Floats, spread: Floats, weight: Floats, visits: Floats) -> float:
    rates = np.exp(log_rate[:, None] + spread[:, None] * _NODES)
    fresh = even_freshness(rates / np.maximum(visits, 1e-12)[:, None]) @ _WEIGHTS
    return float(weight @ fresh / max(float(weight.sum()), 1e-12))


def source_beliefs(
    hosts: Mapping[int, Trust], pages: NDArray[np.void], known: Believed, now: float
) -> list[SourceBelief]:
    """What is believed of each source of each host."""
    found = []
    for host, trust in hosts.items():
        if not trust.sources:
            continue
        mine = np.flatnonzero(pages["host"] == host)
        rate = known.rate[mine]
        last = pages["at"][mine]
        for name, record in trust.sources.items():
            recall = record.recall
            alive = record.silence_until(name) >= now - 1.0
            covered = np.minimum(now, record.silence_until(name)) > np.maximum(last, record.since)
            unnamed = pages["told"][mine, SOURCES.index(name)] <= last
            found.append(
                SourceBelief(
                    host, name, record.heard, record.named, record.precision if record.true + record.false else None, recall if record.expected >= KNOWN_AFTER else None, record.is_heeded,
                    int((covered & unnamed).sum()) if recall > 0.5 else 0, float(rate.sum()) * recall * alive, record.taken,
                )
            )  # fmt: skip
    return found


def doubts(hosts: Mapping[int, Trust], rate: float) -> list[SignalDoubt]:
    """Hints of hosts that visits did not confirm. `rate` is the usual change rate of a page, in
    changes a day."""
    found = []
    for host, trust in hosts.items():
        sitemap, checked = trust.sitemap, trust.validators
        if sitemap.false >= 3 and sitemap.precision(rate) < 0.5:
            why = (
                f"{sitemap.precision(rate):.0%} of the dates in its sitemap are true, "
                f"{sitemap.recall:.0%} of changes are announced"
            )
            found.append(SignalDoubt(host, "sitemap", why))
        if not checked.not_modified_is_true:
            found.append(
                SignalDoubt(host, "304", "pages changed under the same ETag or Last-Modified: always fetched in full")
            )
        if checked.restless >= 3 and checked.saves < 0.5:
            why = f"{1 - checked.saves:.0%} of its ETags change on unchanged pages: conditional requests save little"
            found.append(SignalDoubt(host, "ETag", why))
        if checked.misdated >= 3 and not checked.dates_are_true:
            share = checked.misdated / checked.dated
            found.append(SignalDoubt(host, "Last-Modified", f"{share:.0%} of its dates contradict the visits"))
    return found
