"""How many known pages link to each URL."""

import numpy as np

from sanderling.arrays import Floats
from sanderling.server.ranking.order import Scoring, Snapshot


def score(known: Snapshot) -> Floats:
    return known.graph.in_degree.astype(np.float64)


SCORING = Scoring(score)
