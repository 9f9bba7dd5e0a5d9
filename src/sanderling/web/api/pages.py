"""Pages: the URLs of a crawl, and all facts about one of them."""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET, Struct, UnsetType

from sanderling.change.comparison import blame as origins
from sanderling.change.judging import known_fingerprint, known_noise
from sanderling.model import ChangeKind, Kind, State
from sanderling.presenting.versions import paragraphs_of
from sanderling.repository import views
from sanderling.repository.store import UrlLookup
from sanderling.server.revisits.rates import facts_of, rate_of
from sanderling.urls import SEEDABLE, identity, with_fragment
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import After, Limit, PageId, ShelfDep, host_named, named, page_named
from sanderling.web.api.versions import Version, version_of
from sanderling.web.estimates import PageRateAnswer

router = APIRouter(tags=["pages"])

# Versions that are read from the archive to find the dates of a page's paragraphs.
MOST_READ = 50


class PageItem(Struct, frozen=True, kw_only=True):
    """A URL in a list. If it never answered, the status is 0."""

    id: str
    url: str
    state: str
    depth: int
    reason: str
    reason_code: str
    status: int
    title: str
    mime: str
    size: int
    visits: int
    changes: int
    fetched_at: float
    changed_at: float


class PageList(Struct, frozen=True):
    """URLs in the order in which they were found. A part that is not the last may have few items or
    none."""

    items: list[PageItem]
    next: int | None


class PageAnswer(Struct, frozen=True, kw_only=True):
    """Everything that is known about one URL."""

    id: str
    url: str
    state: str
    kind: str
    depth: int
    due: float
    found_on: str | None
    anchor: str
    reason: str
    reason_code: str
    status: int
    title: str
    mime: str
    charset: str
    language: str
    size: int
    visits: int
    changes: int
    not_modified: int
    same: int
    importance: float
    relevance: float | UnsetType = UNSET  # missing if the crawl has no topic
    fetched_at: float
    changed_at: float
    truncated: bool
    noindex: bool
    login: bool
    redirect: str | None
    same_as: str | None
    versions: int
    extracted: dict[str, Any] | None  # what the user's extractors found in the newest version
    change_rate: PageRateAnswer | None  # null before it or a page near it was visited twice
    fingerprint: dict[str, Any] | None
    noise: dict[str, Any] | None


class VersionList(Struct, frozen=True):
    """Versions of one page, the newest first."""

    items: list[Version]
    next: int | None


class LinkAnswer(Struct, frozen=True):
    """A URL at the other end of a link."""

    id: str
    url: str
    state: str


class LinkList(Struct, frozen=True):
    """Links from or to a page. For links to it, each request searches one part of the crawl."""

    items: list[LinkAnswer]
    next: int | None


class Paragraph(Struct, frozen=True):
    """A paragraph of the newest version, with its dates."""

    text: str
    first_seen: float
    last_edited: float


class ParagraphList(Struct, frozen=True):
    """The paragraphs of a page. Their dates come from its last versions."""

    items: list[Paragraph]
    versions_read: int


@router.get("/crawls/{crawl}/pages", **gives(PageList))
def list_pages(
    crawl: str, shelf: ShelfDep, limit: Limit = 100, after: After = None,
    state: Annotated[str, Query(pattern=f"^({'|'.join(each.name.lower() for each in State)})?$")] = "",
    host: Annotated[str, Query(description="an origin, such as https://example.org")] = "",
    prefix: Annotated[str, Query(max_length=2000, description="the beginning of the URL")] = "",
    url: Annotated[str, Query(max_length=20_000, description="exactly this URL")] = "",
) -> Response:  # fmt: skip
    """URLs in the order in which they were found."""
    with shelf.reading(crawl) as (_, store):
        if url:
            wanted = with_fragment(url, SEEDABLE)
            number = store.number(identity(wanted)) if wanted else None
            part = views.urls(store, 1, number - 1) if number is not None else views.ListPart([], None)
            found = [row for row in part.rows if row.number == number]
            return json_answer(PageList([_item(row) for row in found], None))
        chosen = State[state.upper()] if state else None
        part = views.urls(store, limit, after or 0, chosen, host_named(store, host), prefix)
    return json_answer(PageList([_item(row) for row in part.rows], part.next))


