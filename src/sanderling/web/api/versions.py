"""Versions: their facts, their archived content, and the differences between two of them."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from msgspec import Struct

from sanderling.change.structure import LevelChange
from sanderling.model import ChangeKind, VersionRow
from sanderling.presenting.diff import DifferentParagraph, as_html, as_text, different_paragraph
from sanderling.presenting.difference import difference
from sanderling.presenting.versions import when
from sanderling.repository import views, warc
from sanderling.repository.archive import text_of
from sanderling.telling.edits import edit_id
from sanderling.urls import identity
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import Number, PageId, ShelfDep, named, page_named
from sanderling.web.problems import NotFound
from sanderling.web.security import Security, archive_origin

router = APIRouter(tags=["versions"])

# A complete page that users may save. It contains its own style, and no script can run in it.
_STANDALONE = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


class Version(Struct, frozen=True, kw_only=True):
    """One version of a page. `archive` is a link to its content, on another origin, that works for
    an hour."""

    number: int
    page: str
    url: str
    title: str
    at: float
    status: int
    kinds: list[str]
    significance: float
    degree: str
    summary: str
    excerpt: str  # the change itself, before → after
    edit: str  # the same for pages with the same change
    news: bool
    digest: str
    size: int
    mime: str
    extracted: dict[str, Any] | None  # what the user's extractors found
    archive: str | None
    place: int | None = None  # its position in the history of the page, from 1


class Diff(Struct, frozen=True):
    """The differences between two versions, in the order of the newer one."""

    url: str
    a: Version
    b: Version
    items: list[DifferentParagraph]
    summary: str = ""
    hidden: int = 0  # changed paragraphs that are noise and not in `items`
    levels: tuple[LevelChange, ...] = ()  # nodes of the tree that were inserted and deleted


def version_of(request: Request, crawl: str, row: VersionRow, place: int | None = None) -> Version:
    security: Security = request.app.state.security
    shown = None
    if not row.kinds & ChangeKind.GONE:
        shown = security.archive_link(archive_origin(request), crawl, row.number)
    return Version(
        number=row.number, page=named(identity(row.url)), url=row.url, title=row.title, at=row.at, status=row.status,
        kinds=row.kinds.names, significance=row.significance, degree=row.degree, summary=row.summary, news=row.news,
        excerpt=row.excerpt, edit=edit_id(row),
        digest=row.digest, size=row.size, mime=row.mime, extracted=row.extracted, archive=shown, place=place,
    )  # fmt: skip


@router.get("/crawls/{crawl}/versions/{number}", **gives(Version))
def read_version(request: Request, crawl: str, number: Number, shelf: ShelfDep) -> Response:
    """One version by its number."""
    with shelf.reading(crawl) as (_, store):
        row = views.version(store, number)
    if row is None:
        raise NotFound(f"there is no version {number}")
    return json_answer(version_of(request, crawl, row))


@router.get("/crawls/{crawl}/versions/{number}/body", response_class=Response)
def version_body(crawl: str, number: Number, shelf: ShelfDep) -> Response:
    """The received bytes, decompressed. Browsers download them and never show them."""
    archived = _archived(crawl, number, shelf)
    return Response(
        archived.body, media_type="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="version-{number}"', "Content-Security-Policy": "sandbox"},
    )  # fmt: skip


@router.get("/crawls/{crawl}/versions/{number}/text", response_class=Response)
def version_text(crawl: str, number: Number, shelf: ShelfDep) -> Response:
    """The visible text."""
    return Response(text_of(_archived(crawl, number, shelf)), media_type="text/plain; charset=utf-8")


@router.get("/crawls/{crawl}/pages/{page}/diff", **gives(Diff))
def diff(
    request: Request, crawl: str, page: PageId, shelf: ShelfDep,
    a: Annotated[int | None, Query(ge=1, description="position of the older version in the history")] = None,
    b: Annotated[int | None, Query(ge=1, description="position of the newer version; the default is the last two versions")] = None,
    format: Literal["json", "html", "text"] = "json",
    noise: Annotated[bool, Query(description="also give changes that are not news")] = False,
) -> Response:  # fmt: skip
    """The differences between two versions of a page."""
    with shelf.reading(crawl) as (folder, store):
        id = page_named(store, page).id
        count = views.version_count(store, id)
        newer = b or count
        older = a or max(1, newer - 1)
        for place in (older, newer):
            if not 1 <= place <= count:
                raise NotFound(f"there is no version {place}: this page has {count}")
        rows = [views.versions(store, id, place, place)[0] for place in (older, newer)]
        way = views.way(store, id, older, newer)
        found = difference(folder, store, (rows[0], rows[1]), way, places=format != "json", noise=noise)
    titles = [f"version {place}, {when(row.at)}" for place, row in zip((older, newer), rows, strict=True)]
    if format == "html":
        headers = {"Content-Security-Policy": _STANDALONE}
        return Response(as_html(rows[0].url, titles, found), media_type="text/html; charset=utf-8", headers=headers)
    if format == "text":
        return Response(as_text(titles, found, colour=False), media_type="text/plain; charset=utf-8")
    versions = [version_of(request, crawl, row, place) for row, place in zip(rows, (older, newer), strict=True)]
    items = [different_paragraph(each) for each in found.shown]
    levels = found.verdict.levels if found.verdict else ()
    return json_answer(Diff(rows[0].url, versions[0], versions[1], items, found.summary, found.hidden, levels))


def _archived(crawl: str, number: int, shelf: ShelfDep) -> warc.Archived:
    with shelf.reading(crawl) as (folder, store):
        row = views.version(store, number)
        if row is None or row.kinds & ChangeKind.GONE:
            raise NotFound(f"version {number} has no content")
        return warc.read(folder.warcs, row.stored)
