"""A line to the server and a fetcher inside the test's process."""

import os
from collections import Counter
from collections.abc import Callable

from sanderling.client.fetcher import MayConnect, Request, Response
from sanderling.client.loop import READ, Loop
from sanderling.model import Exchange, Hello, HostLease, Lease, Recall, Stored, Task, Visit, VisitReport, Welcome
from sanderling.urls import identity

Pages = dict[str, bytes]


class FakeFetcher:
    """Answers from a table, one request each time its descriptor is readable."""

    def __init__(self, pages: Pages, loop: Loop) -> None:
        self.pages = pages
        self.asked: Counter[str] = Counter()
        self._loop = loop
        self._descriptor = os.eventfd(0, os.EFD_SEMAPHORE)
        self._waiting: list[tuple[Request, Response]] = []
        self._over: list[Response] = []
        loop.watch(self._descriptor, READ, self._answer)

    def start(self, request: Request, may_connect: MayConnect | None = None) -> Response:
        response = Response()
        self.asked[request.url] += 1
        self._waiting.append((request, response))
        os.eventfd_write(self._descriptor, 1)
        return response

    def expect(self, origin: str) -> None:
        pass

    def finished(self) -> list[Response]:
        over, self._over = self._over, []
        return over

    def close(self) -> None:
        self._loop.unwatch(self._descriptor)
        os.close(self._descriptor)

    def _answer(self, fd: int, events: int) -> None:
        os.eventfd_read(fd)
        request, response = self._waiting.pop(0)
        body = self.pages.get(request.url)
        response.status = 404 if body is None else 200
        response.lines = [b"HTTP/1.1 %d -" % response.status, b"Content-Type: text/html"]
        response.chunks = [body or b""]
        response.size = len(body or b"")
        self._over.append(response)


class ChoosingFetcher:
    """Combines two fetchers. The second gets the requests that a function selects."""

    def __init__(self, first: FakeFetcher, second: FakeFetcher, chosen: Callable[[Request], bool]) -> None:
        self._first, self._second, self._chosen = first, second, chosen

    def start(self, request: Request, may_connect: MayConnect | None = None) -> Response:
        return (self._second if self._chosen(request) else self._first).start(request, may_connect)

    def expect(self, origin: str) -> None:
        pass

    def finished(self) -> list[Response]:
        return self._first.finished() + self._second.finished()

    def close(self) -> None:
        self._first.close()
        self._second.close()


class FakeLine:
    """Leases some URLs once, and sends stop when all of them are reported."""

    def __init__(self, urls: list[str], clock: float = 0.0, pause: float = 0.0) -> None:
        tasks = [task(url) for url in urls]
        self._lease = Lease(clock, [HostLease("http://e.org", 4, clock + pause, True, None, tasks)])
        self._left = len(urls)
        self._descriptor = os.eventfd(0)
        self.visits: dict[int, Visit] = {}
        self.reports: list[VisitReport] = []

    def introduce(self, hello: Hello) -> Welcome | None:
        raise NotImplementedError

    def fileno(self) -> int:
        return self._descriptor

    def hear(self) -> list[Lease | Recall] | None:
        os.eventfd_read(self._descriptor)
        return [self._lease] if self._left else None

    def tell(self, report: VisitReport) -> None:
        self.reports.append(report)
        self.visits |= {visit.id: visit for visit in report.visits}
        self._left -= len(report.visits)
        if len(self.reports) == 1 or not self._left:
            os.eventfd_write(self._descriptor, 1)

    def close(self) -> None:
        os.close(self._descriptor)


class MemoryArchive:
    """Keeps exchanges in a list."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def add(self, exchange: Exchange) -> Stored:
        self.exchanges.append(exchange)
        return Stored("memory", len(self.exchanges) - 1, 1)

    def flush(self) -> dict[str, int]:
        return {"memory": len(self.exchanges)}

    def close(self) -> None:
        pass


def task(url: str) -> Task:
    return Task(identity(url), url, 0, 0, 0)
