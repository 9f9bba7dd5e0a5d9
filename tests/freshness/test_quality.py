"""Quality floors of `freshness`. A floor may be lowered only with a reason in the commit."""

from collections.abc import Callable

import numpy as np
import pytest

from lab.simulation.planned_pages import PlannedPages
from lab.simulation.replay import replay
from lab.simulation.synthetic import SITES, by_folder, commits, poisson, releases
from sanderling.freshness.budget import expected_freshness, plan_known


@pytest.fixture(autouse=True)
def _half_as_many_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.simulation.replay._BATCH", 1 / 10)


def visited(
    urls: list[str], rounds: int, gap: float, changed: Callable[[int, int], bool], apart: float = 0.0
) -> PlannedPages:
    """Pages that were visited so many times, `gap` days apart, one after the other."""
    pages = PlannedPages(urls, 0)
    for page in range(len(urls)):
        pages.first_visit(page, page * apart)
    for visit in range(1, rounds + 1):
        for page in range(len(urls)):
            pages.visit(page, changed(visit, page), visit * gap + page * apart)
    return pages


@pytest.mark.parametrize("spread", [1.0, 1.5])
def test_unknown_rates_after_twelve_visits(spread: float) -> None:
    """Twelve even visits, then a plan from the learned rates. It reaches at least 97 % of the plan
    with the true rates."""
    rng = np.random.default_rng(4)
    count, gap = 600, 10.0
    rates = 0.05 * rng.lognormal(0, spread, count)
    pages = visited(
        [f"http://site/p{k}.html" for k in range(count)], 12, gap,
        lambda visit, page: bool(rng.random() < 1 - np.exp(-rates[page] * gap)), gap / count,
    )  # fmt: skip
    learned = plan_known(np.exp(pages.believed(13 * gap).log_rate), count / gap).visits
    best = expected_freshness(rates, plan_known(rates, count / gap).visits)
    assert expected_freshness(rates, learned) >= 0.97 * best


# (kind of site, visits a page a day, least freshness of ours): measured, minus half a point for
# noise.
FLOORS = [
    ("poisson", 0.02, 0.62),
    ("by-folder", 0.01, 0.645),
    ("bursty", 0.02, 0.912),
    ("commits", 0.02, 0.925),
    ("releases", 0.006, 0.928),
    ("blog", 0.02, 0.92),
]


@pytest.mark.parametrize(("temper", "budget", "floor"), FLOORS)
def test_ours_beats_the_others_whatever_the_temper(temper: str, budget: float, floor: float) -> None:
    pages = SITES[temper](1)
    ours = replay(pages, "optimal", budget).freshness
    assert ours >= floor
    for rival in ("uniform", "nutch", "proportional", "top-levels"):
        assert ours >= replay(pages, rival, budget).freshness, rival


def test_pages_that_change_together_are_kept_fresher_than_by_their_true_rates() -> None:
    for pages in (commits(2, pages=100), releases(2)):
        assert replay(pages, "optimal", 0.006).freshness > replay(pages, "oracle", 0.006).freshness


def test_little_is_lost_where_there_is_nothing_to_learn() -> None:
    """With a few visits to each of many independent pages, freshness is never more than 0.002 below
    uniform."""
    pages = poisson(2)
    assert replay(pages, "optimal", 0.006).freshness >= replay(pages, "uniform", 0.006).freshness - 0.002


def test_few_visits_are_used_as_well_as_by_who_knows_how_rates_are_mixed() -> None:
    """With fifteen visits to each page, no policy that learns from each page alone comes near the
    oracle."""
    alone, foldered = poisson(2), by_folder(1)
    assert replay(alone, "optimal", 0.01).freshness >= replay(alone, "mix-oracle", 0.01).freshness - 0.008
    assert replay(foldered, "optimal", 0.01).freshness >= replay(foldered, "mix-oracle", 0.01).freshness


def test_pages_that_change_at_every_fetch_do_not_eat_the_budget() -> None:
    urls = [f"http://site/counter/{k}" for k in range(20)] + [f"http://site/page/{k}" for k in range(20)]
    pages = visited(urls, 24, 10.0, lambda visit, page: page < 20 or (visit + page) % 6 == 0)
    assert set(pages.choose("optimal", 20, 250.0)) == set(range(20, 40))


def test_a_clock_that_jumps_back_teaches_nothing() -> None:
    pages = PlannedPages(["http://site/a"], 0)
    pages.first_visit(0, 100.0)
    before = pages.believed(100.0).log_rate
    pages.visit(0, True, 50.0)
    assert (pages.believed(50.0).log_rate == before).all()
    assert len(pages.choose("optimal", 1, 20.0)) == 1


def test_a_new_page_begins_with_what_its_folder_is_known_for() -> None:
    urls = [f"http://site/news/{k}" for k in range(31)] + [f"http://site/old/{k}" for k in range(31)]
    pages = PlannedPages(urls, 0)
    old = [page for page in range(62) if page not in (30, 61)]
    for page in range(62):
        pages.first_visit(page, 0.0 if page in old else 75.0)
    for visit in range(1, 8):
        for page in old:
            pages.visit(page, page < 30, 10.0 * visit + page / 10)
    log_rate = pages.believed(80.0).log_rate
    assert log_rate[30] - log_rate[61] > 2.0
