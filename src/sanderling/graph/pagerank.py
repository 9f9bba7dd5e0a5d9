"""PageRank of the known graph: where a reader is who follows links at random and now and then starts anew."""

import numpy as np

from sanderling.arrays import Floats
from sanderling.graph.packed import Graph

DAMPING = 0.85
# The sum of all changes in a round that ends the rounds. Against 1e-9, of 100,000 pairs of pages of a documentation
# web two stand the other way round.
TOLERANCE = 1e-4
MOST_ROUNDS = 60


def pagerank(graph: Graph, tolerance: float = TOLERANCE) -> Floats:
    """A share for every URL; all of them sum to 1.

    From a page without known links, which is every page not visited yet, the reader starts anew.
    """
    count = len(graph.ids)
    if not count:
        return np.zeros(0)
    degree = graph.out_degree
    dead_end = degree == 0
    divisor = np.maximum(degree, 1)
    rank = np.full(count, 1 / count)
    for _ in range(MOST_ROUNDS):
        anew = (1 - DAMPING + DAMPING * rank[dead_end].sum()) / count
        following = graph.push(np.where(dead_end, 0.0, rank / divisor)) * DAMPING + anew
        change = np.abs(following - rank).sum()
        rank = following
        if change < tolerance:
            break
    return rank
