"""The focused crawls of the lab: Shark search as published, and what the order of a topic has to do
better."""

import pytest

from lab import focus, topical
from sanderling.server.ranking.fish import Fish, fish, inherited, neighbourhood, shark


def test_shark_search_computes_what_was_published() -> None:
    # A relevant page hands on half of its score; another page half of what it inherited itself.
    assert inherited(0.8, 0.1) == 0.4
    assert inherited(0.2, 0.1) == 0.05
    # Of the words of a link the anchor counts 0.8. If it says anything, the words around it count
    # as fully alike.
    assert neighbourhood(0.5, 0.3) == pytest.approx(0.6)
    assert neighbourhood(0.0, 0.3) == pytest.approx(0.06)
    # Both count half.
    assert shark(0.4, 0.5, 0.3) == pytest.approx(0.5)
    assert shark(0.05, 0.0, 0.3) == pytest.approx(0.055)


def test_fish_search_stops_where_its_depth_ends() -> None:
    assert fish(0.9, 0) == Fish(2, 3)
    assert fish(0.1, 3) == Fish(1, 2)
    assert fish(0.1, 1) == Fish(0, 0)
    assert fish(0.1, 0) is None


def test_the_order_of_a_topic_finds_it_sooner_than_others_do() -> None:
    near, far = topical.synthetic(0.8, 1, 800), topical.synthetic(0.0, 1, 800)
    after = {
        crawl: focus.at_percent(focus.recall(near, focus.CRAWLS[crawl](near, 0)), 800, 20)
        for crawl in ("breadth-first", "shark", "topic")
    }
    assert after["topic"] >= 2.5 * after["breadth-first"]
    assert after["topic"] > after["shark"]
    # Where links say nothing about topics, it does no harm.
    assert focus.at_percent(focus.recall(far, focus.CRAWLS["topic"](far, 0)), 800, 50) > 0.45
