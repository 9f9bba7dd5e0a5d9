"""Webs for simulated crawls. Their whole link graph is known, so that orders of visits can be
compared."""

import subprocess
import tempfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.errors import UsageError
from sanderling.graph import Graph, pack
from sanderling.model import State
from sanderling.processes import entry_points
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.server.ranking.orders.pvalue import shape
from sanderling.urls import identity, origin

Ids = NDArray[np.int64]


class Web(NamedTuple):
    """The pages of a complete crawl. Pages are numbered by their positions in the graph."""

    name: str
    graph: Graph
    seeds: list[int]
    site: Ids  # the unit that belongs to one crawler: a host, or a top-level folder if there is only one host
    host: Ids
    shape: Ids
    urls: list[str]  # empty for a synthetic web


def part(graph: Graph, nodes: NDArray[np.bool_], sources: NDArray[np.bool_]) -> Graph:
    """The subgraph of some nodes, with only the links from `sources`."""
    sources = sources & nodes
    degree = np.where(sources, graph.out_degree, 0)
    links = np.repeat(sources, graph.out_degree)
    there = nodes[graph.targets[links]]
    new = np.cumsum(nodes, dtype=np.int32) - 1
    source = np.repeat(np.arange(len(degree)), degree)[there]
    starts = np.zeros(int(nodes.sum()) + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=len(nodes))[nodes], out=starts[1:])
    return Graph(graph.ids[nodes], starts, new[graph.targets[links][there]])


def find(name: str) -> list[Web]:
    """Finds webs by name: `synthetic`, `docs` (all of it, and each of its sites), or the folder of
    a crawl."""
    if name == "synthetic":
        return [synthetic()]
    if name == "docs":
        whole = documentation()
        return [whole, *sites(whole)]
    return [of_folder(Path(name))]


def sites(web: Web) -> list[Web]:
    """Each site that the seeds link to, as a web of its own. The linked page is its seed."""
    others = np.ones(len(web.graph.ids), np.bool_)
    others[web.seeds] = False
    rest = part(web.graph, others, others)
    at = np.flatnonzero(others)
    found = []
    for entry in sorted({int(page) for seed in web.seeds for page in web.graph.links_of(seed) if others[page]}):
        kept = np.zeros(len(others), np.bool_)
        kept[at[_reachable(rest, at == entry)]] = True
        found.append(
            Web(
                f"{web.name}: {web.urls[entry].split('/')[3]}",
                part(web.graph, kept, kept),
                [int(kept[:entry].sum())],
                web.site[kept],
                web.host[kept],
                web.shape[kept],
                [url for url, keep in zip(web.urls, kept.tolist(), strict=True) if keep],
            )
        )
    return found


def of_folder(path: Path, name: str = "") -> Web:
    """The pages that a crawl has visited. Use a finished crawl, because links of pages that were
    not visited are missing."""
    folder = Folder(path)
    folder.require()
    store = open_store(folder, readonly=True)
    facts = sorted(store.url_facts())
    ids = np.fromiter((fact.id for fact in facts), np.int64, len(facts))
    graph = pack(ids, store.packed_links(), np.array([fact.alias for fact in facts], np.int64))
    texts = dict(store.url_texts())
    visited = {id for id, _ in store.visit_times()}  # leaves out sitemaps
    store.close()
    pages = np.array(
        [fact.id in visited and fact.state == State.FETCHED and not fact.alias for fact in facts], np.bool_
    )
    seeds = np.array([fact.depth == 0 for fact in facts], np.bool_) & pages
    if not seeds.any():
        raise UsageError(f"no seed of {path} has been visited yet")
    pages[pages] = _reachable(part(graph, pages, pages), seeds[pages])
    urls = [texts[id] for id in ids[pages].tolist()]
    graph, by_path = _in_order_of(part(graph, pages, pages), [url.split("/", 3)[3] for url in urls])
    urls = [urls[position] for position in by_path]
    host = np.array([identity(origin(url)) for url in urls])
    single = len(np.unique(host)) == 1
    return Web(
        name or str(path),
        graph,
        np.flatnonzero(seeds[pages][by_path]).tolist(),
        np.array([identity(url.split("/")[3]) for url in urls]) if single else host,
        host,
        np.array([identity(shape(url)) for url in urls]),
        urls,
    )


