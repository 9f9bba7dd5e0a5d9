"""How fresh a crawl's pages are believed to be, and what a budget of visits buys."""

import math
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.clock import DAY
from sanderling.errors import UsageError
from sanderling.refreshing.terms import read_budget
from sanderling.repository.folder import in_use
from sanderling.web.api.given import GivenShelf
from sanderling.web.estimates import Estimate, Estimates
from sanderling.web.pages import plots
from sanderling.web.pages.rendering import number, percent, show

router = APIRouter()

_SHARES = [(0.0, "0"), (0.25, "25 %"), (0.5, "50 %"), (0.75, "75 %"), (1.0, "100 %")]

# The least of the past that is drawn, so that there is room for its name.
_WEEK = 7


@router.get("/crawls/{crawl}/freshness")
def freshness(request: Request, crawl: str, shelf: GivenShelf, budget: str = "") -> HTMLResponse:
    """`budget` is one that was tried and does not fit."""
    folder = shelf.folder(crawl)
    estimates: Estimates = request.app.state.estimates
    known = estimates.of(folder)
    estimate = known.estimate
    drawn: dict[str, Any] = drawings(estimate, known.at) if estimate and estimate.pages else {}
    return show(
        request, "freshness.html", crawl=crawl, tab="Freshness", estimate=estimate, at=known.at, folder=folder.path,
        problem=known.problem, at_work=in_use(folder), usual=max(100, round(estimate.pages / 10)) if estimate else 0, budget=budget, wrong=wrong_budget(budget), **drawn,
    )  # fmt: skip


def wrong_budget(text: str) -> str:
    """What is wrong with a budget; one that is left open is fine."""
    try:
        read_budget(text or "1")
    except UsageError as error:
        return str(error).removeprefix("--budget ")
    return ""


def drawings(estimate: Estimate, at: float) -> dict[str, Any]:
    return {"over_time": _over_time(estimate, at), "budgets": _budgets(estimate), "paces": _paces(estimate)}


def _over_time(estimate: Estimate, at: float) -> plots.Drawing:
    """What was believed in the last weeks, and how it fades in the next when nothing is visited; in days from now."""
    ahead = estimate.fading
    end = ahead[-1][0]
    behind = [((when - at) / DAY, fresh) for when, fresh in estimate.past if at - when < end * DAY]
    begin = min(-_WEEK, math.floor(behind[0][0])) if behind else 0
    across = [(float(day), _day(day)) for day in sorted({begin, 0, round(end / 2), round(end)})]
    said = f"{percent(ahead[0][1])} now, {percent(ahead[-1][1])} in {end:g} days when nothing is visited"
    return plots.curve([[*behind, ahead[0]], ahead], said, across, _SHARES, here=0.0 if behind else None)


def _day(day: int) -> str:
    return "now" if not day else f"in {day} days" if day > 0 else f"{-day} days ago"


def _budgets(estimate: Estimate) -> plots.Drawing:
    """Over the logarithm of the budget: every further share of freshness costs a multiple."""
    found = [(math.log(max(each.visits, 1e-9)), each) for each in estimate.budgets]
    across = [(at, number(max(1, round(each.visits)))) for at, each in found[1::2]]
    ends = [(found[0][0], ""), *across[:-1], (found[-1][0], number(max(1, round(found[-1][1].visits))))]
    best = found[-1][1]
    said = f"Up to {percent(best.optimal)} with {number(round(best.visits))} visits a day"
    lines = [[(at, each.optimal) for at, each in found], [(at, each.uniform) for at, each in found]]
    return plots.curve(lines, said, ends, _SHARES)


def _paces(estimate: Estimate) -> plots.Drawing:
    short = {"daily or more often": "daily", "less often": "less"}
    classes = [(short.get(name, name), count) for name, count in estimate.paces.items()]
    return plots.histogram(classes, "; ".join(f"{name}: {count:,}" for name, count in estimate.paces.items()))
