"""Searches the pages of a crawl."""

import time
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.errors import SanderlingError
from sanderling.presenting.versions import moment
from sanderling.search.searching import Hit, Query, Results
from sanderling.urls import identity
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.indexes import Indexes
from sanderling.web.pages.addresses import offered_hosts
from sanderling.web.pages.rendering import show

router = APIRouter()

_HITS = 20
WHICH = (("", "pages as they are now"), ("versions", "every version"), ("gone", "pages that are gone"))


class SearchQuery(NamedTuple):
    q: str
    which: str
    changed: str
    host: str

    @property
    def any(self) -> bool:
        return any(self)


@router.get("/crawls/{crawl}/search")
def search(
    request: Request, crawl: str, shelf: ShelfDep, q: str = "", which: str = "", changed: str = "", host: str = "",
    page: int = 1,
) -> HTMLResponse:  # fmt: skip
    asked = SearchQuery(q.strip(), which if which in dict(WHICH) else "", changed.strip(), host.strip())
    results: Results | None = None
    trouble = ""
    indexes: Indexes = request.app.state.indexes
    with shelf.reading(crawl) as (folder, store):
        hosts = offered_hosts(store)
        if asked.any:
            try:
                results = indexes.searcher(folder, store).find(_query(asked, page))
                if results.behind:
                    trouble = indexes.catch_up(folder)
            except SanderlingError as error:
                trouble = str(error)
    address = request.url.include_query_params
    return show(
        request, "search.html", crawl=crawl, tab="Search", asked=asked, which=WHICH, hosts=hosts, results=results,
        trouble=trouble, start=(page - 1) * _HITS + 1,
        hits=[(identity(hit.url), hit, pieces(hit)) for hit in results.hits] if results else [],
        here=f"{request.url.path}?{request.url.query}", first=_local(address(page=1)) if page > 1 else "",
        next=_local(address(page=page + 1)) if results and results.more else "",
    )  # fmt: skip


def pieces(hit: Hit) -> list[tuple[bool, str]]:
    """The parts of a snippet in order, as (marked, text)."""
    found, last = [], 0
    for start, end in hit.marks:
        found += [(False, hit.snippet_text[last:start]), (True, hit.snippet_text[start:end])]
        last = end
    return [(marked, text) for marked, text in [*found, (False, hit.snippet_text[last:])] if text]


def _query(asked: SearchQuery, page: int) -> Query:
    host = asked.host.partition("://")[2].partition("/")[0] or asked.host
    return Query(
        text=asked.q, host=host, changed=moment(asked.changed, time.time()) if asked.changed else 0.0,
        gone=asked.which == "gone", versions=asked.which == "versions", limit=_HITS, page=page,
    )  # fmt: skip


def _local(url: object) -> str:
    return "/" + str(url).partition("://")[2].partition("/")[2]
