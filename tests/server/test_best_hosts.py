"""Which hosts a focused crawl visits, and which have to wait."""

from collections.abc import Collection

import pytest

from sanderling.server.ranking import best_hosts
from sanderling.server.ranking.best_hosts import BestHosts, least
from sanderling.server.ranking.reranker import FRONT


class Queue:
    """Hosts with the ranks of their links, the best first."""

    def __init__(self, ranks: dict[int, list[float]]) -> None:
        self.ranks = ranks

    def best_ranks(self, host: int, most: int, leased: Collection[int]) -> list[float]:
        return self.ranks[host][:most]


def fair(host: int) -> float:
    """All hosts have brought the same."""
    return 1.0


def served(best: BestHosts, hosts: list[int], rounds: int, count: int = 4) -> dict[int, int]:
    """How many links of each host may be visited when they are asked in turn."""
    found = dict.fromkeys(hosts, 0)
    for _ in range(rounds):
        for host in hosts:
            found[host] += best.worth(host, count, ())
    return found


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_hosts, "PAUSE", 0.0)


def test_the_best_third_is_visited_and_others_only_to_explore() -> None:
    queue = Queue({host: [host / 10, host / 20] for host in range(1, 10)})
    best = BestHosts(queue.best_ranks, fair)
    hosts = [*queue.ranks]
    served(best, hosts, 1)  # all of them have to be looked at once
    found = served(best, hosts, 200)
    assert all(found[host] >= 200 for host in (7, 8, 9))
    waiting = sum(found[host] for host in hosts[:6])
    assert 0 < waiting <= sum(found.values()) / best_hosts.EXPLORES + 2


def test_only_links_that_are_good_enough_are_given() -> None:
    queue = Queue({1: [0.9, 0.8, 0.2], 2: [0.5], 3: [0.4]})
    best = BestHosts(queue.best_ranks, fair)
    for host in (2, 3, 1):
        best.worth(host, 9, ())
    assert best.worth(1, 9, ()) == 1
    queue.ranks[2], queue.ranks[3], queue.ranks[4] = [0.7], [0.6], [0.7]
    for host in (2, 3, 4):
        best.worth(host, 9, ())
    assert best.worth(1, 9, ()) == 2


def test_a_host_that_promises_more_than_it_brings_has_to_wait() -> None:
    best = BestHosts(Queue({1: [0.5], 2: [0.6]}).best_ranks, {1: 1.5, 2: 0.7}.__getitem__)
    found = served(best, [1, 2], 50)
    assert found[1] == 50
    assert found[2] <= 3


def test_sitemaps_and_seeds_wait_for_nobody_and_keep_nobody_back() -> None:
    queue = Queue({1: [FRONT, 0.1], 2: [0.6], 3: [2 * FRONT], 4: [0.5]})
    best = BestHosts(queue.best_ranks, fair)
    found = served(best, [1, 2, 3, 4], 20)
    assert found == {1: 20, 2: 20, 3: 20, 4: found[4]}
    assert found[4] <= 3


def test_a_single_host_is_visited_as_long_as_it_has_links() -> None:
    best = BestHosts(Queue({1: [0.1, 0.1]}).best_ranks, fair)
    assert best.worth(1, 1, ()) == 1
    assert best.worth(1, 2, ()) == 2
    # One with nothing but what is not ranked, such as visits that are due again, is not kept back.
    assert BestHosts(Queue({1: []}).best_ranks, fair).worth(1, 3, ()) == 3


def test_a_host_that_is_away_does_not_keep_others_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(best_hosts.time, "monotonic", lambda: now[0])
    best = BestHosts(Queue({1: [0.9], 2: [0.2], 3: [0.1]}).best_ranks, fair)
    served(best, [1, 2, 3], 1)
    assert best.worth(2, 1, ()) == 0
    now[0] += best_hosts.AWAY + 1
    assert served(best, [2, 3], 5)[2] >= 4


def test_the_limit_is_nearly_the_worst_of_the_best_third() -> None:
    assert least([0.3]) == pytest.approx(0.27)
    assert least([0.1, 0.2, 0.3]) == pytest.approx(0.27)
    assert least([0.1, 0.2, 0.3, 0.4]) == pytest.approx(0.27)
    assert least([-3.0, -1.0]) == -1.0
