"""What a page is worth, relative to the others: a pure function of what the crawl knows about it.

PageRank of the known graph says how the web values a page, its depth how near the user's seeds it lies, and
the user's own weights have the last word. The mean over a collection is 1, so that "weighted freshness" and
freshness are figures of the same size.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sanderling.arrays import Floats

# PageRank is heavy-tailed: taken whole, the front page would outweigh a site. Its square root keeps the order
# and lets the long tail still be visited.
RANK_POWER = 0.5
DEPTH_DECAY = 0.8
LIGHTEST = 0.01


def importance(pagerank: ArrayLike, depth: ArrayLike, user_weight: ArrayLike = 1.0) -> Floats:
    """Weights of mean 1. A page whose PageRank is not known yet (0 or NaN) counts as the median page."""
    rank = np.atleast_1d(np.asarray(pagerank, np.float64))
    known = np.isfinite(rank) & (rank > 0)
    middle = float(np.median(rank[known])) if known.any() else 1.0
    rank = np.where(known, rank, middle) / middle
    near = DEPTH_DECAY ** np.maximum(np.asarray(depth, np.float64), 0.0)
    user = np.maximum(np.asarray(user_weight, np.float64), 0.0)
    weight = np.maximum(rank**RANK_POWER * near, LIGHTEST) * user
    mean = weight.mean() if weight.size else 0.0
    return weight / mean if mean > 0 else weight


def replacement(inside: Sequence[float], outside: Sequence[float]) -> list[tuple[int, int]]:
    """The refinement of a full collection: (leaver, newcomer) positions, the least important inside giving way to
    the most important outside for as long as the newcomer outranks the leaver."""
    leaving = sorted(range(len(inside)), key=inside.__getitem__)
    coming = sorted(range(len(outside)), key=outside.__getitem__, reverse=True)
    return [
        (leaver, newcomer)
        for leaver, newcomer in zip(leaving, coming, strict=False)
        if outside[newcomer] > inside[leaver]
    ]
