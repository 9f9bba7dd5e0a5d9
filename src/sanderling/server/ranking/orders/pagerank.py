"""PageRank, computed from the links found so far."""

from sanderling.arrays import Floats
from sanderling.graph import pagerank
from sanderling.server.ranking.order import Scoring, Snapshot


def score(known: Snapshot) -> Floats:
    """PageRank as a multiple of the mean."""
    return pagerank(known.graph) * len(known.graph.ids)


SCORING = Scoring(score)
