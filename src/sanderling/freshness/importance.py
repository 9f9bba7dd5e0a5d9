"""The weight of each page relative to the others.

The weight grows with PageRank on the known graph, falls with the distance from the seeds, and is
multiplied by the user's own weights. The mean weight is 1, so that weighted freshness and plain
freshness can be compared.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sanderling.arrays import Floats

# PageRank is heavy-tailed: without a power, the front page would outweigh the rest of its site. The
# square root keeps the order and leaves visits for the long tail.
RANK_POWER = 0.5
DEPTH_DECAY = 0.8
LIGHTEST = 0.01


def importance(pagerank: ArrayLike, depth: ArrayLike, user_weight: ArrayLike = 1.0) -> Floats:
    """Weights with mean 1. A page whose PageRank is not known yet (0 or NaN) counts as the median
    page."""
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
    """Which pages to exchange in a full collection, as positions (leaver, newcomer).

    The least important pages inside are replaced by the most important ones outside, as long as the
    newcomer is more important than the leaver.
    """
    leaving = sorted(range(len(inside)), key=inside.__getitem__)
    coming = sorted(range(len(outside)), key=outside.__getitem__, reverse=True)
    return [
        (leaver, newcomer)
        for leaver, newcomer in zip(leaving, coming, strict=False)
        if outside[newcomer] > inside[leaver]
    ]