@router.get("/crawls/{crawl}/pages/{page}", **gives(PageAnswer))
def read_page(crawl: str, page: PageId, shelf: ShelfDep) -> Response:
    """One URL: its state, its last answer, its fingerprint."""
    with shelf.reading(crawl) as (_, store):
        shown = page_named(store, page)
        count = views.version_count(store, shown.id)
        newest = views.versions(store, shown.id, count, count) if count else []
        via = store.known([shown.via]).get(shown.via) if shown.via else None
        rate = rate_of(views.evidence_around(store, shown.id)) if shown.visits else None
    facts = shown._asdict()
    kept = known_fingerprint(shown.fingerprint)
    noise = known_noise(shown.noise) if kept else None
    for name in ("host", "via", "fingerprint", "noise"):
        del facts[name]
    facts |= {"id": page, "kind": Kind(shown.kind).name.lower(), "found_on": via[0] if via else None}
    facts |= {"redirect": shown.redirect or None, "same_as": shown.same_as or None}
    facts |= {"versions": count, "extracted": newest[0].extracted if newest else None}
    facts["relevance"] = shown.relevance or UNSET
    facts["change_rate"] = msgspec.convert(facts_of(rate), PageRateAnswer) if rate else None
    return json_answer(PageAnswer(**facts, fingerprint=_table(kept), noise=_table(noise)))


@router.get("/crawls/{crawl}/pages/{page}/versions", **gives(VersionList))
def page_versions(
    request: Request, crawl: str, page: PageId, shelf: ShelfDep, limit: Limit = 100, after: After = None
) -> Response:
    """The versions of a page, the newest first."""
    with shelf.reading(crawl) as (_, store):
        id = page_named(store, page).id
        last = min(after if after is not None else 1 << 62, views.version_count(store, id))
        first = max(1, last - limit + 1)
        found = views.versions(store, id, first, last) if last > 0 else []
    items = [version_of(request, crawl, row, place) for place, row in enumerate(found, first)][::-1]
    return json_answer(VersionList(items, first - 1 if first > 1 else None))


@router.get("/crawls/{crawl}/pages/{page}/links/out", **gives(LinkList))
def links_out(crawl: str, page: PageId, shelf: ShelfDep, limit: Limit = 100, after: After = None) -> Response:
    """The targets of a page's links, in their order on the page."""
    start = max(0, after or 0)
    with shelf.reading(crawl) as (_, store):
        ids = list(memoryview(store.links_of(page_named(store, page).id)).cast("q"))
        found = _links(store, ids[start : start + limit])
    return json_answer(LinkList(found, start + limit if start + limit < len(ids) else None))


@router.get("/crawls/{crawl}/pages/{page}/links/in", **gives(LinkList))
def links_in(crawl: str, page: PageId, shelf: ShelfDep, limit: Limit = 100, after: After = None) -> Response:
    """Pages that link to a URL."""
    with shelf.reading(crawl) as (_, store):
        part = views.linking(store, page_named(store, page).id, after, limit)
        found = _links(store, part.rows)
    return json_answer(LinkList(found, part.next))


@router.get("/crawls/{crawl}/pages/{page}/blame", **gives(ParagraphList))
def blame(crawl: str, page: PageId, shelf: ShelfDep) -> Response:
    """When each paragraph of a page first appeared and was last edited."""
    with shelf.reading(crawl) as (folder, store):
        id = page_named(store, page).id
        count = views.version_count(store, id)
        rows = views.versions(store, id, max(1, count - MOST_READ + 1), count) if count else []
        rows = [row for row in rows if not row.kinds & ChangeKind.GONE]
        texts = [paragraphs_of(folder, row) for row in rows]
    dated = zip(texts[-1] if texts else [], origins(texts), strict=True)
    items = [Paragraph(text, rows[origin.first].at, rows[origin.edited].at) for text, origin in dated]
    return json_answer(ParagraphList(items, len(rows)))


def _item(row: views.ListedUrl) -> PageItem:
    facts = row._asdict()
    del facts["number"]
    return PageItem(**{**facts, "id": named(row.id)})


def _links(store: UrlLookup, ids: list[int]) -> list[LinkAnswer]:
    known = store.known(ids)
    return [LinkAnswer(named(id), known[id][0], State(known[id][1]).name.lower()) for id in ids if id in known]


def _table(value: object) -> dict[str, Any] | None:
    """A fingerprint or noise as JSON, with bytes as hexadecimal digits."""
    if value is None:
        return None
    table: dict[str, Any] = msgspec.to_builtins(value, builtin_types=(bytes,))
    if isinstance(table, list):
        table = {field.name: each for field, each in zip(msgspec.structs.fields(value), table, strict=False)}
    return {name: each.hex() if isinstance(each, bytes) else each for name, each in table.items()}
