"""`/indexnow`: a site names its pages that changed, by the protocol of indexnow.org."""

import time
from collections import defaultdict
from typing import Any

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, Field

from sanderling import clock
from sanderling.model import NamedPage, Told
from sanderling.urls import canonical, identity, origin
from sanderling.web.receiving.crawls import HostIndex, pass_on
from sanderling.web.receiving.keys import KeyFile, Keys, covers, place_of
from sanderling.web.receiving.rates import Buckets

router = APIRouter(include_in_schema=False)

# What the protocol allows in one message.
MOST_URLS = 10_000
# Seconds in which the key is looked for, and after which a message is refused.
PATIENCE, REFUSED_AFTER = 2.5, 3.0
REFUSAL = "no crawl of this server takes this message: it does not know the host, or the key was not found there"


class IndexNowMessage(BaseModel):
    host: str = Field(max_length=300)
    key: str = Field(max_length=200)
    keyLocation: str = Field("", max_length=2000)
    urlList: list[str] = Field(min_length=1, max_length=MOST_URLS)


class Receiver:
    """What a server remembers between messages."""

    def __init__(self, hosts: HostIndex, agent: str) -> None:
        self.hosts = hosts
        self.keys = Keys(agent)
        self.messages = Buckets(120, 2.0)
        self.urls = Buckets(100_000, 100.0)


@router.post("/indexnow", response_model=None)
async def receive(message: IndexNowMessage, request: Request) -> Response:
    """Pages of one host were added, changed or removed. The key file of the host proves who says
    so."""
    return await _answer(request.app.state.indexnow, message)


@router.get("/indexnow", response_model=None)
async def receive_one(request: Request, url: str, key: str, keyLocation: str = "") -> Response:
    """One page was added, changed or removed."""
    home = origin(canonical(url) or "")
    return await _answer(
        request.app.state.indexnow,
        IndexNowMessage(host=home.partition("://")[2], key=key[:200], keyLocation=keyLocation[:2000], urlList=[url]),
    )


async def _answer(receiver: Receiver | None, message: IndexNowMessage) -> Response:
    """All refusals that depend on what this server knows are the same answer after the same time.
    So nobody learns which hosts it crawls."""
    if receiver is None:
        raise HTTPException(404, "this server takes no IndexNow messages")
    began = anyio.current_time()
    response = await run_sync(_receive, receiver, message)
    if response is None:
        await anyio.sleep_until(began + REFUSED_AFTER)
        raise HTTPException(403, REFUSAL)
    return response


def _receive(receiver: Receiver, message: IndexNowMessage) -> Response | None:
    """Passes a message on; None if it is refused."""
    homes = _by_origin(message)
    places = {home: place_of(message.key, message.keyLocation, home) for home in homes}
    for home, place in places.items():
        if not all(covers(place, page.url) for page in homes[home]):
            raise HTTPException(422, f"the key file {place} does not speak for all of these URLs")
    known = {home: crawls for home in homes if (crawls := receiver.hosts.of(home))}
    if not known:
        return None
    deadline = time.monotonic() + PATIENCE
    for home, crawls in known.items():
        # Crawls of one host may have named it at different addresses: each alone decides.
        files = [KeyFile(message.key, places[home], reach) for reach in dict.fromkeys(each.reach for each in crawls)]
        if not any(receiver.keys.is_valid(file, deadline) for file in files):
            return None
    waits = (receiver.messages.take(message.host), receiver.urls.take(message.host, len(message.urlList)))
    if wait := max(waits):
        raise HTTPException(429, f"too much from {message.host}", {"Retry-After": str(int(wait) + 1)})
    running = [
        pass_on(each.folder, Told("indexnow", home, homes[home])) for home, crawls in known.items() for each in crawls
    ]
    return Response(status_code=200 if all(running) else 202)


def _by_origin(message: IndexNowMessage) -> dict[str, list[NamedPage]]:
    """The pages of a message by origin; raises an HTTPException when one is of another host."""
    now = clock.now()
    host = message.host.lower()
    homes: dict[str, list[Any]] = defaultdict(list)
    for text in message.urlList:
        url = canonical(text)
        home = origin(url) if url else ""
        if url is None or home.partition("://")[2] != host:
            raise HTTPException(422, f"{text[:200]!r} is no URL of {message.host}")
        homes[home].append(NamedPage(identity(url), url, "changed", now))
    return homes
