"""URL patterns, importance, signals and seasons, on cases small enough to know the answer."""

import numpy as np
import pytest

from sanderling.freshness import signals
from sanderling.freshness.importance import importance, replacement
from sanderling.freshness.url_groups import url_folder, url_pattern


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("https://Ex.org/docs/2.1/install.html", "ex.org/docs/0.0/page.html"),
        ("https://ex.org/2024/05/some-long-title/", "ex.org/0/0/*/index"),
        ("https://ex.org/", "ex.org/index"),
        ("https://ex.org/item/550e8400-e29b-41d4-a716-446655440000", "ex.org/item/@"),
        ("https://ex.org/specs/rfc7230.html", "ex.org/specs/rfc0.html"),
        ("https://ex.org/list.php?page=3&cat=7", "ex.org/index.php?cat&page"),
        ("https://ex.org/u/a1b2c3d4e5f6/x", "ex.org/u/@/page"),
        ("nonsense", "/page"),
    ],
)
def test_url_pattern(url: str, pattern: str) -> None:
    assert url_pattern(url) == pattern


def test_folders_are_finer_than_patterns() -> None:
    one, other = "https://ex.org/docs/2.1/a.html", "https://ex.org/docs/3.0/b.html"
    assert url_folder(one) != url_folder(other)
    assert url_pattern(one) == url_pattern(other)


def test_importance_has_mean_one_and_listens_to_the_user() -> None:
    weight = importance([0.9, 0.1, 0.1, 0.0, np.nan], [0, 1, 2, 2, 2], [1.0, 1.0, 1.0, 1.0, 0.0])
    assert weight.mean() == pytest.approx(1.0)
    assert weight[0] > weight[1] > weight[2] == weight[3] > weight[4] == 0  # unknown counts as the median


def test_replacement_stops_where_newcomers_no_longer_outrank() -> None:
    assert replacement([5.0, 1.0, 3.0], [2.0, 9.0, 0.5]) == [(1, 1)]
    assert replacement([1.0, 2.0], [3.0, 4.0]) == [(0, 1), (1, 0)]


def _after(visits: int, recall: float, false_rate: float) -> signals.SignalRecord:
    rng, rate, gap = np.random.default_rng(1), 0.05, 5.0
    record = signals.SignalRecord()
    for _ in range(visits):
        changed = bool(rng.random() < 1 - np.exp(-rate * gap))
        alarms = int(rng.poisson(false_rate * gap)) + int(changed and rng.random() < recall)
        record = signals.learn(record, gap, alarms, changed)
    return record


def test_an_honest_host_is_believed() -> None:
    record = _after(400, recall=0.9, false_rate=0.002)
    assert record.recall == pytest.approx(0.9, abs=0.07)
    assert record.precision(0.05) > 0.9
    silent, alarmed = (signals.expected_changes(0.05, 10.0, k, record) for k in (0, 1))
    assert silent < 0.1 and alarmed > 2.0


def test_a_host_that_cries_wolf_is_not() -> None:
    """If every date in a sitemap is today, the dates say nothing about changes."""
    record = _after(400, recall=1.0, false_rate=1.0)
    assert record.precision(0.05) < 0.1
    assert signals.expected_changes(0.05, 1.0, 1, record) < 0.1


def test_a_host_that_says_nothing_changes_nothing() -> None:
    record = _after(600, recall=0.0, false_rate=0.0)
    assert signals.expected_changes(0.05, 10.0, 0, record) == pytest.approx(0.5, rel=0.05)


def test_validators_that_lie() -> None:
    honest = restless = stuck = signals.Validators()
    for k in range(50):
        honest = signals.check_validator(honest, k % 5 == 0, k % 5 == 0)
        restless = signals.check_validator(restless, True, False)
        stuck = signals.check_validator(stuck, False, k % 3 == 0)
    assert honest.not_modified_is_true and honest.saves == 1.0
    assert restless.not_modified_is_true and restless.saves < 0.05
    assert not stuck.not_modified_is_true


@pytest.mark.parametrize("date", ["true", "future", "now"])
def test_dates_that_lie(date: str) -> None:
    host = signals.Validators()
    for k in range(20):
        visit, changed = 10.0 * (k + 1), k % 4 == 0
        last_modified = {"true": visit - 3 if changed else 1.0, "future": visit + 1, "now": visit}[date]
        host = signals.check_date(host, last_modified, visit, visit - 10, changed)
    assert host.dates_are_true == (date == "true")


@pytest.mark.parametrize("changed", [True, False])
def test_a_date_close_to_the_last_visit_proves_nothing(changed: bool) -> None:
    """A page that changes minutes after each visit has true dates that a wrong clock could also
    explain."""
    host = signals.Validators()
    for k in range(20):
        last = 10.0 * k
        host = signals.check_date(host, last + 120 / 86400, last + 10, last, changed)
        host = signals.check_date(host, last - 120 / 86400, last + 10, last, changed)
    assert host == signals.Validators()
