"""How fresh a crawl's pages are, and what a budget buys."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.web.api.given import GivenShelf
from sanderling.web.pages.rendering import show

router = APIRouter()


@router.get("/crawls/{crawl}/freshness")
def freshness(request: Request, crawl: str, shelf: GivenShelf) -> HTMLResponse:
    shelf.folder(crawl)
    return show(
        request, "freshness.html", crawl=crawl, tab="Freshness",
        missing="Estimates of how fresh the pages are, and plans for a budget, are not part of this version yet.",
    )  # fmt: skip
