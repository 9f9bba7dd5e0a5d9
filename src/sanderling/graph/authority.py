"""Hubs and authorities on the known graph: good hubs link to good authorities, and the other way
round.

Plain HITS gives everything to the most closely linked group of pages, such as a manual whose pages
all have one menu. So this is its randomised form: a reader steps along a random link, then back
along a random link, and sometimes jumps to a random page. Without the jumps it is SALSA.
"""

import numpy as np

from sanderling.arrays import Floats
from sanderling.graph.packed import Graph
from sanderling.graph.pagerank import DAMPING, MOST_ROUNDS, TOLERANCE


def authority(graph: Graph, tolerance: float = TOLERANCE) -> Floats:
    """A share for every URL: the probability that the reader arrives there by a step forward. All
    shares sum to 1."""
    count = len(graph.ids)
    if not count:
        return np.zeros(0)
    leading, led_to = np.maximum(graph.out_degree, 1), np.maximum(graph.in_degree, 1)
    share = np.full(count, 1 / count)
    for _ in range(MOST_ROUNDS):
        hub = _with_jumps(graph.pull(share / led_to))
        following = _with_jumps(graph.push(hub / leading))
        change = np.abs(following - share).sum()
        share = following
        if change < tolerance:
            break
    return share


def _with_jumps(arrived: Floats) -> Floats:
    """Who did not arrive by a link jumps to a random page."""
    followed = DAMPING * arrived
    return np.asarray(followed + (1.0 - followed.sum()) / len(followed))
