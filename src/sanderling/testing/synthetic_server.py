"""The server of a synthetic web: one thread, one event loop, and one small protocol object for each
connection.

The same port answers direct requests and requests of clients that use it as a proxy. Through the
proxy, thousands of host names work without DNS.
"""

import asyncio
import math
import time
from collections import Counter
from types import TracebackType
from typing import NamedTuple, Self

from sanderling.testing.answers import Answers, WebRequest
from sanderling.testing.background import BackgroundLoop
from sanderling.testing.clock import Clock
from sanderling.testing.synthetic import SyntheticWeb

MOST_HEAD = 64 * 1024


class ServedRequest(NamedTuple):
    """One entry of the access log. `at` is real time, from `time.monotonic`."""

    at: float
    url: str
    status: int


class ServedWeb:
    """A running server: the value of `with web.serve() as site`.

    url                the front page (of host 0) for a client that connects directly proxy
    the address to use as proxy; then the URLs are those of `web`, such as `http://host7.test/`
    seeds              front pages by host name, for use with the proxy web, direct        the
    description, with the URLs seen through the proxy and with those seen directly clock
    the web's time: `clock.now = t`, `clock.advance(seconds)` requests           how often each page
    URL was requested, whatever the answer robots_requests, other_requests   the same for
    robots.txt, and for images and sitemaps in_flight, peak_in_flight, peak_by_host   requests
    without an answer, now and at most visits             the access log, if started with
    `record=True` latency            seconds until an answer; may be changed while the server runs
    hold(after=N)      answers N more page requests and delays the others until the next `hold` or
    `release` held               how many requests are delayed go_away(), come_back()   refuses
    connections, then accepts them again on the same port
    """

    def __init__(
        self,
        web: SyntheticWeb,
        *,
        port: int = 0,
        address: str = "127.0.0.1",
        name: str = "",
        robots: str = "",
        robots_status: int = 200,
        validators: bool = True,
        speed: float = 0.0,
        record: bool = False,
        application: bool = False,
    ) -> None:
        self.web = web
        self.latency = web.latency
        self.clock = Clock(speed)
        self.requests: Counter[str] = Counter()
        self.robots_requests: Counter[str] = Counter()
        self.other_requests: Counter[str] = Counter()
        self.visits: list[ServedRequest] = []
        self.in_flight = 0
        self.peak_in_flight = 0
        self.peak_by_host: Counter[str] = Counter()
        self._waiting_by_host: Counter[str] = Counter()
        self._record = record
        self._listen_on = (address, port)
        self._name = name
        self._options = (robots, robots_status, validators, application)
        self.connections: set[SiteConnection] = set()
        self._passes = math.inf
        self._held: dict[SiteConnection, WebRequest] = {}

    def __enter__(self) -> Self:
        self._background = BackgroundLoop("synthetic-web")
        try:
            self._server = self._background.run(self._listen())
        except BaseException:
            self._background.stop()
            raise
        host, port = self._listen_on = self._server.sockets[0].getsockname()[:2]
        self.proxy = f"http://{self._name or host}:{port}"
        self.answers = Answers(self.web, self.proxy, *self._options)
        self.direct = self.answers.direct
        self.url = self.direct.seeds[0]
        self.seeds = self.web.seeds
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._background.run(self._close())
        self._background.stop()

    def go_away(self) -> None:
        """Breaks all connections and refuses new ones, like a server that restarts."""
        self._background.run(self._close())

    def come_back(self) -> None:
        """Listens again on the same port."""
        self._server = self._background.run(self._listen())

    def hold(self, after: int = 0) -> None:
        """Answers only `after` more page requests. So a test knows exactly how far a client is."""
        self._background.run(self._let_pass(after))

    def release(self) -> None:
        self._background.run(self._let_pass(math.inf))

    @property
    def held(self) -> int:
        return len(self._held)

    async def _let_pass(self, count: float) -> None:
        self._passes = count
        while self._held and self._passes > 0:
            connection = next(iter(self._held))
            self._passes -= 1
            connection.respond(self._held.pop(connection))
            connection.take_requests()

    async def _listen(self) -> asyncio.Server:
        address, port = self._listen_on
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: SiteConnection(self), address, port, backlog=4096)

    async def _close(self) -> None:
        self._server.close()
        for connection in list(self.connections):
            connection.abort()
        await self._server.wait_closed()

    def count(self, request: WebRequest) -> None:
        match request.kind:
            case "page":
                self.requests[request.url] += 1
            case "robots":
                self.robots_requests[request.url] += 1
            case _:
                self.other_requests[request.url] += 1
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        waiting = self._waiting_by_host[request.host] = self._waiting_by_host[request.host] + 1
        if waiting > self.peak_by_host[request.host]:
            self.peak_by_host[request.host] = waiting

    def passes(self, connection: "SiteConnection", request: WebRequest) -> bool:
        """Whether a request may be answered now. If not, it is answered after `hold` or
        `release`."""
        if request.kind != "page":
            return True
        if self._passes <= 0:
            self._held[connection] = request
            return False
        self._passes -= 1
        return True

    def forget(self, connection: "SiteConnection") -> None:
        self.connections.discard(connection)
        self._held.pop(connection, None)

    def settle(self, request: WebRequest, status: int) -> None:
        self.in_flight -= 1
        self._waiting_by_host[request.host] -= 1
        if self._record:
            self.visits.append(ServedRequest(time.monotonic(), request.url, status))


class SiteConnection(asyncio.Protocol):
    """Answers the requests of one connection one after the other. Early requests wait in the
    buffer."""

    def __init__(self, site: ServedWeb) -> None:
        self.site = site
        self.buffer = b""
        self.timer: asyncio.TimerHandle | None = None
        self.unanswered: WebRequest | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.site.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.site.forget(self)
        if self.timer:
            self.timer.cancel()
        if self.unanswered:
            self.site.settle(self.unanswered, 0)
            self.unanswered = None

    def abort(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self.take_requests()

    def take_requests(self) -> None:
        while not self.unanswered and not self.transport.is_closing():
            head, end, rest = self.buffer.partition(b"\r\n\r\n")
            if not end:
                if len(head) > MOST_HEAD:
                    self.abort()
                return
            self.buffer = rest
            self.unanswered = request = self.site.answers.read(head)
            self.site.count(request)
            if self.site.passes(self, request):
                self.respond(request)

    def respond(self, request: WebRequest) -> None:
        if self.site.latency:
            self.timer = asyncio.get_running_loop().call_later(self.site.latency, self.answer_late, request)
        else:
            self.answer(request)

    def answer_late(self, request: WebRequest) -> None:
        self.timer = None
        self.answer(request)
        self.take_requests()

    def answer(self, request: WebRequest) -> None:
        self.unanswered = None
        status, reply = self.site.answers.answer(request, self.site.clock.now)
        self.site.settle(request, status)
        self.transport.write(reply)
        if request.close:
            self.transport.close()
