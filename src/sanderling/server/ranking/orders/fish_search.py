"""Fish search: first the links of relevant pages, then those of their children, then the rest.

A school of fish feeds where a page is relevant and starves after `DEPTH` pages that are not. What
it left is visited last; the setting `tunnel_depth` leaves it out.
"""

import numpy as np

from sanderling.arrays import Floats
from sanderling.server.ranking import fish
from sanderling.server.ranking.order import Scoring, Snapshot
from sanderling.server.ranking.orders.shark_search import best_parent


def score(known: Snapshot) -> Floats:
    """2, 1 or 0 as in `fish.fish`, and -1 for a link that is dropped there."""
    feeds = np.where(known.fetched, known.relevance, 0.0) >= fish.RELEVANT
    near = np.where(known.depth == 0, fish.DEPTH + 1.0, 0.0)  # steps that are left, and 1; 0 for no parent
    for _ in range(fish.DEPTH + 1):
        left = np.where(feeds, fish.DEPTH + 1.0, np.maximum(near - 1.0, 0.0))
        near = np.maximum(near, best_parent(known.graph, np.where(known.fetched, left, 0.0)))
    front = best_parent(known.graph, feeds.astype(np.float64)) > 0
    return np.asarray(np.select([front, near == fish.DEPTH, near > 0], [2.0, 1.0, 0.0], -1.0))


SCORING = Scoring(score, ("relevance",))
