"""pvalue: links that lead on from a page, less links that lead to it."""

import re

import numpy as np

from sanderling.arrays import Floats
from sanderling.model import State
from sanderling.server.ranking.order import Ids, Scoring, Snapshot

# A group of URLs says something about its unvisited members when this many of it were visited.
ENOUGH = 3

_DIGITS = re.compile(r"\d+")


def score(known: Snapshot) -> Floats:
    return pvalue(forward_links(known), known.graph.in_degree, ageing(known))


def pvalue(forward: Floats, back: Floats | Ids, ageing: float = 1.0) -> Floats:
    """Links that lead on, less links that lead here.

    The formula is printed as `af * FwdLK - af * BkLK`. One factor before both terms cannot change
    an order; what the text beside it asks for (forward links dominate while the collection is
    young, then back links gain weight) needs it before the second term. At full age, 1, this is the
    formula as printed.
    """
    return np.asarray(forward - ageing * back, np.float64)


def ageing(known: Snapshot) -> float:
    """How grown up the collection is: the visited share of what is to be visited."""
    fetched = int(known.fetched.sum())
    return fetched / max(1, fetched + int(known.queued.sum()))


def forward_links(known: Snapshot) -> Floats:
    """How many links stand on each page: counted where it was visited, 0 for a broken link, else
    estimated.

    The links of a page cannot be counted before it is fetched, and fetching it only to rank it
    would be absurd. The estimate is the mean over the visited pages whose URLs have its pattern,
    when there are some; else over those of its host; else over the whole crawl.
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


SCORING = Scoring(score, ("shape",))
