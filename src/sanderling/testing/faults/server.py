"""The fault server: two ports, a list of all faults, and a record of all requests."""

import asyncio
from collections import Counter
from html import escape
from types import TracebackType
from typing import ClassVar, NamedTuple, Self

from sanderling.testing.background import BackgroundLoop
from sanderling.testing.faults import (  # noqa: F401 - importing them fills the directory
    charsets,
    connections,
    contents,
    encodings,
    links,
    markup,
    memory,
    redirects,
    robots,
    statuses,
    traps,
)
from sanderling.testing.faults.exchange import FAULTS, FaultExchange, document, find
from sanderling.testing.faults.private import private_urls


class Received(NamedTuple):
    """A request to the other port. Header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]


class FaultServer:
    """A server in which every fault is a named URL: `with FaultServer() as faults:
    fetch(faults.url("reset"))`.

    names      what each fault does; capitals in a name are parameters, as in `status/NNN` robots
    how /robots.txt behaves: one of `FaultServer.robots_behaviours`, or its text pace       seconds
    between the bytes of the slow faults requests   how often each path was asked for, robots.txt
    included received   what arrived at the other port, where the redirects to private addresses and
    other origins lead private    the private URLs the server tries to lead to, by kind
    """

    names: ClassVar[dict[str, str]] = {fault.name: fault.sentence for fault in FAULTS.values()}
    robots_behaviours: ClassVar[dict[str, str]] = robots.BEHAVIOURS

    def __init__(self, robots: str = "allow", *, pace: float = 1.0) -> None:
        self.robots = robots
        self.pace = pace
        self.requests: Counter[str] = Counter()
        self.received: list[Received] = []

    def __enter__(self) -> Self:
        self._background = BackgroundLoop("fault-server")
        try:
            self._servers = self._background.run(self._listen())
        except BaseException:
            self._background.stop()
            raise
        self.origin, self.other_origin = (
            "http://127.0.0.1:" + str(server.sockets[0].getsockname()[1]) for server in self._servers
        )
        self.private = private_urls(self.other_origin)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._background.run(self._close())
        self._background.stop()

    def url(self, name: str = "") -> str:
        """The URL of a fault with its parameters, such as `url("status/503")`. Without a name, the
        front page."""
        name = name.lstrip("/")
        if name and find(name) is None:
            raise LookupError(f"there is no fault called {name!r}; see FaultServer.names")
        return f"{self.origin}/{name}"

    def times_asked(self, path: str) -> int:
        return self.requests[path]

    async def _listen(self) -> list[asyncio.Server]:
        first = await asyncio.start_server(self._converse, "127.0.0.1", 0, backlog=1024)
        try:
            return [first, await asyncio.start_server(self._witness, "127.0.0.1", 0, backlog=1024)]
        except BaseException:
            first.close()
            raise

    async def _close(self) -> None:
        for server in self._servers:
            server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while exchange := await self._next(reader, writer):
                self.requests[exchange.path] += 1
                await self._answer(exchange)
                if not exchange.keep_open or "close" in exchange.header("connection").lower():
                    break
        except (OSError, asyncio.CancelledError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # The client left or the server stops: both are everyday here, and a cancelled task
            # would be reported.
            writer.transport.abort()
        finally:
            writer.close()

    async def _witness(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while exchange := await self._next(reader, writer):
                headers = {name.lower(): value for name, value in exchange.headers}
                self.received.append(Received(exchange.method, exchange.path, headers))
                await exchange.page("The other port", f"<p>You arrived at {escape(exchange.path)}.</p>")
        except (OSError, asyncio.CancelledError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            writer.transport.abort()
        finally:
            writer.close()

    async def _next(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> FaultExchange | None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, _, rest = lines[0].partition(" ")
        target = rest.partition(" ")[0]
        if "://" in target.partition("?")[0]:
            # As a proxy: any host name leads here.
            target = "/" + target.partition("://")[2].partition("/")[2]
        path, _, query = target.partition("?")
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:-2])]
        exchange = FaultExchange(self, reader, writer, method, path, query, headers, [])
        if length := exchange.header("content-length"):
            await reader.readexactly(int(length) if length.isdecimal() else 0)
        return exchange

    async def _answer(self, exchange: FaultExchange) -> None:
        if exchange.path == "/":
            await exchange.page("Faults", _directory())
        elif exchange.path == "/robots.txt":
            await robots.answer(exchange, self.robots)
        elif found := find(exchange.path):
            fault, exchange.arguments = found
            await fault.misbehave(exchange)
        else:
            await exchange.reply(document("Not Found", ""), status=404)


def _directory() -> str:
    lines = (
        f'<dt><a href="/{fault.example}">{fault.name}</a></dt><dd>{escape(fault.sentence)}</dd>'
        for fault in FAULTS.values()
    )
    return "<dl>\n" + "\n".join(lines) + "\n</dl>"
