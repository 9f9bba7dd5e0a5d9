"""The hosts of a crawl: how the crawler treats each, and what it has learned about its pages."""

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.errors import UsageError
from sanderling.model import Host, State, rendering
from sanderling.model.reasons import sentence
from sanderling.repository import views
from sanderling.repository.opening import settings_for
from sanderling.server.gate.host_memory import learned, mirror_of
from sanderling.settings import Settings
from sanderling.urls import identity, origin
from sanderling.web.api.inputs import ShelfDep, host_named
from sanderling.web.estimates import DoubtAnswer, Estimates
from sanderling.web.pages.addresses import first_part, next_part
from sanderling.web.pages.rendering import ago, show
from sanderling.web.tallies import Tallies

router = APIRouter()

_MOST = 20


@router.get("/crawls/{crawl}/hosts")
def hosts(request: Request, crawl: str, shelf: ShelfDep, after: int | None = None, host: str = "") -> HTMLResponse:
    tallies: Tallies = request.app.state.tallies
    with shelf.reading(crawl) as (folder, store):
        settings, _ = settings_for(folder, {})
        tally = tallies.of(folder, store)
        wanted, wrong = None, ""
        try:
            wanted = host_named(store, host)
        except UsageError as error:
            wrong = str(error)
        if wrong:
            part, others, first = views.ListPart([], None), [], []
        elif wanted is None:
            seeds = list(dict.fromkeys(identity(origin(seed)) for seed in store.seeds()))[:_MOST]
            part = views.hosts(store, _MOST, after)
            others = [each for each in part.rows if each.id not in seeds]
            first = [] if after is not None else [store.host(seed) for seed in seeds]
        else:
            part, others, first = views.ListPart([], None), [], [store.host(wanted)]
    estimates: Estimates = request.app.state.estimates
    estimate = estimates.of(folder).estimate
    doubts = estimate.doubts if estimate else []
    found = [*filter(None, first), *sorted(others, key=lambda each: each.origin)]
    shown = [_facts(each, tally.states.get(each.id, {}), settings, doubts) for each in found]
    return show(
        request, "hosts.html", crawl=crawl, tab="Hosts", hosts=shown, manners=_manners(settings),
        asked=host.strip(), wrong=wrong, counted_at=tally.at, old=tally.at and time.time() - tally.at > 1, many=bool(part.next or after or host), first=first_part(request, "after"),
        next=next_part(request, "after", part.next),
    )  # fmt: skip


def _facts(host: Host, states: dict[int, int], settings: Settings, doubts: list[DoubtAnswer]) -> dict[str, Any]:
    known = learned(host)
    robots = host.robots
    return {
        "origin": host.origin,
        "states": [
            (_WORDS.get(State(state), State(state).name.lower()), count) for state, count in sorted(states.items())
        ],
        "robots": _robots(host, settings),
        "robots_text": robots.text if robots else "",
        "robots_at": robots.at if robots else 0.0,
        "pace": _pace(host),
        "same_as": known.names.twin or "",
        "mirror_of": mirror_of(known),
        "held": states.get(State.KNOWN, 0),
        "ignored": known.names.ignored,
        "traps": [each for each in known.traps.patterns if each.closed],
        "soft_404": bool(known.traps.soft),
        "rendering": rendering.sampled_patterns(host.rendering)[:_MOST],
        "doubts": [each for each in doubts if each.host == host.origin],
    }


_WORDS = {State.KNOWN: "held back", State.EXCLUDED: "not followed"}


def _robots(host: Host, settings: Settings) -> str:
    if settings.ignore_robots:
        return "ignored, by the settings of this crawl"
    if host.robots is None:
        return "not fetched yet"
    if host.robots.allowed is None:
        return "follows its robots.txt" if host.robots.text.strip() else "robots.txt is empty: everything is allowed"
    return sentence(host.robots.reason) or ("everything is allowed" if host.robots.allowed else "nothing is allowed")


def _manners(settings: Settings) -> str:
    connections = (
        "one connection at a time" if settings.per_host == 1 else f"up to {settings.per_host} connections at a time"
    )
    if settings.delay is not None:
        pause = f"a pause of {settings.delay:g} s between visits" if settings.delay else "no pause between visits"
    else:
        pause = f"a pause of {settings.delay_factor:g} times the time of its answer, at most {settings.max_delay:g} s"
    return f"Each host gets {connections}, with {pause}."


def _pace(host: Host) -> str:
    parts = [f"a page takes {host.interval * 1000:,.0f} ms"] if host.interval else []
    if host.not_before > time.time():
        parts.append(f"next visit {ago(host.not_before)} at the earliest")
    return "; ".join(parts)
