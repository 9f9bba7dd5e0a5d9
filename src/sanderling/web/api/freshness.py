"""The estimated freshness of a crawl, and the freshness that each budget gives."""

import time

import anyio
from fastapi import APIRouter, Request, Response

from sanderling.errors import RunFailed
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.estimates import Estimates, Known

router = APIRouter(tags=["freshness"])

PATIENCE = 10.0


@router.get("/crawls/{crawl}/freshness", **gives(Known, 200, 202))
async def freshness(request: Request, crawl: str, shelf: ShelfDep) -> Response:
    """The last estimate. If there is none after ten seconds, the answer is 202 and empty: ask
    again."""
    estimates: Estimates = request.app.state.estimates
    folder = shelf.folder(crawl)
    deadline = time.monotonic() + PATIENCE
    while not (known := estimates.of(folder)).at and time.monotonic() < deadline:
        await anyio.sleep(0.1)
    if known.problem:
        raise RunFailed(known.problem)
    return json_answer(known) if known.estimate else json_answer(known, 202, {"Retry-After": "10"})
