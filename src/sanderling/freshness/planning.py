"""Applies a policy to a whole collection: which pages to visit now, or when each page is due.

A fixed number of visits is spent on the pages with the highest score now (`choose`). With a budget
per time, every page gets a due time (`schedule`).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.arrays import Floats
from sanderling.freshness.choosing import PlannedTimes, VisitBudget
from sanderling.freshness.collection import Believed
from sanderling.freshness.policies import policy as named
from sanderling.freshness.worth import Objective


def inside_of(policy: str, pages: NDArray[np.void], threshold: float, levels: int) -> NDArray[np.bool_] | bool:
    """The pages that a policy with a limit visits; the others wait until they are inside."""
    return named(policy).inside(pages, threshold, levels)


def choose(
    policy: str, objective: Objective, pages: NDArray[np.void], known: Believed, cost: Floats, budget: float, now: float,
    inside: NDArray[np.bool_] | bool = True,
) -> NDArray[np.intp]:  # fmt: skip
    """The pages with the highest scores that the budget allows, the best first. Only those `inside`
    are visited."""
    return named(policy).choose(VisitBudget(objective, pages, known, cost, budget, now, inside))


def schedule(
    policy: str, objective: Objective, pages: NDArray[np.void], known: Believed, cost: Floats, budget: float, now: float,
    hosts: NDArray[np.intp] | None = None, caps: ArrayLike = np.inf, inside: NDArray[np.bool_] | bool = True,
) -> PlannedTimes:  # fmt: skip
    """When each page is due, if `budget` may be spent a day and no host gets more visits a day than
    its cap.

    Pages that are not `inside` are never due."""
    return named(policy).schedule(VisitBudget(objective, pages, known, cost, budget, now, inside, hosts, caps))
