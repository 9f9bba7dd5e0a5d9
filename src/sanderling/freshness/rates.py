"""How often pages change, by two published estimators, each with an interval.

EB (Bayesian) is what visits are planned by: `belief` has it. EP counts visits and changes and
corrects the bias of their ratio. A page with few visits has no EP of its own; then that of its
host stands for it, as site-level statistics do.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.arrays import Floats
from sanderling.freshness import belief
from sanderling.freshness.collection import Believed
from sanderling.freshness.evidence import KINDS, NONE
from sanderling.freshness.outlook import FOUR_OF_FIVE, Interval
from sanderling.freshness.tallies import VisitCounts

# With fewer visits the interval of EP spans a factor of ten and more.
ENOUGH = 5


class PageRate(NamedTuple):
    """The changes a day of a page. Without visits of its own, they are those of similar pages."""

    visits: int  # that are counted
    changes: int
    days: float
    eb: Interval
    eb_of: str  # page, or similar pages
    ep: Interval | None  # None before any page of the host was visited twice
    ep_of: str  # page, or host


class HostRate(NamedTuple):
    """The changes a day of a page of a host, on average."""

    pages: int
    visited_again: int
    visits: int
    changes: int
    eb: Interval
    ep: Interval | None


def bias_reduced(visits: ArrayLike, changes: ArrayLike, interval: ArrayLike) -> Floats:
    """EP: -ln((n - X + 0.5) / (n + 0.5)) / I."""
    n, x = np.asarray(visits, np.float64), np.asarray(changes, np.float64)
    return np.asarray(np.log((n + 0.5) / (n - x + 0.5)) / np.asarray(interval, np.float64))


def by_counts(visits: float, changes: float, interval: float) -> Interval | None:
    """EP with an interval, that of Wilson for the share of visits that found a change. None
    without visits; no upper end when every visit found one."""
    if visits <= 0 or interval <= 0:
        return None
    share, z = changes / visits, FOUR_OF_FIVE**2 / visits
    middle = (share + z / 2) / (1 + z)
    half = np.sqrt(z * (share * (1 - share) + z / 4)) / (1 + z)
    low, high = max(middle - half, 0.0), middle + half
    ends = (float(-np.log1p(-low)) / interval, np.inf if high >= 1 - 1e-9 else float(-np.log1p(-high)) / interval)
    return Interval(ends[0], float(bias_reduced(visits, changes, interval)), ends[1])


def as_evidence(counts: VisitCounts) -> NDArray[np.bytes_]:
    """Counts in the form of evidence, as if the visits had been evenly spaced: for EB by the visits
    of a window alone. Only changes of any kind are known."""
    numbers = np.zeros((len(counts.visits), len(KINDS), len(NONE) // (4 * len(KINDS))), "<f4")
    logs = np.log(np.maximum(counts.interval, 1e-9))
    numbers[:, 0, :3] = np.column_stack(
        [(counts.visits - counts.changes) * counts.interval, counts.changes, counts.changes * logs]
    )
    return np.frombuffer(numbers.tobytes(), f"S{len(NONE)}")


def page_rates(
    pages: NDArray[np.void], known: Believed, counts: VisitCounts, hosts: Mapping[int, HostRate]
) -> list[PageRate]:
    """The rates of all pages, in their order."""
    wide = np.exp(FOUR_OF_FIVE * known.spread)
    seen = pages["evidence"] != b""
    found = []
    for host, visits, changes, days, rate, factor, own in zip(
        pages["host"].tolist(), *(each.tolist() for each in (*counts, known.rate, wide, seen)), strict=True
    ):
        eb = Interval(rate / factor, rate, rate * factor)
        found.append(_rate(visits, changes, days, eb, own, hosts[host].ep))
    return found


def _rate(
    visits: float, changes: float, days: float, eb: Interval, seen: bool, of_host: Interval | None
) -> PageRate:  # fmt: skip
    own = by_counts(visits, changes, days / visits) if visits >= ENOUGH else None
    return PageRate(
        int(visits), int(changes), days, eb, "page" if seen else "similar pages",
        own or of_host, "page" if own else "host",
    )  # fmt: skip


def host_rates(pages: NDArray[np.void], known: Believed, counts: VisitCounts) -> dict[int, HostRate]:
    """The rates of all hosts, those with most pages first."""
    ids, first, many = np.unique(pages["host"], return_inverse=True, return_counts=True)
    order = np.argsort(first, kind="stable")
    members = np.split(order, np.cumsum(many)[:-1])
    found = {}
    for n in np.argsort(-many, kind="stable").tolist():
        mine = members[n]
        visits, changes, _ = counts.of(mine)
        again = int((counts.visits[mine] > 0).sum())
        found[int(ids[n])] = HostRate(
            len(mine), again, int(visits[0]), int(changes[0]), _mean(known, mine, changes[0]), _pooled(counts, mine)
        )
    return found


def _mean(known: Believed, mine: NDArray[np.intp], changes: float) -> Interval:
    """The mean rate of some pages. Its doubt is that of each page, and that of the usual rate they
    share."""
    rate, spread = known.rate[mine], known.spread[mine]
    total = max(float(rate.sum()), 1e-12)
    own = float(np.sqrt((rate**2 * np.expm1(np.minimum(spread**2, 9.0))).sum())) / total
    factor = float(np.exp(FOUR_OF_FIVE * np.hypot(own, 1 / np.sqrt(1 + changes))))
    mean = total / len(mine)
    return Interval(mean / factor, mean, mean * factor)


def _pooled(counts: VisitCounts, mine: NDArray[np.intp]) -> Interval | None:
    """EP of pages as if they were one: site-level statistics."""
    pooled = counts.of(mine)
    return by_counts(float(pooled.visits[0]), float(pooled.changes[0]), float(pooled.interval[0]))


def of_one(evidence: bytes, neighbours: list[bytes], counts: VisitCounts) -> PageRate | None:
    """The rate of one page, with the pages around it on its host as the prior. `counts` are its
    own, and then theirs. None if no visit has said anything yet."""
    numbers = _numbers([evidence, *neighbours])
    seen = np.asarray(numbers.any(axis=1))
    if not seen.any():
        return None
    likely = belief.log_likelihood(numbers)
    prior = belief.COMMON
    if seen[1:].any():
        prior = belief.usual(likely[1:][seen[1:]], np.ones(int(seen[1:].sum())), belief.COMMON)
    believed = belief.posterior(prior[None, :], likely[:1])
    _, spread = belief.mean_and_spread(believed)
    rate = float(belief.expected_rate(believed)[0])
    factor = float(np.exp(FOUR_OF_FIVE * spread[0]))
    visits, changes, days = (float(each[0]) for each in counts)
    eb = Interval(rate / factor, rate, rate * factor)
    return _rate(visits, changes, days, eb, bool(seen[0]), _pooled(counts, np.arange(len(counts.days))))


def _numbers(packed: list[bytes]) -> Floats:
    whole = b"".join(each[: len(NONE)].ljust(len(NONE), b"\0") for each in packed)
    numbers: Floats = np.frombuffer(whole, "<f4").reshape(len(packed), len(KINDS), -1)[:, 0].astype(np.float64)
    return numbers
