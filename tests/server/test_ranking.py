from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from sanderling.graph import pack
from sanderling.model import State
from sanderling.server.frontier.distributor import cuts
from sanderling.server.ranking import snapshot as job
from sanderling.server.ranking.order import Snapshot, breadth_first
from sanderling.server.ranking.orders import scores, scoring
from sanderling.server.ranking.orders.opic import cash
from sanderling.server.ranking.orders.pvalue import ageing, forward_links, pvalue, shape
from sanderling.server.ranking.reranker import read

F, Q, G, X = State.FETCHED, State.QUEUED, State.GONE, State.FAILED


def links(*ids: int) -> bytes:
    return np.array(ids, np.int64).tobytes()


def known(
    states: list[State],
    pages: dict[int, list[int]],
    depth: list[int] | None = None,
    host: list[int] | None = None,
    shape: list[int] | None = None,
    visited: list[float] | None = None,
) -> Snapshot:
    """URLs 0, 1, 2 ... and the links on some of them."""
    count = len(states)
    graph = pack(np.arange(count), [(page, links(*pages[page])) for page in sorted(pages)])
    return Snapshot(
        graph,
        np.array(depth or [0] * count, np.int32),
        np.array(states, np.int8),
        np.array(host or [1] * count, np.int64),
        np.array(shape or [1] * count, np.int64),
        np.array(visited or [float(state is F) for state in states]),
        np.zeros(count),
        np.zeros(count),
    )


def test_the_published_example() -> None:
    forward, back = np.array([13.0, 22, 17, 10, 5]), np.array([8, 10, 9, 11, 3])
    found = pvalue(forward, back)
    assert found.tolist() == [5, 12, 8, -1, 2]
    divided = cuts(found.tolist())
    assert [divided.list_of(value) for value in found] == [2, 1, 1, 3, 3]  # A2 B1 C1 D3 E3


def test_back_links_gain_weight_with_age() -> None:
    assert pvalue(np.array([10.0]), np.array([4]), 0.0).tolist() == [10.0]
    assert pvalue(np.array([10.0]), np.array([4]), 0.5).tolist() == [8.0]
    assert ageing(known([Q, Q], {})) == 0.0
    assert ageing(known([F, Q, Q, Q], {0: [1, 2, 3]})) == 0.25
    assert ageing(known([F, F], {0: [1]})) == 1.0


def test_a_broken_link_has_a_negative_value() -> None:
    snapshot = known([F, F, F, G, X], {0: [1, 2, 3, 4], 1: [0, 3], 2: [0]})
    assert forward_links(snapshot)[3:].tolist() == [0.0, 0.0]
    assert (scores("pvalue", snapshot)[3:] < 0).all()


def test_links_of_an_unvisited_page_are_estimated_from_its_pattern_then_its_host_then_the_crawl() -> None:
    pages = {0: [6], 1: [6, 7], 2: [6, 7, 8], 3: [6, 7, 8, 9], 4: [5, 6, 7, 8, 9], 5: [0, 1, 2, 3, 4, 6]}
    snapshot = known(
        [F] * 6 + [Q] * 4,
        pages,
        host=[1, 1, 1, 1, 1, 2, 1, 1, 2, 3],
        shape=[10, 10, 10, 11, 11, 20, 10, 11, 20, 30],
    )
    # 6: its pattern (1, 2, 3 links); 7: two pages of its pattern are too few, so its host; 8 and 9:
    # the crawl
    assert forward_links(snapshot).tolist() == [1, 2, 3, 4, 5, 6, 2.0, 3.0, 3.5, 3.5]
    assert forward_links(known([Q, Q], {})).tolist() == [0, 0]


def test_patterns_of_urls() -> None:
    assert shape("http://e.org/2024/05/a-title.html") == shape("http://e.org/2023/11/other.html")
    assert shape("http://e.org/a/x.html") != shape("http://e.org/b/x.html")
    assert shape("http://e.org/a/x.html") != shape("http://e.org/a/x.pdf")
    assert shape("http://e.org/a/x?y=1") == shape("http://e.org/a/x?y=2") != shape("http://e.org/a/x")


