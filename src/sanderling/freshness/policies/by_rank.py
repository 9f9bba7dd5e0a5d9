"""Only pages above a rank, by the formula of a paper."""

import numpy as np
from numpy.typing import NDArray

from sanderling.freshness.choosing import ScoredPolicy, evenly, waited_longest
from sanderling.freshness.ranked_pages import published_ranks


def _inside(pages: NDArray[np.void], threshold: float, levels: int) -> NDArray[np.bool_]:
    return np.asarray(published_ranks(pages) >= threshold)


POLICY = ScoredPolicy(waited_longest, evenly, _inside)
