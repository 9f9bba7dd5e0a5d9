"""Reads how often the pages and hosts of a crawl change, by the estimators EB and EP."""

from typing import Any, NamedTuple

import numpy as np

from sanderling.clock import DAY
from sanderling.freshness import rates, tallies
from sanderling.freshness.collection import Believed, believe
from sanderling.freshness.outlook import Interval
from sanderling.model import Kind
from sanderling.repository.store import PlanningStore
from sanderling.server.revisits.planner import Collection, read


class ReadRates(NamedTuple):
    """What is believed of all pages, and the counts of visits that EP is made from."""

    collection: Collection
    known: Believed
    urls: list[str]
    counts: tallies.VisitCounts
    hosts: dict[int, rates.HostRate]


def read_rates(store: PlanningStore, now: float, since: float | None = None) -> ReadRates:
    """Times are in days. With `since`, only visits after it count, for both estimators."""
    collection = read(store, now)
    urls, packed = [], []
    for each in store.subjects():
        if each.kind in (Kind.PAGE, Kind.REQUISITE):
            urls.append(each.url)
            packed.append(each.evidence or b"")
    pages = collection.pages
    counts = tallies.read(packed, pages["at"], 0.0 if since is None else since)
    if since is not None:
        pages["evidence"] = rates.as_evidence(counts)
    known = believe(pages, collection.hosts, now)
    return ReadRates(collection, known, urls, counts, rates.host_rates(pages, known, counts))


def host_facts(read: ReadRates, origins: dict[int, str], most: int | None = None) -> list[dict[str, Any]]:
    """Hosts with most pages first."""
    chosen = [*read.hosts.items()][:most]
    return [
        {"host": origins.get(id, ""), **_counted(each), "pages": each.pages, "visited_again": each.visited_again}
        | _estimates(each.eb, "pages", each.ep, "host")
        for id, each in chosen
    ]


def page_facts(read: ReadRates) -> list[dict[str, Any]]:
    """Pages that change most first."""
    found = rates.page_rates(read.collection.pages, read.known, read.counts, read.hosts)
    rows = sorted(zip(read.urls, found, strict=True), key=lambda row: -row[1].eb.expected)
    return [{"url": url, **facts_of(each)} for url, each in rows]


def rate_of(around: list[tuple[bytes, float]]) -> rates.PageRate | None:
    """The rate of one page, with the pages around it for what its own visits do not say. None
    before any of them was visited twice. Times are in seconds."""
    packed = [said for said, _ in around]
    counts = tallies.read(packed, np.array([at / DAY for _, at in around]), 0.0)
    return rates.of_one(packed[0], packed[1:], counts)


def facts_of(page: rates.PageRate) -> dict[str, Any]:
    return {**_counted(page), "days": round(page.days, 3)} | _estimates(page.eb, page.eb_of, page.ep, page.ep_of)


def _counted(each: rates.PageRate | rates.HostRate) -> dict[str, int]:
    return {"visits": each.visits, "changes": each.changes}


def _estimates(eb: Interval, eb_of: str, ep: Interval | None, ep_of: str) -> dict[str, Any]:
    """The rate that visits are planned by comes first, then those of both estimators."""
    by_name = {"eb": {**_ends(eb), "of": eb_of}, "ep": {**_ends(ep), "of": ep_of} if ep else None}
    return {"rate": eb.expected, "every": DAY / max(eb.expected, 1e-9), "estimator": "EB", **by_name}


def _ends(each: Interval) -> dict[str, float | None]:
    return {"rate": each.expected, "low": each.low, "high": each.high if each.high < float("inf") else None}
