"""The estimated freshness of a crawl, and the freshness that each budget gives."""

import math
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.clock import DAY
from sanderling.errors import UsageError
from sanderling.freshness.outlook import SHORTEST_WATCH
from sanderling.repository.folder import in_use
from sanderling.server.revisits.terms import read_budget
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.estimates import Estimate, Estimates
from sanderling.web.pages import plots
from sanderling.web.pages.rendering import number, percent, show

router = APIRouter()

_SHARES = [(0.0, "0"), (0.25, "25 %"), (0.5, "50 %"), (0.75, "75 %"), (1.0, "100 %")]

# At least this many past days are drawn, so that there is room for their label.
_WEEK = 7


@router.get("/crawls/{crawl}/freshness")
def freshness(request: Request, crawl: str, shelf: ShelfDep, budget: str = "") -> HTMLResponse:
    """`budget` is a value from the form that was not valid."""
    folder = shelf.folder(crawl)
    estimates: Estimates = request.app.state.estimates
    known = estimates.of(folder)
    estimate = known.estimate
    drawn: dict[str, Any] = drawings(estimate, known.at) if estimate and estimate.pages else {}
    return show(
        request, "freshness.html", crawl=crawl, tab="Freshness", estimate=estimate, at=known.at, folder=folder.path,
        early=estimate is not None and estimate.watched_days < SHORTEST_WATCH, problem=known.problem, renewing=known.renewing, at_work=in_use(folder), usual=max(100, round(estimate.pages / 10)) if estimate else 0, budget=budget, wrong=wrong_budget(budget), **drawn,
    )  # fmt: skip


def wrong_budget(text: str) -> str:
    """The error of a budget, if any. An empty budget is valid."""
    try:
        read_budget(text or "1")
    except UsageError as error:
        return str(error).removeprefix("--budget ")
    return ""


def drawings(estimate: Estimate, at: float) -> dict[str, Any]:
    return {"over_time": _over_time(estimate, at), "budgets": _budgets(estimate), "paces": _paces(estimate)}


def _over_time(estimate: Estimate, at: float) -> plots.Drawing:
    """Past estimates, and the expected freshness of the next weeks if nothing is visited. Times are
    in days from now."""
    ahead = estimate.fading
    end = ahead[-1][0]
    behind = [((when - at) / DAY, fresh) for when, fresh in estimate.past if at - when < end * DAY]
    begin = min(-_WEEK, math.floor(behind[0][0])) if behind else 0
    across = [(float(day), _day(day)) for day in sorted({begin, 0, round(end / 2), round(end)})]
    label = f"{percent(ahead[0][1])} now, {percent(ahead[-1][1])} in {end:g} days if nothing is visited"
    return plots.curve([[*behind, ahead[0]], ahead], label, across, _SHARES, here=0.0 if behind else None)


def _day(day: int) -> str:
    return "now" if not day else f"in {day} days" if day > 0 else f"{-day} days ago"


def _budgets(estimate: Estimate) -> plots.Drawing:
    """Freshness by the logarithm of the budget, because each further percent costs a multiple."""
    found = [(math.log(max(each.visits, 1e-9)), each) for each in estimate.budgets]
    across = [(at, number(max(1, round(each.visits)))) for at, each in found[1::2]]
    ends = [(found[0][0], ""), *across[:-1], (found[-1][0], number(max(1, round(found[-1][1].visits))))]
    best = found[-1][1]
    label = f"Up to {percent(best.optimal)} with {number(round(best.visits))} visits a day"
    lines = [[(at, each.optimal) for at, each in found], [(at, each.uniform) for at, each in found]]
    return plots.curve(lines, label, ends, _SHARES)


def _paces(estimate: Estimate) -> plots.Drawing:
    short = {"daily or more often": "daily", "less often": "less"}
    classes = [(short.get(name, name), count) for name, count in estimate.paces.items()]
    return plots.histogram(classes, "; ".join(f"{name}: {count:,}" for name, count in estimate.paces.items()))
