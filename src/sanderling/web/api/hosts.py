"""Hosts: how the crawler treats them, and what it has learned about their pages."""

import contextlib
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from msgspec import Struct

from sanderling.errors import RunFailed
from sanderling.model import Host, HostState, rendering
from sanderling.model.reasons import sentence
from sanderling.repository import views
from sanderling.server.gate.host_memory import learned, mirror_of
from sanderling.server.requests import remote
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import Limit, ShelfDep, host_named
from sanderling.web.problems import NotFound

router = APIRouter(tags=["hosts"])


# Hosts are in the order of their identities, which are 64-bit hashes.
After = Annotated[int | None, Query(ge=-(1 << 63), lt=1 << 63, description="`next` of the part before this one")]


class RenderingItem(Struct, frozen=True, kw_only=True):
    """What is done with the pages of a URL pattern that scripts may make, and why."""

    pattern: str
    verdict: str
    samples: int
    pages: int
    why: str


class HostItem(Struct, frozen=True, kw_only=True):
    """A host. `live` is set only while the host is being visited."""

    origin: str
    robots: str
    robots_at: float
    interval: float
    not_before: float
    ignored_parameters: dict[str, Any]
    same_as: str | None
    mirror_of: str | None
    traps: list[str]
    soft_404: bool
    rendering: list[RenderingItem]
    live: HostState | None = None


class HostList(Struct, frozen=True):
    """Hosts, in an arbitrary but stable order."""

    items: list[HostItem]
    next: int | None


@router.get("/crawls/{crawl}/hosts", **gives(HostList))
def list_hosts(crawl: str, shelf: ShelfDep, limit: Limit = 100, after: After = None, origin: str = "") -> Response:
    """Hosts of a crawl, or the one with an `origin`."""
    active: dict[str, HostState] = {}
    with contextlib.suppress(remote.NotRunning, RunFailed):
        active = {each.origin: each for each in remote.look(shelf.folder(crawl).path, patience=1.0).active}
    with shelf.reading(crawl) as (_, store):
        if origin:
            id = host_named(store, origin)
            found = store.host(id) if id is not None else None
            if found is None:
                raise NotFound(f"this crawl has no host {origin!r}")
            return json_answer(HostList([_item(found, active)], None))
        part = views.hosts(store, limit, after)
    return json_answer(HostList([_item(host, active) for host in part.rows], part.next))


def _item(host: Host, active: dict[str, HostState]) -> HostItem:
    known = learned(host)
    return HostItem(
        origin=host.origin, robots=sentence(host.robots.reason) if host.robots else "",
        robots_at=host.robots.at if host.robots else 0.0, interval=host.interval, not_before=host.not_before,
        ignored_parameters=known.names.ignored, same_as=known.names.twin or None,
        mirror_of=mirror_of(known) or None,
        traps=[each.text for each in known.traps.patterns if each.closed], soft_404=bool(known.traps.soft),
        rendering=[
            RenderingItem(pattern=r.pattern, verdict=r.verdict.name.lower(), samples=r.samples, pages=r.pages, why=r.why)
            for r in rendering.sampled_patterns(host.rendering)
        ],
        live=active.get(host.origin),
    )  # fmt: skip
