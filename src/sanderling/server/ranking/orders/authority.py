"""Authority: what good hubs link to."""

from sanderling.arrays import Floats
from sanderling.graph import authority
from sanderling.server.ranking.order import Scoring, Snapshot


def score(known: Snapshot) -> Floats:
    """Authority as a multiple of the mean."""
    return authority(known.graph) * len(known.graph.ids)


SCORING = Scoring(score)
