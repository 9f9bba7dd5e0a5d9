"""Quality floors of `freshness`. A floor may be lowered only with a reason in the commit."""

import numpy as np
import pytest

from sanderling.freshness.budget import expected_freshness, plan_known
from sanderling.lab.simulation.memory import Memory
from sanderling.lab.simulation.replay import replay
from sanderling.lab.simulation.synthetic import SITES, by_folder, commits, poisson, releases


@pytest.mark.parametrize("spread", [1.0, 1.5])
def test_unknown_rates_after_twelve_visits(spread: float) -> None:
    """Twelve even visits, then a plan from the learned rates. It reaches at least 97 % of the plan
    with the true rates."""
    rng = np.random.default_rng(4)
    pages, gap = 600, 10.0
    rates = 0.05 * rng.lognormal(0, spread, pages)
    memory = Memory(gap, 0.0)
    memory.extend(f"http://site/p{k}.html" for k in range(pages))
    for page in range(pages):
        memory.first_visit(page, page * gap / pages)
    for visit in range(1, 13):
        for page in range(pages):
            memory.observe(page, visit * gap + page * gap / pages, bool(rng.random() < 1 - np.exp(-rates[page] * gap)))
    budget = pages / gap
    learned = plan_known(np.exp(memory.log_rate), budget).visits
    best = expected_freshness(rates, plan_known(rates, budget).visits)
    assert expected_freshness(rates, learned) >= 0.97 * best


# (kind of site, visits a page a day, least freshness of ours): measured, minus half a point for
# noise.
FLOORS = [
    ("poisson", 0.05, 0.787),
    ("by-folder", 0.01, 0.645),
    ("bursty", 0.02, 0.911),
    ("commits", 0.02, 0.930),
    ("releases", 0.006, 0.957),
    ("blog", 0.02, 0.926),
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
    assert replay(alone, "optimal", 0.01).freshness >= replay(alone, "mix-oracle", 0.01).freshness - 0.005
    assert replay(foldered, "optimal", 0.01).freshness >= replay(foldered, "mix-oracle", 0.01).freshness


def test_pages_that_change_at_every_fetch_do_not_eat_the_budget() -> None:
    memory = Memory(10.0, 0.0)
    memory.extend([f"http://site/counter/{k}" for k in range(20)] + [f"http://site/page/{k}" for k in range(20)])
    for page in range(40):
        memory.first_visit(page, 0.0)
    for visit in range(1, 25):
        for page in range(40):
            memory.observe(page, 10.0 * visit, page < 20 or (visit + page) % 6 == 0)
    worth = memory.worth(250.0)
    assert worth[20:].min() > worth[:20].max()


def test_a_clock_that_jumps_back_teaches_nothing() -> None:
    memory = Memory(10.0, 0.0)
    memory.extend(["http://site/a"])
    memory.first_visit(0, 100.0)
    before = memory.log_rate.copy()
    memory.observe(0, 50.0, True)
    assert (memory.log_rate == before).all() and memory.last[0] == 100.0
    assert np.isfinite(memory.worth(20.0)).all()


def test_a_new_page_begins_with_what_its_folder_is_known_for() -> None:
    memory = Memory(10.0, 0.0)
    memory.extend([f"http://site/news/{k}" for k in range(30)] + [f"http://site/old/{k}" for k in range(30)])
    for page in range(60):
        memory.first_visit(page, 0.0)
    for visit in range(1, 8):
        for page in range(60):
            memory.observe(page, 10.0 * visit + page / 10, page < 30)
    memory.extend(["http://site/news/99", "http://site/old/99"])
    assert memory.log_rate[60] - memory.log_rate[61] > 2.0
