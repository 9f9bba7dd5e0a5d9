"""The adaptive intervals of Apache Nutch, for comparison."""

import numpy as np

from sanderling.arrays import Floats
from sanderling.freshness.adaptive import NUTCH_FIRST
from sanderling.freshness.choosing import ScoredPolicy, VisitBudget


def _wait(asked: VisitBudget) -> Floats:
    interval = asked.pages["interval"]
    return np.asarray(np.where(interval > 0, interval, NUTCH_FIRST))


def _overdue(asked: VisitBudget) -> Floats:
    return asked.elapsed - _wait(asked)


POLICY = ScoredPolicy(_overdue, _wait)
