"""Every address a crawl knows, a few at a time."""

from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sanderling.errors import UsageError
from sanderling.model import State
from sanderling.repository import views
from sanderling.urls import SEEDABLE, canonical, identity
from sanderling.web.api.given import GivenShelf, host_named, named
from sanderling.web.pages.asking import MOST, further, offered_hosts, start
from sanderling.web.pages.rendering import show

router = APIRouter()

STATES = (
    ("", "any state"), ("fetched", "fetched"), ("queued", "waiting to be visited"), ("failed", "failed"),
    ("gone", "gone"), ("excluded", "known, not followed"), ("known", "held back"),
)  # fmt: skip


class Asked(NamedTuple):
    state: str
    host: str
    prefix: str

    @property
    def any(self) -> bool:
        return any(self)


@router.get("/crawls/{crawl}/pages")
def pages(
    request: Request, crawl: str, shelf: GivenShelf, state: str = "", host: str = "", prefix: str = "", after: int = 0
) -> HTMLResponse:
    asked = Asked(state, host.strip(), prefix.strip())
    trouble, part = "", views.Part([], None)
    with shelf.reading(crawl) as (_, store):
        try:
            wanted = State[state.upper()] if state in dict(STATES) and state else None
            part = views.urls(store, MOST, after, wanted, host_named(asked.host), asked.prefix)
        except UsageError as error:
            trouble = str(error)
        counts, hosts = store.counts(), offered_hosts(store)
    return show(
        request, "pages.html", crawl=crawl, tab="Pages", rows=part.rows, counts=counts, hosts=hosts, asked=asked, wrong={},
        states=STATES, trouble=trouble, next=further(request, "after", part.next), first=start(request, "after"),
    )  # fmt: skip


@router.get("/crawls/{crawl}/find")
def find(crawl: str, shelf: GivenShelf, url: str = "") -> Response:
    """From a whole address to its page."""
    wanted = canonical(url.strip() if "://" in url else f"https://{url.strip()}", SEEDABLE)
    with shelf.reading(crawl) as (_, store):
        known = wanted is not None and views.url(store, identity(wanted)) is not None
    if known and wanted is not None:
        return RedirectResponse(f"/crawls/{crawl}/pages/{named(identity(wanted))}", 303)
    raise UsageError(f"{url.strip() or 'nothing'} is not an address that this crawl knows")
