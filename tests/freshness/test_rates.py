"""Counts of visits, and the estimators EP and EB with their intervals."""

import numpy as np
import pytest

from sanderling.freshness import evidence, rates, tallies
from sanderling.freshness.evidence import KINDS


def visited(days: list[tuple[float, bool]], start: float) -> bytes:
    """The evidence of a page that was first seen at `start` and visited on some days."""
    packed, last = b"", start
    for day, changed in days:
        said = evidence.observe(packed, day - last, [changed] * len(KINDS))
        packed, last = said + tallies.counted(packed, day, day - last, changed), day
    return packed


def test_visits_are_counted_by_month_and_dropped_after_half_a_year() -> None:
    start = 30.0 * 600
    weekly = [(start + 7 * n, n % 2 == 0) for n in range(1, 53)]
    packed, end = visited(weekly, start), start + 7 * 52
    half_year = tallies.read([packed, b"", packed[: evidence.SIZE]], np.array([end, 0.0, end]), 0.0)
    assert half_year.visits.tolist() == [27, 0, 0] and half_year.changes[0] == 14
    assert half_year.interval[0] == pytest.approx(7, rel=0.05)
    month = tallies.read([packed], np.array([end]), end - 30)
    assert month.visits[0] == 5 and 25 < month.days[0] < 60
    # Nothing is counted of a visit for which the clock jumped back.
    assert tallies.counted(packed, end - 1, -1.0, True) == packed[evidence.SIZE :]
    one = tallies.counted(b"", end, 2.0, True)
    assert tallies.read([bytes(evidence.SIZE) + one], np.array([end]), 0.0).days[0] == pytest.approx(2.0)


def test_the_interval_of_ep_covers_the_rate_in_four_of_five_cases() -> None:
    rng = np.random.default_rng(4)
    truths = rng.uniform(0.05, 0.8, 4000)
    seen = rng.binomial(20, 1 - np.exp(-2 * truths))
    found = [rates.by_counts(20, int(x), 2.0) for x in seen]
    inside = [each is not None and each.low <= rate <= each.high for each, rate in zip(found, truths, strict=True)]
    assert np.mean(inside) == pytest.approx(0.8, abs=0.03)
    assert rates.by_counts(0, 0, 1.0) is None
    always = rates.by_counts(6, 6, 1.0)
    assert always is not None and always.high == np.inf and always.low > 0.5


def test_a_page_with_little_history_has_the_rate_of_its_host() -> None:
    busy = visited([(18000.0 + n, True) for n in range(1, 11)], 18000.0)
    quiet = visited([(18000.0 + n, False) for n in range(1, 11)], 18000.0)

    def rate(own: bytes, others: list[bytes]) -> rates.PageRate:
        packed = [own, *others]
        found = rates.of_one(own, others, tallies.read(packed, np.full(len(packed), 18010.0), 0.0))
        assert found is not None
        return found

    unknown = rate(b"", [busy] * 20)
    assert (unknown.eb_of, unknown.ep_of) == ("similar pages", "host") and unknown.eb.expected > 0.5
    assert rate(b"", [quiet] * 20).eb.expected < 0.05
    own = rate(quiet, [busy] * 20)
    assert (own.eb_of, own.ep_of, own.visits, own.changes) == ("page", "page", 10, 0)
    assert own.eb.expected < 0.5 * unknown.eb.expected and own.ep is not None and own.ep.expected == 0
    assert rates.of_one(b"", [b""], tallies.read([b"", b""], np.zeros(2), 0.0)) is None
