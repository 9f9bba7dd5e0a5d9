"""When a page is due: each policy is a pure function of what is known about the page, to a time or `None` for never.

`optimal` is the product's own; the others are those of the literature, kept to be measured against. They compete fairly
only with equal visits: `Terms` carries the one number each needs to be tuned to a budget.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from sanderling.freshness.adaptive import NUTCH_FIRST
from sanderling.freshness.curves import inverse_gain
from sanderling.freshness.worth import Objective, wait


class Page(NamedTuple):
    """What a policy may know. `rate` is None until it was estimated."""

    last: float
    rate: float | None = None
    spread: float = 0.0  # standard deviation of ln(rate); 0 when it is known exactly
    weight: float = 1.0
    cost: float = 1.0
    depth: int = 0
    interval: float = NUTCH_FIRST  # Nutch's own state


class Terms(NamedTuple):
    """What holds for all pages of a crawl at once."""

    threshold: float = 1.0  # optimal: the worth at which a page is visited (`budget` solves it)
    interval: float = 30.0  # uniform, top-levels: time between visits; proportional: of a page of rate and weight 1
    levels: int = 2  # top-levels: the deepest level still visited
    longest: float = 3650.0
    objective: Objective = Objective.FRESHNESS


Due = Callable[[Page, Terms], float | None]


def optimal(page: Page, terms: Terms) -> float | None:
    """When its worth, importance * gain(rate * age) / rate for each unit of cost, reaches the threshold.

    With an exactly known rate this may be never. A believed rate drifts, so the page is due after `longest` at last.
    """
    if page.weight <= 0:
        return None
    if page.rate is None:
        return page.last
    wanted = terms.threshold * page.cost / page.weight
    if page.rate <= 0:
        return None
    if page.spread > 0:
        age = wait(wanted, math.log(page.rate), page.spread, terms.longest, terms.objective)
        return page.last + float(age[0])
    x = float(inverse_gain(wanted * page.rate**terms.objective.power))
    return None if math.isinf(x) else page.last + x / page.rate


def uniform(page: Page, terms: Terms) -> float | None:
    return page.last + terms.interval


def proportional(page: Page, terms: Terms) -> float | None:
    """Twice as often when it changes, or matters, twice as much: plausible, and worse than uniform."""
    if page.rate is None:
        return page.last
    pull = page.rate * page.weight
    return page.last + terms.interval / pull if pull > 0 else None


def nutch(page: Page, terms: Terms) -> float | None:
    return page.last + page.interval


def top_levels(page: Page, terms: Terms) -> float | None:
    return page.last + terms.interval if page.depth <= terms.levels else None


def every(page: Page, terms: Terms) -> float | None:
    """The whole collection at each refresh: whatever was visited is due again."""
    return page.last


POLICIES: dict[str, Due] = {
    "optimal": optimal,
    "uniform": uniform,
    "proportional": proportional,
    "nutch": nutch,
    "top-levels": top_levels,
    "all": every,
}


def due(policy: str, page: Page, terms: Terms) -> float | None:
    return POLICIES[policy](page, terms)
