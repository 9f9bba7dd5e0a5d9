"""Step 3 of a page's life: how much an unvisited URL is worth, as a pure function of what is known.

Five orders to choose from. `scores` computes any of them for all URLs of a snapshot at once; higher is earlier. A
score means the same in a small crawl and a large one (PageRank and cash are told as multiples of the mean), so that
ranks given at different times can stand in one queue.
"""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.graph import Graph, pagerank
from sanderling.model import State
from sanderling.settings import Order

Ids = NDArray[np.int64]

# A group of URLs says something about its unvisited members when so many of it were visited.
ENOUGH = 3

_DIGITS = re.compile(r"\d+")


class Snapshot(NamedTuple):
    """What a crawl knows at one moment: a row for every URL, in the order of the graph's identities."""

    graph: Graph
    depth: NDArray[np.int32]
    state: NDArray[np.int8]
    host: Ids
    shape: Ids  # URLs of one pattern have the same number; only `pvalue` looks at it
    visited: Floats  # when it was visited last, 0 for never; only `opic` looks at it

    @property
    def queued(self) -> NDArray[np.bool_]:
        return np.equal(self.state, State.QUEUED)

    @property
    def fetched(self) -> NDArray[np.bool_]:
        return np.equal(self.state, State.FETCHED)


def scores(order: Order, known: Snapshot) -> Floats:
    """What every URL is worth in the order asked for."""
    if order == "breadth-first":
        return -known.depth.astype(np.float64)
    if order == "backlinks":
        return known.graph.in_degree.astype(np.float64)
    if order == "pagerank":
        return pagerank(known.graph) * len(known.graph.ids)
    if order == "opic":
        return cash(known) * len(known.graph.ids)
    return pvalue(forward_links(known), known.graph.in_degree, ageing(known))


def breadth_first(depth: int) -> float:
    """The rank of a URL of which only its distance from the seeds is known: nearer first."""
    return -float(depth)


def pvalue(forward: Floats, back: Floats | Ids, ageing: float = 1.0) -> Floats:
    """Links that lead on, less links that lead here.

    The formula is printed as `af * FwdLK - af * BkLK`. One factor before both terms cannot change an order; what the
    text beside it asks for (forward links dominate while the collection is young, then back links gain weight) needs
    it before the second term. At full age, 1, this is the formula as printed.
    """
    return np.asarray(forward - ageing * back, np.float64)


def ageing(known: Snapshot) -> float:
    """How grown up the collection is: the visited share of what is to be visited."""
    fetched = int(known.fetched.sum())
    return fetched / max(1, fetched + int(known.queued.sum()))


def forward_links(known: Snapshot) -> Floats:
    """How many links stand on each page: counted where it was visited, 0 for a broken link, else estimated.

    The links of a page cannot be counted before it is fetched, and fetching it only to rank it would be absurd. The
    estimate is the mean over the visited pages whose URLs have its pattern, when there are some; else over those of
    its host; else over the whole crawl.
    """
    degree = known.graph.out_degree.astype(np.float64)
    fetched = known.fetched
    if not fetched.any():
        return np.zeros(len(degree))
    links = np.full(len(degree), degree[fetched].mean())
    for groups in (known.host, known.shape):
        _, member = np.unique(groups, return_inverse=True)
        visited = np.bincount(member, fetched)
        mean = np.bincount(member, np.where(fetched, degree, 0.0)) / np.maximum(visited, 1)
        links = np.where((visited >= ENOUGH)[member], mean[member], links)
    links[fetched] = degree[fetched]
    links[(known.state == State.FAILED) | (known.state == State.GONE)] = 0.0
    return links


def shape(url: str) -> str:
    """The pattern of a URL: its folder with every number as 0, and what its name ends in."""
    path, question, _ = url.partition("?")
    folder, _, name = path.rpartition("/")
    _, dot, ending = name.rpartition(".")
    return f"{_DIGITS.sub('0', folder)}/{dot and ending}{question}"


def cash(known: Snapshot) -> Floats:
    """OPIC: each seed starts with one coin, and a page that is visited shares what it has among its links.

    Visits are replayed in the order they were made. What reaches a page after its visit stays there: an unvisited
    URL holds what its referrers had when they were visited.
    """
    graph = known.graph
    held = np.where(known.depth == 0, 1.0, 0.0)
    held /= max(1.0, held.sum())
    visited = np.flatnonzero((known.visited > 0) & (graph.out_degree > 0))
    for page in visited[np.argsort(known.visited[visited], kind="stable")].tolist():
        links = graph.links_of(page)
        share = held[page] / len(links)
        held[page] = 0.0
        held[links] += share  # each target stands once among the links of a page
    return held
