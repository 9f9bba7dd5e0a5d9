"""One page while it is rendered: what it is made from, what it asked for, and what it may still ask
for."""

import time
from collections.abc import Callable
from typing import Self

from sanderling.browser.sources import PageSource
from sanderling.client.fetcher import Request, Response
from sanderling.urls import document_of, is_state, origin

# What one page may ask for. The largest application we know asks for 400 files.
MOST_REQUESTS = 1_000
MOST_REQUESTS_OF_EVENTS = 10_000
MOST_BYTES = 128 << 20
MOST_FRAMES = 30
MOST_LEADS, MOST_LEADS_OF_EVENTS = 20, 500
# A page may load itself again, which some do to set a cookie. Then it is left as it is.
MOST_RELOADS = 2


class PageLoad:
    """The state of one load. Whoever answers requests counts them here; whoever waits is called
    when something changes."""

    def __init__(self, request: Request, response: Response) -> None:
        self._request = request
        self.address = document_of(request.url) if is_state(request.url) else request.url
        self.url = document_of(request.url)
        self.named = request.url  # with the fragment, which may name a state
        self.origin = origin(request.url)
        self.trusted, self.private = request.trusted, request.private
        self.hints = request.events
        self.document = response
        self.frame = ""  # the id of its main frame
        self.loads = 0  # how often its document was asked for
        self.loaded_at = 0.0  # 0 until it has loaded
        self.frames = 0
        self.foreign: set[str] = set()  # frames that showed something of another origin
        self.origins: dict[tuple[str, str], str] = {}  # of frames, by their ids and those of their documents
        self.requests = 0
        self.fetched = 0  # requests that went to the network
        self.bytes = 0
        self.in_flight = 0
        self.active_at = time.monotonic()  # when something was last answered
        self.free_at = self.active_at  # when it last waited for nothing
        self.sources: dict[str, PageSource] = {}
        self.repeatable = True  # all that it is made from can be asked for again
        self.leads: list[str] = []  # where its scripts want to go
        self.exploring = False
        self.silent = False  # it gets scripts and styles only: what it does leaves the browser no more
        self.refused: dict[str, str] = {}  # what it did not get, and why
        self.on_change: Callable[[], None] | None = None

    def spent(self, is_frame: bool) -> bool:
        """Counts a request. Whether the page has asked for too much."""
        self.requests += 1
        self.frames += is_frame
        most = MOST_REQUESTS_OF_EVENTS if self.exploring else MOST_REQUESTS
        return self.requests > most or self.bytes > MOST_BYTES or self.frames > MOST_FRAMES

    def again(self, address: str = "") -> Self:
        """The same document for one more load, perhaps with another fragment."""
        load = type(self)(self._request, self.document)
        load.address = address or self.address
        load.leads = self.leads
        return load

    def explore(self) -> None:
        """From now on events are triggered, which may ask for more, but must not change anything on
        the server."""
        self.exploring = True

    def silence(self) -> None:
        """From now on nothing that the page does leaves the browser."""
        self.silent = True

    def event(self) -> None:
        """Something is triggered: what the page asks for now is waited for as after a load."""
        self.loaded_at = time.monotonic()
        self.changed()

    def made_of(self, source: PageSource | None) -> None:
        if source is not None:
            self.sources[source.url] = source

    def finish(self) -> None:
        """It has loaded, or never will."""
        self.loaded_at = self.loaded_at or time.monotonic()
        self.changed()

    def changed(self) -> None:
        self.active_at = time.monotonic()
        if not self.in_flight:
            self.free_at = self.active_at
        if self.on_change is not None:
            self.on_change()

    def refuse(self, url: str, why: str) -> None:
        if len(self.refused) < MOST_REQUESTS:
            self.refused[url] = why

    def lead(self, url: str) -> None:
        if len(self.leads) < (MOST_LEADS_OF_EVENTS if self.exploring else MOST_LEADS) and url not in self.leads:
            self.leads.append(url)
