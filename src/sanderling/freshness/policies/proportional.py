"""Pages that change more often are visited more often, in proportion."""

import numpy as np

from sanderling.arrays import Floats
from sanderling.freshness.choosing import ScoredPolicy, VisitBudget, inverse


def _pull(asked: VisitBudget) -> Floats:
    return np.asarray(np.exp(asked.known.log_rate) * asked.known.weight)


def _score(asked: VisitBudget) -> Floats:
    return _pull(asked) * asked.elapsed


def _wait(asked: VisitBudget) -> Floats:
    pull = _pull(asked)
    visits = pull * asked.budget / max(float((asked.cost * pull).sum()), 1e-12)
    return inverse(visits)


POLICY = ScoredPolicy(_score, _wait)
