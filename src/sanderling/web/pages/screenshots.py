"""The screenshots of versions, and where two of them differ."""

from fastapi import APIRouter, Response

from sanderling.model import ChangeKind, VersionRow
from sanderling.repository import views
from sanderling.repository.folder import Folder
from sanderling.repository.screenshots import has_screenshot, screenshot_of
from sanderling.web.api.inputs import Number, ShelfDep
from sanderling.web.problems import Conflict, NotFound
from sanderling.web.shelf import Shelf

router = APIRouter()

_SAFE = {"Content-Security-Policy": "sandbox; default-src 'none'", "Content-Disposition": "inline"}


def is_shown(folder: Folder, version: VersionRow) -> bool:
    """Whether a version has a screenshot."""
    return not version.kinds & ChangeKind.GONE and has_screenshot(folder.warcs, version.stored)


@router.get("/crawls/{crawl}/screenshots/{number}")
def screenshot(crawl: str, number: Number, shelf: ShelfDep) -> Response:
    return _picture(_read(crawl, number, shelf))


@router.get("/crawls/{crawl}/screenshots/{older}/difference/{newer}")
def difference(crawl: str, older: Number, newer: Number, shelf: ShelfDep) -> Response:
    from sanderling.presenting.visual_difference import Busy, visual_difference

    try:
        return _picture(visual_difference(_read(crawl, older, shelf), _read(crawl, newer, shelf)))
    except Busy:
        raise Conflict("other screenshots are being compared: try again") from None


def _read(crawl: str, number: int, shelf: Shelf) -> bytes:
    with shelf.reading(crawl) as (folder, store):
        row = views.version(store, number)
        found = screenshot_of(folder.warcs, row.stored) if row is not None and is_shown(folder, row) else b""
    if not found:
        raise NotFound(f"version {number} has no screenshot")
    return found


def _picture(data: bytes) -> Response:
    return Response(data, media_type="image/webp", headers=_SAFE)
