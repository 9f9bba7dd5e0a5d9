"""Measures how long a revisit of a site takes, and how many of the updated pages it finds.

This repeats the experiment of the paper on the watcher-based crawler: a news site, one round a day
for a week, some percent of its pages updated each day, one crawler with five threads. `uniform`
visits all pages, `by rank` the pages above a rank, and `top levels` the pages above a depth.
`optimal` is the planner that ships, with two budgets and both objectives. It learns from past
visits only. `lab watcher` measures what a report of the changed pages adds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.simulation.planned_pages import PlannedPages
from sanderling.freshness.worth import Objective

_LEARNING, _MEASURED = 21, 7  # days
_THREADS = 5
_SECONDS_A_PAGE = 1.0


@dataclass(frozen=True)
class Round:
    """Means over the measured days."""

    policy: str
    visits: float
    seconds: float
    found: float  # share of the updated pages


def revisit(seed: int) -> list[Round]:
    rng, pages = np.random.default_rng(seed), 2000
    depth = np.minimum(rng.geometric(0.35, pages), 7)
    depth[0] = 0
    # 2 to 11.5 % of a site change a day; the upper levels more, but not only they.
    rate = np.minimum(0.02 * rng.lognormal(0, 1.6, pages) * np.exp(0.5 * (3 - depth)), 1.5)
    rate *= 0.09 / (-np.expm1(-rate)).mean()
    updated = rng.random((_LEARNING + _MEASURED, pages)) < -np.expm1(-rate)
    rank = rng.pareto(1.2, pages) * np.exp(-0.4 * depth) * (1 + 3 * rate)
    everything = np.ones(pages, bool)
    rounds = [
        _fixed("uniform", everything, updated),
        _fixed("by rank", rank >= np.quantile(rank, 0.6), updated),
        _fixed("top levels", depth <= 3, updated),
    ]
    for visits in (int(pages * 0.25), int(pages * 0.4)):
        for objective in Objective:
            rounds.append(_optimal(objective, visits, depth, updated))
    return rounds


def _fixed(name: str, inside: NDArray[np.bool_], updated: NDArray[np.bool_]) -> Round:
    measured = updated[_LEARNING:]
    return _round(name, float(inside.sum()), float((measured & inside).sum() / measured.sum()))


def _round(name: str, visits: float, found: float) -> Round:
    return Round(name, visits, visits * _SECONDS_A_PAGE / _THREADS, found)


def _optimal(objective: Objective, amount: int, depth: NDArray[np.intp], updated: NDArray[np.bool_]) -> Round:
    """The planner that ships, with a budget of so many visits a round. In the first days all pages
    are visited, to learn their rates."""
    days, pages = updated.shape
    planned = PlannedPages([f"http://news/{d}/{page}.html" for page, d in enumerate(depth)], depth)
    planned.first_visit(slice(None), 0.0)
    stale = np.zeros(pages, bool)
    visits = found = 0
    for day in range(days):
        stale |= updated[day]
        now = float(day + 1)
        chosen = (
            np.arange(pages) if day < _LEARNING // 3 else planned.choose("optimal", amount, now, objective=objective)
        )
        if day >= _LEARNING:
            visits += len(chosen)
            found += int(updated[day][chosen].sum())
        for page in chosen:
            planned.visit(int(page), bool(stale[page]), now)
        stale[chosen] = False
    return _round(f"optimal for {objective.value}", visits / _MEASURED, found / updated[_LEARNING:].sum())
