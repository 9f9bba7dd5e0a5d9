"""The orders that follow directly from the link graph or from the depth."""

import numpy as np

from sanderling.arrays import Floats
from sanderling.graph import pagerank
from sanderling.server.ranking import Snapshot


def pagerank_of_all(known: Snapshot) -> Floats:
    """PageRank as a multiple of the mean."""
    return pagerank(known.graph) * len(known.graph.ids)


def backlinks(known: Snapshot) -> Floats:
    """How many known pages link to each URL."""
    return known.graph.in_degree.astype(np.float64)


def nearest(known: Snapshot) -> Floats:
    """The nearer to a seed, the higher."""
    return -known.depth.astype(np.float64)


def farthest(known: Snapshot) -> Floats:
    """The farther from all seeds, the higher."""
    return known.depth.astype(np.float64)
