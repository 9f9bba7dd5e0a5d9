"""Servers of teams to compare ours with, for real clients (`lab teams --real`)."""

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from sanderling.model import Found, Hello, HostLease, Kind, Lease, Outcome, Stop, Task, VisitReport, Welcome
from sanderling.server.members.socket_switchboard import SocketSwitchboard
from sanderling.server.members.switchboard import ClientLine
from sanderling.settings import Settings
from sanderling.urls import identity


class TeamCrawler:
    """One client of a team: what it has to visit, and how many connections are free."""

    def __init__(self, queue: deque[str], known: set[int], free: int) -> None:
        self.queue = queue
        self.known = known
        self.free = free
        self.asked: deque[tuple[float, str]] = deque()  # when the others have answered, and about what

    def meet(self, found: Iterable[Found]) -> None:
        for each in found:
            if each.id not in self.known:
                self.known.add(each.id)
                self.queue.append(each.url)


class TeamServer(ABC):
    """The part that all servers of teams have. A client is ready with its first report."""

    def __init__(self, switchboard: SocketSwitchboard, settings: Settings, seeds: list[str], crawlers: int) -> None:
        self._switchboard = switchboard
        self._settings = settings
        self._waiting = self._begin(seeds, crawlers)
        self._crawlers: dict[ClientLine, TeamCrawler] = {}

    @abstractmethod
    def _begin(self, seeds: list[str], crawlers: int) -> list[TeamCrawler]:
        """The crawlers, each with what it knows at first."""

    @abstractmethod
    def _next(self, crawler: TeamCrawler) -> Iterator[str]:
        """What a crawler is to visit now."""

    def run(self, over: threading.Event) -> None:
        while not over.is_set():
            arrived, lost = self._switchboard.poll(0.02)
            for line in lost:
                self._crawlers.pop(line, None)
            for line, message in arrived:
                if isinstance(message, Hello):
                    self._switchboard.send(line, Welcome(msgspec.json.encode(self._settings)))
                elif isinstance(message, VisitReport):
                    self._take_in(line, message)
            for line, crawler in self._crawlers.items():
                self._give(line, crawler)
        for line in self._crawlers:
            self._switchboard.send(line, Stop())

    def _take_in(self, line: ClientLine, report: VisitReport) -> None:
        if line not in self._crawlers:
            self._crawlers[line] = self._waiting.pop()
        crawler = self._crawlers[line]
        crawler.free += len(report.visits)
        for visit in report.visits:
            if visit.outcome == Outcome.PAGE:
                crawler.meet(found for found in visit.found if found.kind == Kind.PAGE)

    def _give(self, line: ClientLine, crawler: TeamCrawler) -> None:
        now, hosts = time.monotonic(), list[HostLease]()
        for url in self._next(crawler):
            origin = "/".join(url.split("/", 3)[:3])
            hosts.append(HostLease(origin, 1, now, True, None, [Task(identity(url), url, 0, 0, 0)]))
            crawler.free -= 1
        if hosts:
            self._switchboard.send(line, Lease(now, hosts))


class SeedServer(TeamServer):
    """Knows all URLs, and gives a crawler as many as it has free connections."""

    def _begin(self, seeds: list[str], crawlers: int) -> list[TeamCrawler]:
        queue, known = deque(seeds), set(map(identity, seeds))
        return [TeamCrawler(queue, known, self._settings.connections) for _ in range(crawlers)]

    def _next(self, crawler: TeamCrawler) -> Iterator[str]:
        while crawler.free and crawler.queue:
            yield crawler.queue.popleft()


class DependentTeam(TeamServer):
    """Every crawler has a queue of its own, and asks all others before each page. Two that ask at
    the same time both visit it."""

    def __init__(
        self, switchboard: SocketSwitchboard, settings: Settings, seeds: list[str], crawlers: int, message: float
    ) -> None:
        super().__init__(switchboard, settings, seeds, crawlers)
        self._message = message
        self._begun: dict[int, float] = {}  # when a crawler of the team began with a page

    def _begin(self, seeds: list[str], crawlers: int) -> list[TeamCrawler]:
        shares = [seeds[number::crawlers] for number in range(crawlers)]
        return [TeamCrawler(deque(each), set(map(identity, each)), self._settings.connections) for each in shares]

    def _next(self, crawler: TeamCrawler) -> Iterator[str]:
        now = time.monotonic()
        while crawler.asked and crawler.asked[0][0] <= now:
            at, url = crawler.asked.popleft()
            # The others knew what they had begun with when the question reached them.
            if self._begun.get(identity(url), at) > at - self._message:
                self._begun.setdefault(identity(url), now)
                yield url
        while crawler.queue and len(crawler.asked) < crawler.free:
            crawler.asked.append((now + 2 * self._message, crawler.queue.popleft()))
