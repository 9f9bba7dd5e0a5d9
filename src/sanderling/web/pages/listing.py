"""The list of all addresses that a crawl knows, in parts."""

from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.errors import UsageError
from sanderling.model import State
from sanderling.repository import views
from sanderling.repository.store import ViewStore
from sanderling.urls import SEEDABLE, identity, with_fragment
from sanderling.web.api.inputs import ShelfDep, host_named
from sanderling.web.pages.addresses import MOST, first_part, next_part, offered_hosts
from sanderling.web.pages.rendering import show

router = APIRouter()

STATES = (
    ("", "any state"), ("fetched", "fetched"), ("queued", "waiting to be visited"), ("failed", "failed"),
    ("gone", "gone"), ("excluded", "known, not followed"), ("known", "held back"),
)  # fmt: skip


SORTS = (
    ("", "as found"), ("changed", "last changed first"), ("changes", "most changes first"),
    ("visited", "last visited first"), ("size", "largest first"), ("address", "address"),
)  # fmt: skip


class ListingQuery(NamedTuple):
    state: str
    host: str
    prefix: str
    sort: str

    @property
    def any(self) -> bool:
        return any(self)


@router.get("/crawls/{crawl}/pages")
def pages(
    request: Request, crawl: str, shelf: ShelfDep, state: str = "", host: str = "", prefix: str = "", sort: str = "",
    after: int = 0,
) -> HTMLResponse:  # fmt: skip
    asked = ListingQuery(state, host.strip(), prefix.strip(), sort if sort in views.ORDERS else "")
    trouble, part = "", views.ListPart([], None)
    with shelf.reading(crawl) as (_, store):
        try:
            wanted = State[state.upper()] if state in dict(STATES) and state else None
            filters = wanted, host_named(store, asked.host), asked.prefix
            if asked.sort and store.counts().known <= views.STRETCH:
                part = views.sorted_urls(store, MOST, max(0, after), asked.sort, *filters)
            elif asked.sort:
                trouble = f"Only crawls of up to {views.STRETCH:,} addresses are sorted. Filter the list instead."
            else:
                part = views.urls(store, MOST, after, *filters)
        except UsageError as error:
            trouble = str(error)
        counts, hosts = store.counts(), offered_hosts(store)
        exact = _exactly(store, asked.prefix) if not after else None
    return show(
        request, "pages.html", crawl=crawl, tab="Pages", rows=part.rows, counts=counts, hosts=hosts, asked=asked, wrong={},
        states=STATES, sorts=SORTS, trouble=trouble, exact=exact, looked=part.next or 0, next=next_part(request, "after", part.next), first=first_part(request, "after"),
    )  # fmt: skip


def _exactly(store: ViewStore, typed: str) -> views.Shown | None:
    """The page with exactly this address, found without a search."""
    url = with_fragment(typed if "://" in typed else f"https://{typed}", SEEDABLE) if typed else None
    return views.url(store, identity(url)) if url else None
