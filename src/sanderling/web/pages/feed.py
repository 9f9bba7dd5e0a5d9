"""What changed as a feed, for readers of feeds."""

from fastapi import APIRouter, Request, Response

from sanderling.repository import views
from sanderling.telling import atom
from sanderling.web.api.given import GivenShelf, host_named
from sanderling.web.pages.changes import KINDS, STEPS, kinds_of

router = APIRouter()


@router.get("/crawls/{crawl}/changes.atom")
def changes(
    request: Request, crawl: str, shelf: GivenShelf, kind: str = "", significance: str = "", host: str = ""
) -> Response:
    least = float(significance) if significance in dict(STEPS) and significance else 0.0
    with shelf.reading(crawl) as (_, store):
        found = views.changes(store, atom.MOST_ENTRIES, None, kinds_of(kind), 0.0, least, host_named(store, host)).rows
    title = f"Changes in {crawl}" + (f": {kind}" if kind in KINDS else "") + (f" on {host}" if host else "")
    about = f"sanderling:dashboard {crawl} {kind} {least} {host}"
    return Response(atom.feed(found, title, about, str(request.url)), media_type=atom.MEDIA_TYPE)
