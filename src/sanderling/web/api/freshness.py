"""How fresh a crawl is believed to be, and what a budget of visits buys."""

import time

import anyio
from fastapi import APIRouter, Request, Response

from sanderling.errors import RunFailed
from sanderling.web.api.answers import gives, said
from sanderling.web.api.given import GivenShelf
from sanderling.web.estimates import Estimates, Known

router = APIRouter(tags=["freshness"])

PATIENCE = 10.0


@router.get("/crawls/{crawl}/freshness", **gives(Known))
async def freshness(request: Request, crawl: str, shelf: GivenShelf) -> Response:
    """The last estimate; without one yet after ten seconds, 202 and an empty one: ask again."""
    estimates: Estimates = request.app.state.estimates
    folder = shelf.folder(crawl)
    deadline = time.monotonic() + PATIENCE
    while not (known := estimates.of(folder)).at and time.monotonic() < deadline:
        await anyio.sleep(0.1)
    if known.problem:
        raise RunFailed(known.problem)
    return said(known) if known.estimate else said(known, 202, {"Retry-After": "10"})
