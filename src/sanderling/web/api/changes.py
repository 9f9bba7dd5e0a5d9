"""Changes: pages that are new, changed or gone, the newest first, as a list or as a feed."""

import time
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from msgspec import Struct

from sanderling.model import ChangeKind
from sanderling.presenting.versions import moment
from sanderling.repository import views
from sanderling.telling import atom
from sanderling.telling.baseline import baseline
from sanderling.telling.selection import kinds_named
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import After, Limit, ShelfDep, host_named
from sanderling.web.api.versions import Version, version_of
from sanderling.web.problems import NotFound

router = APIRouter(tags=["changes"])
feeds = APIRouter(include_in_schema=False)

_KIND = "^(" + "|".join(each.name.lower() for each in ChangeKind if each.name) + ")$"
Kinds = Annotated[list[Annotated[str, Query(pattern=_KIND)]], Query(description="only of these kinds")]
Since = Annotated[str, Query(description="since then: 2026-11-01, '2026-11-01 12:00', 3h, 7d", max_length=40)]


class ChangeList(Struct, frozen=True):
    """Changes, the newest first. A part that is not the last may have few items or none."""

    items: list[Version]
    next: int | None


@router.get("/crawls/{crawl}/changes", **gives(ChangeList))
def list_changes(
    request: Request, crawl: str, shelf: ShelfDep, limit: Limit = 100, after: After = None, since: Since = "",
    kind: Kinds = [],  # noqa: B006  (FastAPI copies it)
    min_significance: Annotated[float, Query(ge=0, le=1)] = 0.0, host: str = "",
    everything: Annotated[bool, Query(alias="all", description="also changes that are not news, and the first crawl")] = False,
    first: Annotated[bool, Query(alias="baseline", description="also the pages that the first crawl found")] = False,
) -> Response:  # fmt: skip
    """What changed, the newest first."""
    start = moment(since, time.time()) if since else 0.0
    with shelf.reading(crawl) as (_, store):
        part = views.changes(
            store, limit, after, kinds_named(kind), start, min_significance, host_named(store, host), everything,
            0 if everything or first else baseline(store).number,
        )  # fmt: skip
    return json_answer(ChangeList([version_of(request, crawl, row) for row in part.rows], part.next))


@router.get("/crawls/{crawl}/feed.atom", response_class=Response, responses={200: {"content": {atom.MEDIA_TYPE: {}}}})
def feed(request: Request, crawl: str, shelf: ShelfDep, host: str = "", kind: Kinds = []) -> Response:  # noqa: B006
    """The newest changes as an Atom feed."""
    with shelf.reading(crawl) as (_, store):
        found = views.changes(
            store, atom.MOST_CHANGES, None, kinds_named(kind), host=host_named(store, host),
            newer_than=baseline(store).number, login=False,
        ).rows  # fmt: skip
    title = f"Changes in {crawl}" + (f" on {host}" if host else "")
    about = f"sanderling:feed {crawl} {host} {','.join(sorted(kind))}"
    return Response(atom.feed(found, title, about, str(request.url)), media_type=atom.MEDIA_TYPE)


@feeds.get("/feed.atom")
def only_feed(request: Request, shelf: ShelfDep, crawl: str = "", host: str = "", kind: Kinds = []) -> Response:  # noqa: B006
    """The feed of one crawl. If there is only one crawl, its name is not needed."""
    names = list(shelf.folders())
    if not crawl and len(names) != 1:
        raise NotFound(f"name a crawl: /feed.atom?crawl=ID, one of {', '.join(names[:20]) or 'none'}")
    return feed(request, crawl or names[0], shelf, host, kind)
