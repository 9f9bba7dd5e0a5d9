"""Searches the pages of a crawl."""

import time
from collections.abc import Iterable
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi import Query as QueryParameter
from fastapi.responses import HTMLResponse

from sanderling.errors import SanderlingError
from sanderling.presenting.versions import moment, span
from sanderling.search.searching import Hit, Query, Results
from sanderling.urls import identity
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.indexes import Indexes
from sanderling.web.pages.addresses import offered_hosts
from sanderling.web.pages.rendering import show

router = APIRouter()

_HITS = 20
WHICH = (
    ("", "pages as they are now"),
    ("semantic", "also in other words"),
    ("versions", "every version"),
    ("gone", "pages that are gone"),
)


class SearchQuery(NamedTuple):
    q: str
    which: str
    changed: str
    host: str
    at: str
    until: str
    within: tuple[str, ...]  # earlier queries

    @property
    def any(self) -> bool:
        return any(self)


@router.get("/crawls/{crawl}/search")
def search(
    request: Request, crawl: str, shelf: ShelfDep, q: str = "", which: str = "", changed: str = "", host: str = "",
    at: str = "", until: str = "", page: int = 1, within: Annotated[list[str], QueryParameter()] = [],  # noqa: B006  (FastAPI copies it)
) -> HTMLResponse:  # fmt: skip
    earlier = tuple(dict.fromkeys(text.strip() for text in within if text.strip()))
    asked = SearchQuery(
        q.strip(),
        which if which in dict(WHICH) else "",
        changed.strip(),
        host.strip(),
        at.strip(),
        until.strip(),
        earlier,
    )
    results: Results | None = None
    trouble = ""
    indexes: Indexes = request.app.state.indexes
    with shelf.reading(crawl) as (folder, store):
        hosts = offered_hosts(store)
        if asked.any:
            try:
                results = indexes.searcher(folder, store).find(_query(asked, page))
                semantic = asked.which == "semantic"
                if results.behind or semantic:
                    trouble = indexes.catch_up(folder, semantic)
            except SanderlingError as error:
                trouble = str(error)
    address = request.url.include_query_params
    return show(
        request, "search.html", crawl=crawl, tab="Search", asked=asked, which=WHICH, hosts=hosts, results=results,
        trouble=trouble, start=(page - 1) * _HITS + 1,
        hits=[(identity(hit.url), hit, pieces(hit)) for hit in results.hits] if results else [],
        here=f"{request.url.path}?{request.url.query}", first=_local(address(page=1)) if page > 1 else "",
        next=_local(address(page=page + 1)) if results and results.more else "",
        narrower=_with(asked, "", (*earlier, asked.q)) if asked.q and asked.q not in earlier else "",
        wider=[(text, _with(asked, asked.q, [each for each in earlier if each != text])) for text in earlier],
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
    now = time.time()
    at, until = span(asked.at or asked.until, asked.until, now) if asked.at or asked.until else (0.0, 0.0)
    return Query(
        text=asked.q, within=asked.within, host=host, changed=moment(asked.changed, now) if asked.changed else 0.0,
        at=at, until=until, gone=asked.which == "gone", versions=asked.which == "versions",
        semantic=asked.which == "semantic", limit=_HITS, page=page,
    )  # fmt: skip


def _with(asked: SearchQuery, q: str, within: Iterable[str]) -> str:
    """The parameters of the same search with other words."""
    given: dict[str, object] = {
        "q": q,
        "which": asked.which,
        "changed": asked.changed,
        "host": asked.host,
        "at": asked.at,
    }
    given |= {"until": asked.until, "within": [*within]}
    return urlencode({name: value for name, value in given.items() if value}, doseq=True)


def _local(url: object) -> str:
    return "/" + str(url).partition("://")[2].partition("/")[2]
