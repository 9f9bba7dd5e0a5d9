"""Visits that check a report: to pages that a proven report of their whole host does not name
(`Believed.vouched`).

Such pages need no visits, but a report that begins to lie must be found out. So each such host gets
a small part of its share of the budget, not more and not less. The rest goes to pages for which
no source vouches; if there are none, it is not spent.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness.budget import LONGEST, plan_believed
from sanderling.freshness.collection import Believed
from sanderling.freshness.worth import Objective, rough_worth

# Of a host's share of the budget. With it, `lab liars` finds no loss by a report that begins to
# lie.
CHECKS = 0.05


def best_checks(
    objective: Objective, pages: NDArray[np.void], known: Believed, vouched: NDArray[np.bool_], cost: Floats, budget: float
) -> NDArray[np.intp]:  # fmt: skip
    """Which of the vouched pages to check now: of each host those with the highest scores."""
    key = rough_worth(known.exposure, known.log_rate, known.spread, objective)
    found = [np.zeros(0, np.intp)]
    for host, checks in _checks(pages["host"], vouched, cost, budget).items():
        mine = np.flatnonzero(vouched & (pages["host"] == host))
        found.append(mine[np.argsort(-key[mine], kind="stable")[: max(1, round(checks))]])
    return np.concatenate(found)


def check_visits(
    objective: Objective, known: Believed, log_rate: Floats, vouched: NDArray[np.bool_], cost: Floats, budget: float,
    hosts: NDArray[np.intp], caps: Floats,
) -> Floats:  # fmt: skip
    """Visits a day for each of the vouched pages. `budget` is for a day, and `caps` are the most
    visits of each host."""
    some, allowed = vouched, np.zeros(len(caps))
    for host, checks in _checks(hosts, some, cost, budget).items():
        allowed[host] = min(caps[host], max(1.0, checks))
    spent = float(allowed.sum()) * float(cost[some].mean())
    return plan_believed(
        log_rate[some], known.spread[some], spent, known.weight[some], cost[some], hosts[some], allowed, objective, LONGEST
    ).visits  # fmt: skip


def _checks(
    hosts: NDArray[np.integer[Any]], vouched: NDArray[np.bool_], cost: Floats, budget: float
) -> dict[int, float]:
    """Checks of each host that has vouched pages."""
    visits = CHECKS * budget / max(float(cost.mean()), 1e-9)
    ids, counts = np.unique(hosts, return_counts=True)
    shares = dict(zip(ids.tolist(), (counts / len(hosts)).tolist(), strict=True))
    return {host: visits * shares[host] for host in np.unique(hosts[vouched]).tolist()}
