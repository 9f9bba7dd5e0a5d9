"""OPIC: importance as money that visited pages hand on to the pages they link to."""

import numpy as np

from sanderling.arrays import Floats
from sanderling.server.ranking.order import Scoring, Snapshot


def score(known: Snapshot) -> Floats:
    """What each URL holds, as a multiple of the mean."""
    return cash(known) * len(known.graph.ids)


def cash(known: Snapshot) -> Floats:
    """Each seed starts with one coin, and a page that is visited shares what it has among its
    links.

    Visits are replayed in the order they were made. What reaches a page after its visit stays
    there: an unvisited URL holds what its referrers had when they were visited.
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


SCORING = Scoring(score, ("visited",))
