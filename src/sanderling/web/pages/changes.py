"""Changes, the newest first, as a page and as a feed."""

import time
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from sanderling.errors import UsageError
from sanderling.model import ChangeKind
from sanderling.presenting.versions import moment
from sanderling.repository import views
from sanderling.telling import atom
from sanderling.telling.baseline import baseline
from sanderling.web.api.inputs import ShelfDep, host_named
from sanderling.web.edits import EditList, edits_of
from sanderling.web.pages.addresses import MOST, first_part, next_part, offered_hosts
from sanderling.web.pages.over_time import changes_over_time
from sanderling.web.pages.rendering import show

router = APIRouter()

KINDS = [each.name.lower() for each in ChangeKind if each.name]
STEPS = (("", "anything"), ("0.05", "more than a little"), ("0.3", "a good part"), ("0.7", "most of it"))


class ChangesQuery(NamedTuple):
    kind: str
    since: str
    significance: str
    host: str
    all: bool
    baseline: bool

    @property
    def any(self) -> bool:
        return any(self)


def kinds_of(name: str) -> ChangeKind | None:
    return ChangeKind[name.upper()] if name in KINDS else None


@router.get("/crawls/{crawl}/changes")
def changes(
    request: Request, crawl: str, shelf: ShelfDep, kind: str = "", since: str = "", significance: str = "",
    host: str = "", all: bool = False, first: Annotated[bool, Query(alias="baseline")] = False,
    before: int | None = None,
) -> HTMLResponse:  # fmt: skip
    asked = ChangesQuery(
        kind, since.strip(), significance if significance in dict(STEPS) else "", host.strip(), all, first
    )
    wrong: dict[str, str] = {}
    after, chosen = 0.0, None
    try:
        after = moment(asked.since, time.time()) if asked.since else 0.0
    except UsageError as error:
        wrong["since"] = str(error)
    part, drawn = EditList([], None), None
    with shelf.reading(crawl) as (_, store):
        try:
            chosen = host_named(store, asked.host)
        except UsageError as error:
            wrong["host"] = str(error)
        began = baseline(store)
        if not wrong:
            part = edits_of(
                store, MOST, before, kinds=kinds_of(kind), since=after, significance=float(asked.significance or 0),
                host=chosen, everything=all, newer_than=0 if all or first else began.number,
            )  # fmt: skip
        if before is None and not asked.any:
            drawn = changes_over_time(views.news_times(store, newer_than=began.number), time.time())
        hosts = offered_hosts(store)
    filters = {
        name: value for name, value in asked._asdict().items() if value and name in ("kind", "significance", "host")
    }
    return show(
        request, "changes.html", crawl=crawl, tab="Changes", asked=asked, wrong=wrong, hosts=hosts, kind_names=KINDS,
        steps=STEPS, baseline=began.pages, rows=[(crawl, each) for each in part.items], drawn=drawn, first=first_part(request, "before"),
        next=next_part(request, "before", part.next), feed=f"/crawls/{crawl}/changes.atom" + ("?" + urlencode(filters) if filters else ""),
    )  # fmt: skip


@router.get("/crawls/{crawl}/changes.atom")
def feed(
    request: Request, crawl: str, shelf: ShelfDep, kind: str = "", significance: str = "", host: str = ""
) -> Response:
    least = float(significance) if significance in dict(STEPS) and significance else 0.0
    with shelf.reading(crawl) as (_, store):
        found = views.changes(
            store, atom.MOST_CHANGES, None, kinds_of(kind), 0.0, least, host_named(store, host),
            newer_than=baseline(store).number, login=False,
        ).rows  # fmt: skip
    title = f"Changes in {crawl}" + (f": {kind}" if kind in KINDS else "") + (f" on {host}" if host else "")
    about = f"sanderling:dashboard {crawl} {kind} {least} {host}"
    return Response(atom.feed(found, title, about, str(request.url)), media_type=atom.MEDIA_TYPE)
