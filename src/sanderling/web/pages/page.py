"""One page: its versions, its facts, its next visit and its links."""

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.browser.event_path import path_in_words
from sanderling.freshness.outlook import rates_of
from sanderling.model import State, VersionRow
from sanderling.repository import views
from sanderling.repository.folder import Folder, in_use
from sanderling.repository.opening import settings_for
from sanderling.repository.store import UrlLookup, ViewStore
from sanderling.server.requests import remote
from sanderling.server.revisits.rates import rate_of
from sanderling.urls import document_of, identity, is_state
from sanderling.urls.fragments import STATE
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.pages import topic, words
from sanderling.web.pages.addresses import MOST, archived_at, first_part, next_part, page_of
from sanderling.web.pages.rendering import show
from sanderling.web.pages.screenshots import is_shown
from sanderling.web.shelf import Shelf

router = APIRouter()


def page_head(request: Request, crawl: str, id: str, page: views.Shown, newest: VersionRow | None) -> dict[str, Any]:
    """The values for the head of every view of a page."""
    archive = "" if newest is None or "gone" in newest.kinds.names else archived_at(request, crawl, newest)
    head: dict[str, Any] = {"crawl": crawl, "tab": "Pages", "id": id, "page": page, "archive": archive, "state_of": ""}
    if is_state(page.url):
        document = document_of(page.url)
        head |= {"state_of": document, "state_page": identity(document), "events": path_in_words(page.url)}
    return head


def _states(folder: Folder, store: ViewStore, page: views.Shown) -> tuple[list[views.ListedUrl], str]:
    """The states of a page, as far as one look finds them, and the query for the list of all. The
    look begins behind the page itself, because its states are found when it is visited."""
    if is_state(page.url) or not settings_for(folder, {})[0].states:
        return [], ""
    prefix, number = f"{page.url}#{STATE}", store.number(page.id) or 0
    found = views.urls(store, MOST, number, None, page.host, prefix)
    return found.rows, urlencode({"prefix": prefix, "after": found.next}) if found.next else ""


def newest_of(store: ViewStore, page: int, count: int) -> VersionRow | None:
    return views.versions(store, page, count, count)[0] if count else None


@router.get("/crawls/{crawl}/pages/{id}")
def versions(request: Request, crawl: str, id: str, shelf: ShelfDep, to: int = 0) -> HTMLResponse:
    return _versions(request, crawl, id, shelf, to)


@router.post("/crawls/{crawl}/pages/{id}/visit")
def visit(request: Request, crawl: str, id: str, shelf: ShelfDep) -> HTMLResponse:
    """Has a running crawl visit the page now, and says what becomes of it."""
    with shelf.reading(crawl) as (folder, store):
        url = page_of(store, id).url
    try:
        (reply,) = remote.visit(folder.path, [url]).replies
        said = reply.said
    except remote.NotRunning:
        said = "the crawl has ended meanwhile"
    return _versions(request, crawl, id, shelf, said=said)


def _versions(request: Request, crawl: str, id: str, shelf: Shelf, to: int = 0, said: str = "") -> HTMLResponse:
    """`said` is what becomes of a page that somebody wanted visited."""
    with shelf.reading(crawl) as (folder, store):
        page = page_of(store, id)
        why_chosen = topic.chosen(folder, store, page)
        count = views.version_count(store, page.id)
        last = to if 0 < to < count else count
        first = max(1, last - MOST + 1)
        found = views.versions(store, page.id, first, last) if count else []
        newest = found[-1] if found and last == count else newest_of(store, page.id, count)
        oldest = found[:1] if first == 1 else views.versions(store, page.id, 1, 1)
        pictured = {each.number for each in found if is_shown(folder, each)}
        around = views.evidence_around(store, page.id)
        rates, rate = rates_of(around[0][0]), rate_of(around) if page.visits else None
        states, more_states = _states(folder, store, page)
        inside = store.known([identity(url) for url in (page.redirect, page.same_as) if url])
    numbered = list(zip(range(first, last + 1), found, strict=False))[::-1]
    return show(
        request, "page.html", **page_head(request, crawl, id, page, newest), view="Versions", versions=numbered,
        chosen=why_chosen, taught=request.query_params.get("taught", ""),
        links={each.number: archived_at(request, crawl, each) for each in found}, why_none=words.why_unkept(page),
        facts=words.facts(page), data=words.data(newest.extracted if newest else None), fingerprint=words.fingerprint(page), first=first_part(request, "to"),
        schedule=words.schedule(page, oldest[0].at if oldest else 0.0, rates, rate),
        said=said, running=in_use(folder), pictured=pictured, states=states, more_states=more_states, shown=path_in_words,
        next=next_part(request, "to", first - 1 if first > 1 else None), inside={url: id for id, (url, _) in inside.items()},
    )  # fmt: skip


@router.get("/crawls/{crawl}/pages/{id}/links")
def links(
    request: Request, crawl: str, id: str, shelf: ShelfDep, to: int = 0, incoming: int | None = None
) -> HTMLResponse:
    """The links of a page, and pages that link to it. Each request searches one part of the crawl
    for those."""
    with shelf.reading(crawl) as (_, store):
        page = page_of(store, id)
        newest = newest_of(store, page.id, views.version_count(store, page.id))
        ids = list(memoryview(store.links_of(page.id)).cast("q"))
        outgoing = _named(store, ids[to : to + MOST])
        found_on = _named(store, [page.via] if page.via else [])
        part = views.ListPart([], None)
        if "incoming" in request.query_params:
            part = views.linking(store, page.id, incoming or None)
        linking = _named(store, part.rows)
    return show(
        request, "links.html", **page_head(request, crawl, id, page, newest), view="Links", outgoing=outgoing,
        out_count=len(ids), next_out=next_part(request, "to", to + MOST if to + MOST < len(ids) else None),
        first_out=first_part(request, "to"), linking=linking, found_on=found_on, asked="incoming" in request.query_params,
        next_in=next_part(request, "incoming", part.next), started=not incoming,
    )  # fmt: skip


def _named(store: UrlLookup, ids: list[int]) -> list[dict[str, Any]]:
    known = store.known(ids)
    return [{"id": id, "url": known[id][0], "state": State(known[id][1]).name.lower()} for id in ids if id in known]