def _in_order_of(graph: Graph, keys: list[str]) -> tuple[Graph, list[int]]:
    """The same graph with its nodes in the order of `keys`.

    A web then gives the same figures whatever port it was served on.
    """
    order = sorted(range(len(keys)), key=keys.__getitem__)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    source = np.repeat(np.arange(len(order)), graph.out_degree)
    return of_edges(place[source], place[graph.targets], len(order)), order


def of_edges(source: Ids, target: Ids, count: int) -> Graph:
    edges = np.unique((source << 32 | target)[source != target])
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(edges >> 32, minlength=count), out=starts[1:])
    return Graph(np.arange(count), starts, (edges & 0xFFFFFFFF).astype(np.int32))


def documentation() -> Web:
    """Crawls the documentation web that `bench/` serves."""
    served = import_module("bench.web")  # only here: it needs packages that other webs do not
    with tempfile.TemporaryDirectory(prefix="sanderling-lab-") as folder, served.serve() as site:
        command = entry_points.command("command", "crawl", site.url, "-d", folder, "--per-host", "32")
        subprocess.run(
            [*command, "--delay", "0", "--ignore-robots", "--allow-private"], check=True, capture_output=True
        )
        return of_folder(Path(folder), "docs")


def synthetic(pages: int = 20_000, hosts: int = 50) -> Web:
    """Hosts of different sizes. The k-th most popular page of a host gets links in proportion to
    k**-0.8.

    So in-degrees follow a power law with exponent 2.25, as on the web (2.1 to 2.4 were measured).
    The front page of a host is its most popular page, and a tree of links leads from it to every
    page of the host. The popularity of other pages does not depend on their depth. A fifth of the
    links leave the host. The sections of a host have pages with more or fewer links.
    """
    chance = np.random.default_rng(1)
    weight = 1 / np.arange(1, hosts + 1) ** 0.7
    size = np.maximum((pages * weight / weight.sum()).astype(np.int64), 2)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    count = int(size.sum())
    host = np.repeat(np.arange(hosts), size)
    local = np.arange(count) - first[host]
    section = chance.integers(0, 5, count)
    degree = np.maximum(1, chance.lognormal(np.log(6.0) + section * 0.25, 0.6, count)).astype(np.int64)

    source = np.repeat(np.arange(count), degree)
    there = np.where(
        chance.random(len(source)) < 0.2, (hosts * chance.random(len(source)) ** 2).astype(np.int64), host[source]
    )
    by_popularity = np.concatenate([[0, *(1 + chance.permutation(n - 1))] for n in size])
    popular = (size[there] * chance.random(len(source)) ** (1 / (1 - 0.8))).astype(np.int64)
    target = first[there] + by_popularity[first[there] + popular]

    inner = np.flatnonzero(local)
    parent = first[host[inner]] + (local[inner] * chance.random(len(inner)) ** 2).astype(np.int64)
    ring = first[(np.arange(hosts) + 1) % hosts]
    source, target = np.concatenate([source, parent, first]), np.concatenate([target, inner, ring])
    graph = of_edges(source, target, count)
    return Web("synthetic", graph, first[:3].tolist(), host, host, host * 5 + section, [])


def _reachable(graph: Graph, start: NDArray[np.bool_]) -> NDArray[np.bool_]:
    reached = start.copy()
    while True:
        wider = reached | (graph.push(reached.astype(np.float64)) > 0)
        if wider.sum() == reached.sum():
            return reached
        reached = wider
