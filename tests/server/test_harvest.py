"""How much of a topic is found, and when a focused crawl has brought enough."""

import pytest

from sanderling.errors import UsageError
from sanderling.model import Outcome, State, Task, Visit
from sanderling.server.topic.harvest import WINDOW, Harvest, found_share
from sanderling.settings import Settings
from sanderling.topics.model import Example
from sanderling.topics.training import train
from sanderling.urls import identity

URLS = [f"https://a.test/{n}" for n in range(20)]
TOPIC = train("waders", [Example(url, True, f"wader number {n}") for n, url in enumerate(URLS)])


class Store:
    """A crawl that has fetched some of the examples."""

    def __init__(self, fetched: int = 0, relevant: int = 0) -> None:
        self._fetched, self._relevant = {identity(url) for url in URLS[:fetched]}, relevant

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        return {id: ("", State.FETCHED) for id in ids if id in self._fetched}

    def number(self, id: int) -> int | None:
        return None

    def relevant_pages(self, least: float) -> int:
        return self._relevant


def visits(relevances: list[float]) -> list[tuple[Visit, Task]]:
    return [
        (Visit(id=n, outcome=Outcome.PAGE, relevance=each), Task(n, f"https://b.test/{n}", 1, 0, 0))
        for n, each in enumerate(relevances)
    ]


def test_a_topic_that_fits_everything_or_nothing_is_remarked_once() -> None:
    for relevance, said in ((0.9, "too wide"), (0.1, "too narrow")):
        harvest = Harvest(Store(), Settings(topic="x"), TOPIC, [])
        harvest.see(visits([relevance] * 150))
        assert not harvest.remark()
        harvest.see(visits([relevance] * 60))
        assert said in harvest.remark()
        assert not harvest.remark()


def test_two_samples_tell_how_much_is_found() -> None:
    """Of 20 examples the crawl has met 10 by itself, so it has about half of the topic."""
    low, share, high = found_share(20, 300, 10)
    assert share == pytest.approx(0.5, abs=0.05)
    assert low < share < high
    assert found_share(20, 300, 20).share == pytest.approx(1.0)
    assert found_share(100, 300, 50).low > low  # more examples say it more exactly


def test_a_crawl_stops_when_the_share_is_found_and_says_it() -> None:
    wanted = Settings(topic="x", topic_share=0.8)
    assert not Harvest(Store(10, 300), wanted, TOPIC, []).enough()
    assert "of the topic are found" in Harvest(Store(19, 300), wanted, TOPIC, []).enough()
    with pytest.raises(UsageError, match="not seeds"):
        Harvest(Store(), wanted, TOPIC, URLS[:18])


def test_a_crawl_stops_when_the_harvest_stays_below_the_floor() -> None:
    harvest = Harvest(Store(), Settings(topic="x", min_harvest=0.1), TOPIC, [])
    harvest.see(visits([0.9] * 100 + [0.1] * (WINDOW - 101)))
    assert not harvest.enough()
    harvest.see(visits([0.1] * 60))
    assert "less than min_harvest" in harvest.enough()
    assert harvest.relevant == 100
