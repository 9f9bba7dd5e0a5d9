"""Server-sent events of a crawl.

`live` is the state of a running crawl, once a second. `idle` says that it is not running. `change`
is a version that some process has just committed, unless the first crawl found it. A reader that
returns with `Last-Event-ID` receives the changes that it missed.
"""

import contextlib
import time
from collections.abc import AsyncIterator
from typing import Annotated

import anyio
import msgspec
from fastapi import APIRouter, Header, HTTPException, Query, Request
from fastapi.responses import StreamingResponse

from sanderling.errors import RunFailed, SanderlingError
from sanderling.model import Live, VersionRow
from sanderling.repository.store import ChangeStore
from sanderling.server.requests import remote
from sanderling.telling.baseline import baseline
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.api.versions import version_of
from sanderling.web.shelf import Shelf

router = APIRouter(tags=["live"])

PAUSE = 1.0
BATCH = 100
# After this many seconds without an event a comment is sent, so that proxies do not close the
# connection.
LONGEST_SILENCE = 15.0
MOST_READERS = 100
THREADS = 4


class Listeners:
    """The number of readers, and their threads. Each reader reads the store once a second.

    They have threads of their own, so that pages do not wait for them.
    """

    def __init__(self) -> None:
        self.count = 0
        self.threads = anyio.CapacityLimiter(THREADS)


@router.get("/crawls/{crawl}/events", response_class=StreamingResponse)
async def events(
    request: Request, crawl: str, shelf: ShelfDep,
    last_event_id: Annotated[int | None, Header(ge=0)] = None,
    first: Annotated[bool, Query(alias="baseline", description="also the pages that the first crawl finds")] = False,
) -> StreamingResponse:  # fmt: skip
    """Server-sent events: `live`, `idle` and `change`."""
    if request.app.state.listeners.count >= MOST_READERS:
        raise HTTPException(503, f"there are already {MOST_READERS} readers", {"Retry-After": "10"})
    start = last_event_id
    if start is None:
        start = await anyio.to_thread.run_sync(_newest, shelf, crawl)
    return StreamingResponse(_stream(request, shelf, crawl, start, first), media_type="text/event-stream")


async def _stream(request: Request, shelf: Shelf, crawl: str, number: int, first: bool) -> AsyncIterator[bytes]:
    listeners: Listeners = request.app.state.listeners
    listeners.count += 1
    try:
        spoke, idle = 0.0, False
        while not getattr(request.app.state, "closing", False) and not await request.is_disconnected():
            try:
                live, found = await anyio.to_thread.run_sync(
                    _look, shelf, crawl, number, first, limiter=listeners.threads
                )
            except (SanderlingError, OSError):  # the folder or its database is gone; the reader will reconnect
                return
            news = [_event("change", version_of(request, crawl, row), row.number) for row in found]
            number = found[-1].number if found else number
            if live is not None:
                news.append(_event("live", live))
            elif not idle:
                news.append(_event("idle", {"crawl": crawl}))
            elif time.monotonic() - spoke > LONGEST_SILENCE:
                news.append(b": still here\n\n")
            if news:
                # At once: between two writes, nobody notices that the reader has left.
                yield b"".join(news)
                idle, spoke = live is None, time.monotonic()
            if len(found) < BATCH:
                await anyio.sleep(PAUSE)
    finally:
        listeners.count -= 1


def _newest(shelf: Shelf, crawl: str) -> int:
    with shelf.reading(crawl) as (_, store):
        return store.newest_version()


def _look(shelf: Shelf, crawl: str, number: int, first: bool) -> tuple[Live | None, list[VersionRow]]:
    with shelf.reading(crawl) as (folder, store):
        found = _after(store, number if first else max(number, baseline(store).number))
    live = None
    with contextlib.suppress(remote.NotRunning, RunFailed):
        live = remote.look(folder.path, patience=1.0)
    return live, found


def _after(store: ChangeStore, number: int) -> list[VersionRow]:
    return store.changes_after(number, BATCH)


def _event(name: str, value: object, id: int | None = None) -> bytes:
    head = f"event: {name}\n" + (f"id: {id}\n" if id is not None else "")
    return head.encode() + b"data: " + msgspec.json.encode(value) + b"\n\n"
