"""Only pages that are a few steps from a seed."""

import numpy as np
from numpy.typing import NDArray

from sanderling.freshness.choosing import ScoredPolicy, evenly, waited_longest


def _inside(pages: NDArray[np.void], threshold: float, levels: int) -> NDArray[np.bool_]:
    return np.asarray(pages["depth"] <= levels)


POLICY = ScoredPolicy(waited_longest, evenly, _inside)
