"""Which versions of a page are kept."""

import pytest

from sanderling.clock import DAY
from sanderling.retention import Keep, expendable, read_keep

NOW = 20_000 * DAY + 1


def left(times: list[float], rule: str, now: float = NOW) -> list[float]:
    gone = set(expendable(times, read_keep(rule), now))
    return [at for n, at in enumerate(times) if n not in gone]


@pytest.mark.parametrize("text", ["0d", "30", "-1d", "d", "0 versions", "100", "thick", "1e3d", "5 weeks"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="keep must be all, thin, an age"):
        read_keep(text)


def test_rules() -> None:
    assert read_keep("all") == read_keep("") == Keep()
    assert read_keep(" 30d ") == Keep(age=30 * DAY)
    assert read_keep("1 version") == Keep(versions=1)


def test_an_age_counts_from_when_a_version_was_replaced() -> None:
    times = [NOW - 90 * DAY, NOW - 40 * DAY, NOW - 10 * DAY]
    assert left(times, "30d") == times[1:]  # the second one was there until ten days ago
    assert left(times, "5d") == times[2:]
    assert left(times, "all") == times


def test_a_number_of_versions() -> None:
    assert left([1.0, 2.0, 3.0], "2 versions") == [2.0, 3.0]
    assert left([1.0], "1 version") == [1.0]


def test_thin_is_dense_lately_and_sparse_long_ago() -> None:
    times = [NOW - n * 600 for n in range(6 * 24 * 365, -1, -1)]  # a year, every ten minutes
    kept = left(times, "thin")
    assert sum(at > NOW - 7 * DAY for at in kept) == 7 * 144
    assert 82 <= sum(NOW - 90 * DAY < at <= NOW - 7 * DAY for at in kept) <= 85
    assert 39 <= sum(at <= NOW - 90 * DAY for at in kept) <= 41
    assert kept[-1] == times[-1]


def test_thinning_every_day_keeps_what_thinning_once_keeps() -> None:
    """Else the oldest history would depend on how often somebody looks after it."""
    times = [20_000 * DAY - n * 7200 for n in range(12 * 800, 0, -1)]
    daily: list[float] = []
    for day in range(20_000 - 800, 20_001):
        daily += [at for at in times if (day - 1) * DAY < at <= day * DAY]
        daily = left(daily, "thin", day * DAY)
    at_once = left(times, "thin", 20_000 * DAY)
    # At the edge of a span lies a part of one, of which another version may be the last.
    assert len(set(at_once) ^ set(daily)) <= 4
    assert 160 + 84 < len(daily) < 270
