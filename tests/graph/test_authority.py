import numpy as np
import pytest

from sanderling.graph import Graph, authority, pack
from sanderling.graph import packed as packed_module
from sanderling.graph.pagerank import DAMPING


def graph_of(links: dict[int, list[int]], count: int) -> Graph:
    rows = [(page, np.array(targets, np.int64).tobytes()) for page, targets in links.items()]
    return pack(np.arange(count), rows)


def test_what_good_hubs_link_to_is_an_authority() -> None:
    """Pages 5 and 6 have one link each. The page that links to 5 also links to what all others
    link to."""
    graph = graph_of({0: [4], 1: [4], 2: [4, 5], 3: [6]}, 7)
    share = authority(graph)
    assert share.sum() == pytest.approx(1.0)
    assert int(np.argmax(share)) == 4
    hubs = graph.pull(share)
    assert hubs[2] > hubs[0] > hubs[3]


def test_it_is_the_walk_that_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(4)
    links = {page: chance.choice(60, int(chance.integers(1, 9)), replace=False).tolist() for page in range(40)}
    graph = graph_of(links, 60)
    matrix = np.zeros((60, 60))
    for page in range(60):
        matrix[page, graph.links_of(page)] = 1.0
    forward = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    backward = matrix / np.maximum(matrix.sum(axis=0, keepdims=True), 1)

    def jumped(followed: np.ndarray) -> np.ndarray:
        return followed * DAMPING + (1 - (followed * DAMPING).sum()) / 60

    share = np.full(60, 1 / 60)
    for _ in range(200):
        share = jumped(forward.T @ jumped(backward @ share))
    assert authority(graph, tolerance=1e-12) == pytest.approx(share, abs=1e-9)
    monkeypatch.setattr(packed_module, "LINKS_AT_ONCE", 7)
    assert authority(graph, tolerance=1e-12) == pytest.approx(share, abs=1e-9)


def test_a_graph_without_pages_or_links() -> None:
    assert authority(graph_of({}, 0)).tolist() == []
    assert authority(graph_of({}, 4)) == pytest.approx([0.25] * 4)