def test_the_other_orders() -> None:
    snapshot = known([F, F, Q, Q, Q], {0: [1, 2, 3], 1: [3, 0]}, depth=[0, 1, 1, 1, 2], visited=[1, 2, 0, 0, 0])
    assert (
        scores("breadth-first", snapshot).tolist() == [0, -1, -1, -1, -2] == [breadth_first(d) for d in (0, 1, 1, 1, 2)]
    )
    assert scores("backlinks", snapshot).tolist() == [1, 1, 1, 2, 0]
    np.testing.assert_allclose(scores("opic", snapshot).sum(), 5)
    rank = scores("pagerank", snapshot)
    np.testing.assert_allclose(rank.sum(), 5)
    assert rank[3] > rank[2] > rank[4]


def test_cash_flows_in_the_order_of_the_visits() -> None:
    pages = {0: [1, 2], 1: [2, 3]}
    depth = [0, 1, 1, 2]
    assert cash(known([F, F, Q, Q], pages, depth, visited=[1, 2, 0, 0])).tolist() == [0, 0, 0.75, 0.25]
    # 1 was visited before it had received anything
    assert cash(known([F, F, Q, Q], pages, depth, visited=[2, 1, 0, 0])).tolist() == [0, 0.5, 0.5, 0]
    assert cash(known([Q], {})).tolist() == [1]


class Source:
    """A store in lists: page 0 was visited and links to 1, 2 and 3; 1 was visited and links to
    3."""

    states = (F, F, Q, Q)
    ranks = (0.0, -1.0, -1.0, -1.0)
    weights: ClassVar = [(1, 0.9), (0, 0.0), (4, 0.0)]  # 4 came in since

    def url_facts(self) -> list[tuple[int, int, int, int, float, int]]:
        rows = zip(self.states, self.ranks, (0, 1, 1, 1), strict=True)
        return [(n, 5, depth, state, rank, 0) for n, (state, rank, depth) in enumerate(rows)]

    def url_texts(self) -> list[tuple[int, str]]:
        return [(n, f"http://e.org/{n}") for n in range(5)]  # 4 came in since

    def visit_times(self) -> list[tuple[int, float]]:
        return [(0, 10.0), (1, 20.0)]

    def relevances(self) -> list[tuple[int, float]]:
        return [(2, 0.9), (3, 0.1), (4, 1.0)]  # 4 came in since

    def link_relevances(self) -> list[tuple[int, float]]:
        return [(2, 0.4)]

    def importances(self) -> list[tuple[int, float]]:
        return self.weights

    def packed_links(self) -> list[tuple[int, bytes]]:
        return [(0, links(1, 2, 3)), (1, links(3))]


@pytest.mark.parametrize("order", ["pvalue", "backlinks", "opic", "pagerank"])
def test_the_job_writes_what_moved_best_first(tmp_path: Path, order: str) -> None:
    job.rerank(Source(), order, tmp_path / "ranks")
    head, batches = read(tmp_path / "ranks")
    pairs, weights = next(batches).ranks, next(batches).importances

    assert head.moved == len(pairs) == 2
    assert [id for id, _ in pairs] == ([2, 3] if order == "pvalue" else [3, 2])
    assert [rank for _, rank in pairs] == sorted((rank for _, rank in pairs), reverse=True)
    expected = scores(order, job.read(Source(), scoring(order).reads)[0])
    assert dict(pairs) == {2: expected[2], 3: expected[3]}
    assert head.newcomers == [expected[2], expected[2]]  # the queued URL with one link to it
    assert [id for id, _ in weights] == [1, 0]
    assert weights[0][1] == 1.0  # of the pages that were visited, the one with a link to it
    assert 0.5 < weights[1][1] < 1.0


def test_what_stays_is_not_written_again(tmp_path: Path) -> None:
    source = Source()
    source.ranks = (0.0, -1.0, 1.02, 2.3)
    source.weights = [(1, 0.97), (0, 0.5)]
    job.rerank(source, "backlinks", tmp_path / "ranks")
    ranks, importances = read(tmp_path / "ranks")[1]
    assert ranks.ranks == [(3, 2.0)]
    assert [id for id, _ in importances.importances] == [0]


def test_without_an_order_only_pages_are_weighed(tmp_path: Path) -> None:
    job.rerank(Source(), None, tmp_path / "ranks")
    (only,) = read(tmp_path / "ranks")[1]
    assert (len(only.ranks), len(only.importances)) == (0, 2)


def test_newcomers_by_depth() -> None:
    snapshot = known([Q] * 5, {}, depth=[1, 1, 3, 3, 4])
    assert job.newcomers(snapshot, np.array([4.0, 6.0, 1.0, 2.0, 0.5])) == [5.0, 5.0, 5.0, 1.5, 0.5]
    assert job.newcomers(known([F], {}), np.array([1.0])) == []
