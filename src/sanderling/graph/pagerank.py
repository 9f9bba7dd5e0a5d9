"""PageRank on the known graph: the probability that a random reader is on a page. The reader
follows random links and sometimes jumps to a random page."""

import numpy as np

from sanderling.arrays import Floats
from sanderling.graph.packed import Graph

DAMPING = 0.85
# Rounds end when the sum of all changes is below this. Compared with 1e-9, two of 100,000 pairs of
# pages of a documentation web are in the other order.
TOLERANCE = 1e-4
MOST_ROUNDS = 60


def pagerank(graph: Graph, tolerance: float = TOLERANCE) -> Floats:
    """A share for every URL. All shares sum to 1.

    A page that was not visited yet has no known links. From there, the reader jumps to a random
    page.
    """
    count = len(graph.ids)
    if not count:
        return np.zeros(0)
    degree = graph.out_degree
    dead_end = degree == 0
    divisor = np.maximum(degree, 1)
    rank = np.full(count, 1 / count)
    for _ in range(MOST_ROUNDS):
        jumped = (1 - DAMPING + DAMPING * rank[dead_end].sum()) / count
        following = graph.push(np.where(dead_end, 0.0, rank / divisor)) * DAMPING + jumped
        change = np.abs(following - rank).sum()
        rank = following
        if change < tolerance:
            break
    return rank
