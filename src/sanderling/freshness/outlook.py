"""What is believed about a collection, for people: how its pages change, whom to believe, and what a budget buys."""

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
from sanderling.freshness.trust import Trust

# Changes a day from which on a page belongs to a class, and its name.
PACES = (
    (1.0, "daily or more often"),
    (1 / 7, "weekly"),
    (1 / 30, "monthly"),
    (1 / 365, "yearly"),
    (0.0, "less often"),
)
# Budgets as visits a page a day.
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Days from now at which it is asked how fresh the copy will be.
DAYS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 18.0, 22.0, 28.0)
_SAMPLE = 50_000
# Gauss and Hermite's way to a mean over a normal distribution.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class BudgetValue(NamedTuple):
    """What a budget of so many visits a day keeps fresh in the long run."""

    visits: float
    optimal: float
    uniform: float


class SignalDoubt(NamedTuple):
    """A host and something it says that is not believed."""

    host: int
    about: str
    why: str


def paces(known: Believed) -> list[tuple[str, int]]:
    """How many pages change how often."""
    rate = np.exp(known.log_rate)
    counts, above = [], np.inf
    for least, name in PACES:
        counts.append((name, int(((rate >= least) & (rate < above)).sum())))
        above = least
    return counts


def rates_by_kind(pages: NDArray[np.void]) -> dict[str, float]:
    """Changes a day of each kind, in the mean over the pages that were visited again."""
    numbers = numbers_of(pages)
    seen = numbers[numbers[:, 0].any(axis=1)].astype(np.float64)
    if not len(seen):
        return {}
    found = {}
    for n, kind in enumerate(KINDS):
        said = belief.likelihood(seen[:, n])
        usual = belief.usual(said, np.ones(len(said)), belief.COMMON)
        found[kind] = float(belief.expected_rate(belief.posterior(usual, said)).mean())
    return found


def rates_of(packed: bytes) -> dict[str, float]:
    """Changes a day of each kind that one page's own visits let expect; none when it was not visited again."""
    if len(packed) != SIZE:
        return {}
    numbers = np.frombuffer(packed, np.float32).reshape(len(KINDS), -1).astype(np.float64)
    if not numbers[0].any():
        return {}
    believed = belief.posterior(
        np.broadcast_to(belief.COMMON, (len(KINDS), belief.CLASSES)), belief.likelihood(numbers)
    )
    return dict(zip(KINDS, map(float, belief.expected_rate(believed)), strict=True))


def buys(known: Believed) -> list[BudgetValue]:
    """Freshness as a function of the budget. Of a large collection a sample is asked."""
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
    """The share of pages that are still fresh so many days from now when none of them is visited."""
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


def doubts(hosts: Mapping[int, Trust], rate: float) -> list[SignalDoubt]:
    """What hosts say that visits did not confirm; `rate` is how often a page changes, in changes a day."""
    found = []
    for host, trust in hosts.items():
        said, checked = trust.sitemap, trust.validators
        if said.false >= 3 and said.precision(rate) < 0.5:
            why = f"{said.precision(rate):.0%} of the dates in its sitemap are true, {said.recall:.0%} of changes are told"
            found.append(SignalDoubt(host, "sitemap", why))
        if not checked.not_modified_is_true:
            found.append(
                SignalDoubt(host, "304", "pages changed behind the same ETag or Last-Modified: asked for whole")
            )
        if checked.restless >= 3 and checked.saves < 0.5:
            why = f"{1 - checked.saves:.0%} of its ETags change with pages that do not: nothing is saved by asking"
            found.append(SignalDoubt(host, "ETag", why))
        if checked.misdated >= 3 and not checked.dates_are_true:
            share = checked.misdated / checked.dated
            found.append(SignalDoubt(host, "Last-Modified", f"{share:.0%} of its dates contradict what was found"))
    return found
