import numpy as np

from sanderling.graph import Graph, Places, pack, pagerank
from sanderling.graph import packed as packed_module


def links(*ids: int) -> bytes:
    return np.array(ids, np.int64).tobytes()


def edges(graph: Graph) -> dict[int, list[int]]:
    """The graph in identities again."""
    rows = {int(id): graph.ids[graph.links_of(n)].tolist() for n, id in enumerate(graph.ids)}
    return {id: targets for id, targets in rows.items() if targets}


def test_hashes_and_small_numbers_are_found_alike() -> None:
    chance = np.random.default_rng(1)
    hashes = np.unique(chance.integers(-(2**63), 2**63 - 1, 5000))
    for ids in (
        hashes,
        np.arange(-100, 3000, 7),
        np.array([5]),
        np.array([], np.int64),
        np.array([-(2**63), 2**63 - 1]),
    ):
        places = Places(ids)
        assert places.of(ids).tolist() == list(range(len(ids)))
        strangers = np.setdiff1d(chance.integers(-(2**63), 2**63 - 1, 100), ids)
        assert set(places.of(strangers).tolist()) == {-1}
    assert Places(np.array([3, 9])).of(np.array([2**63 - 1, -(2**63), 4, 9])).tolist() == [-1, -1, -1, 1]


def test_links_become_rows() -> None:
    ids = np.array([-9, 2, 5, 40])
    graph = pack(ids, [(-9, links(2, 40)), (5, links(-9)), (40, b"")])
    assert edges(graph) == {-9: [2, 40], 5: [-9]}
    assert graph.out_degree.tolist() == [2, 0, 1, 0]
    assert graph.in_degree.tolist() == [1, 1, 0, 1]
    assert graph.targets.dtype == np.int32


def test_unknown_urls_and_links_to_oneself_do_not_count() -> None:
    graph = pack(np.array([1, 2]), [(1, links(1, 2, 77)), (66, links(1, 2))])
    assert edges(graph) == {1: [2]}


def test_another_name_counts_as_the_page_it_names() -> None:
    ids, alias = np.array([1, 2, 3, 4, 5]), np.array([0, 0, 2, 3, 0])  # 4 is another name of 3, that of 2
    graph = pack(ids, [(1, links(2, 3, 4, 5)), (2, links(5, 3)), (3, links(1)), (5, links(4))], alias)
    assert edges(graph) == {1: [2, 5], 2: [5], 5: [2]}
    rings = pack(ids, [(1, links(2, 3))], np.array([0, 3, 2, 0, 0]))
    assert len(rings.targets) <= 2


def test_a_graph_in_many_parts_is_the_same_graph(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    chance = np.random.default_rng(2)
    ids = np.unique(chance.integers(-(2**63), 2**63 - 1, 500))
    pages = [(int(id), links(*chance.choice(ids, chance.integers(0, 30), replace=False))) for id in ids[::2]]
    whole = pack(ids, pages)
    amounts = chance.random(len(ids))
    arrived, counted = whole.push(amounts), whole.in_degree
    monkeypatch.setattr(packed_module, "PAGES_AT_ONCE", 7)
    monkeypatch.setattr(packed_module, "LINKS_AT_ONCE", 50)
    parts = pack(ids, pages)
    assert edges(parts) == edges(whole)
    np.testing.assert_allclose(parts.push(amounts), arrived)
    assert parts.in_degree.tolist() == counted.tolist()
    expected = np.zeros(len(ids))
    for page in range(len(ids)):
        expected[whole.links_of(page)] += amounts[page]
    np.testing.assert_allclose(arrived, expected)


def test_pagerank_of_graphs_known_by_heart() -> None:
    ring = pack(np.array([1, 2, 3]), [(1, links(2)), (2, links(3)), (3, links(1))])
    np.testing.assert_allclose(pagerank(ring), 1 / 3)
    # PageRank of A -> B, C; B -> C; C -> A, solved by hand
    triangle = pack(np.array([1, 2, 3]), [(1, links(2, 3)), (2, links(3)), (3, links(1))])
    np.testing.assert_allclose(pagerank(triangle, tolerance=1e-12), [0.38778971, 0.21481063, 0.39739966], atol=1e-6)
    star = pagerank(pack(np.arange(5), [(n, links(0)) for n in range(1, 5)]))
    assert star[0] > 3 * star[1]
    np.testing.assert_allclose(star.sum(), 1)
    assert len(pagerank(pack(np.array([], np.int64), []))) == 0
