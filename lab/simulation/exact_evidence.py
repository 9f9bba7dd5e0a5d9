"""The exact evidence of a page, one log-likelihood for each class of rates. Each visit updates it.

The product keeps four numbers for each kind of change instead (`freshness/evidence.py`).
"""

import numpy as np

from sanderling.arrays import Floats
from sanderling.freshness.belief import CLASSES, RATES
from sanderling.freshness.evidence import MEMORY


def no_evidence(pages: int) -> Floats:
    return np.zeros((pages, CLASSES))


def observed(evidence: Floats, elapsed: float, exposure: float, changed: bool, memory: float = MEMORY) -> Floats:
    """Evidence after one more visit.

    `elapsed` is the time since the visit before. `exposure` is the same time corrected by the
    activity of the neighbours (`season`); the two are equal if that activity was usual.
    """
    x = RATES * max(exposure, 1e-9)
    log_likelihood = np.log(np.maximum(-np.expm1(-x), 1e-12)) if changed else -x
    updated: Floats = evidence * np.exp(-elapsed / memory) + log_likelihood
    return np.asarray(updated - updated.max())
