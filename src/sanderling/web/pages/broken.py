"""The broken links of a crawl, as a page and as a feed of what broke."""

import time

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from sanderling.presenting.broken import BrokenLink
from sanderling.telling import atom
from sanderling.urls import identity
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.broken_links import BrokenLists
from sanderling.web.pages.rendering import show

router = APIRouter()

KINDS = {"": "all", "broken": "broken", "fragment": "to a part that is not there", "redirect": "moved for good"}
_MOST = 200
# A feed reader waits this long for a list that is being made.
_FEED_SECONDS = 20.0


@router.get("/crawls/{crawl}/broken")
def broken(request: Request, crawl: str, shelf: ShelfDep, kind: str = "") -> HTMLResponse:
    found = _lists(request).of(shelf.folder(crawl))
    links = found.links or []
    shown = [each for each in links if not kind or each.kind == kind]
    return show(
        request, "broken.html", crawl=crawl, tab="Broken links", found=found, shown=shown[:_MOST], kinds=KINDS,
        kind=kind, total=len(shown), counts={name: sum(each.kind == name for each in links) for name in KINDS},
        id_of=identity, feed=f"/crawls/{crawl}/broken.atom",
    )  # fmt: skip


@router.post("/crawls/{crawl}/broken")
def ask(request: Request, crawl: str, shelf: ShelfDep) -> Response:
    """Also asks the links that lead out of the crawl."""
    _lists(request).of(shelf.folder(crawl), external=True)
    return RedirectResponse(f"/crawls/{crawl}/broken", 303)


@router.get("/crawls/{crawl}/broken.atom")
def feed(request: Request, crawl: str, shelf: ShelfDep) -> Response:
    found = _lists(request).wait(shelf.folder(crawl), _FEED_SECONDS).links or []
    entries = [_entry(each) for each in found if each.kind != "redirect"][: atom.MOST_ENTRIES]
    made = atom.feed_of(entries, f"Broken links of {crawl}", f"sanderling:broken {crawl}", str(request.url))
    return Response(made, media_type=atom.MEDIA_TYPE)


def _entry(link: BrokenLink) -> atom.FeedEntry:
    listed = "\n".join(f"{each.url} “{each.words}”" for each in link.links[:20])
    title = f"{link.url} ({link.status or link.reason})"
    return atom.FeedEntry(
        f"broken {link.key} {link.since!r}", title, link.since or time.time(), link.url, f"{link.reason}; on:\n{listed}"
    )


def _lists(request: Request) -> BrokenLists:
    lists: BrokenLists = request.app.state.broken_lists
    return lists
