"""Search in the texts of a crawl's pages."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.web.api.given import GivenShelf
from sanderling.web.pages.rendering import show

router = APIRouter()


@router.get("/crawls/{crawl}/search")
def search(request: Request, crawl: str, shelf: GivenShelf, q: str = "") -> HTMLResponse:
    shelf.folder(crawl)
    return show(
        request, "search.html", crawl=crawl, tab="Search", q=q.strip(), hits=[], trouble="",
        missing="Search is not part of this version yet.",
    )  # fmt: skip
