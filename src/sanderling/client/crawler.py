"""Step 6 of a page's life: the client's loop. Take a lease, ask robots, fetch, read, report.

All times here are by a clock that never jumps.
"""

import math
import time
from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush

from msgspec.structs import replace

from sanderling.client import robots
from sanderling.client.archive import Archive
from sanderling.client.line import ServerLine
from sanderling.client.reading import REDIRECTS, Reader
from sanderling.client.site import Pause, Pauses, PoliteHost
from sanderling.client.transport import SWEEP_EVERY, Fetch, Transport
from sanderling.clock import RemoteClock
from sanderling.model import HostNote, Outcome, Recall, Report, Robots, Task, Visit
from sanderling.settings import Settings
from sanderling.urls import WEB, join

BATCH = 100
LONGEST_SILENCE = 1.0
REPORT_AFTER = 0.25
# How long a host that cannot be reached is left alone at most, and of the wait of its pages for another try: less than
# all of it, so that each of them is one.
DEAD_FOR, DEAD_SHARE = 30.0, 0.9
MOST_SITES = 20_000
# Pages that are read together: as many as the processor's caches hold beside what it takes to read them.
READ_AT_ONCE = 16


class Crawler:
    """One client."""

    def __init__(self, name: str, settings: Settings, server: ServerLine, reader: Reader, archive: Archive) -> None:
        self._name = name
        self._settings = settings
        self._server = server
        self._server_clock = RemoteClock()
        self._reader = reader
        self._archive = archive
        self._agent = settings.user_agent  # by which robots.txt addresses it; the contact is no name of it
        self._transport = Transport(settings, server.fileno())
        self._sites: dict[str, PoliteHost] = {}
        # What connects through a proxy does not know the address.
        self._pauses: Pauses | None = {} if settings.by_address and not settings.proxy else None
        self._ready: deque[PoliteHost] = deque()
        self._pausing: list[tuple[float, int, PoliteHost]] = []
        self._pushes = 0
        self._visits: list[Visit] = []
        self._oldest = 0.0
        self._told_at = 0.0
        self._swept_at = 0.0
        self._number = 0

    def run(self) -> None:
        """Until the server says stop or is gone."""
        self._tell()
        while self._take_leases():
            self._start_fetches()
            over = self._finished()
            for start in range(0, len(over), READ_AT_ONCE):
                self._settle(over[start : start + READ_AT_ONCE])
            self._report()
        self._tell()
        self._transport.close()
        self._archive.close()

    # ---- leases and schedule

    def _take_leases(self) -> bool:
        """Waits for the network or the server; False when the server wants us to stop."""
        if not self._transport.wait(self._patience()):
            return True
        messages = self._server.hear()
        if messages is None:
            return False
        for message in messages:
            if isinstance(message, Recall):
                self._give_back()
                continue
            shift = self._server_clock.hear(message.clock, time.monotonic())
            for part in message.hosts:
                site = self._sites.get(part.origin)
                if site is None:
                    site = self._sites[part.origin] = PoliteHost(
                        part.origin, part.trusted, self._settings, self._pauses
                    )
                site.connections = part.connections
                site.pause.next_at = max(site.pause.next_at, part.not_before + shift)
                if part.robots is not None:
                    site.hear_of(replace(part.robots, at=part.robots.at + shift), self._agent)
                site.queue.extend(part.tasks)
                self._schedule(site, time.monotonic())
        return True

    def _give_back(self) -> None:
        returned = [task.id for site in self._sites.values() for task in site.queue]
        for site in self._sites.values():
            site.queue.clear()
        self._tell(returned)

    def _patience(self) -> float:
        now = time.monotonic()
        if self._ready and len(self._transport.active) < self._settings.connections:
            return 0.0
        until = self._told_at + LONGEST_SILENCE
        if self._visits:
            until = min(until, self._oldest + REPORT_AFTER)
        if self._pausing:
            until = min(until, self._pausing[0][0])
        return max(0.0, until - now)

    def _schedule(self, site: PoliteHost, now: float) -> None:
        if site.scheduled or not site.queue or site.in_flight >= site.connections:
            return
        site.scheduled = True
        if not site.alone():
            site.pause.waiting.append(site)
        elif site.pause.next_at <= now:
            self._ready.append(site)
        else:
            self._pushes += 1
            heappush(self._pausing, (site.pause.next_at, self._pushes, site))

    def _wake(self, pause: Pause, now: float) -> None:
        """The next of the hosts that wait for their address has its turn."""
        while pause.waiting and pause.user is None:
            site = pause.waiting.popleft()
            site.scheduled = False
            self._schedule(site, now)
            if site.scheduled:
                return

    def _start_fetches(self) -> None:
        now = time.monotonic()
        while self._pausing and self._pausing[0][0] <= now:
            self._ready.append(heappop(self._pausing)[2])
        while self._ready and len(self._transport.active) < self._settings.connections:
            site = self._ready.popleft()
            site.scheduled = False
            if site.dead[0] > now:
                self._give_up(site)
            elif self._needs_robots(site):
                if not site.may_ask(now):
                    self._schedule(site, now)
                elif not site.in_flight:
                    self._start(Task(0, site.origin + "/robots.txt", 0, 0, 0), site, 0)
            elif site.ready(now):
                task = site.queue.popleft()
                if self._allowed(task, site):
                    self._start(task, site, -1)
                self._schedule(site, now)
            else:
                self._schedule(site, now)
            if site.pause.waiting:
                self._wake(site.pause, now)

    def _needs_robots(self, site: PoliteHost) -> bool:
        if self._settings.ignore_robots or not site.origin.startswith(WEB) or not site.queue:
            return False
        if site.robots is None:
            return True
        # "Unreachable" is asked again with the next try of its pages, rules once a day.
        age = time.monotonic() - site.robots.at
        return age > (1.0 if site.robots.allowed is False else robots.KEPT)

    def _allowed(self, task: Task, site: PoliteHost) -> bool:
        if site.rules is None or site.rules.allows(task.url):
            return True
        if site.rules.unreachable:
            self._done(task, Outcome.RETRY, site.rules.reason)
        else:
            self._done(task, Outcome.EXCLUDED, "disallowed by robots.txt")
        return False

    def _start(self, task: Task, site: PoliteHost, robots_hops: int) -> None:
        refused = self._transport.start(task, site, robots_hops)
        if not refused:
            # Nothing else is asked until the rules are known.
            site.in_flight = site.in_flight + 1 if robots_hops < 0 else site.connections
            site.pause.user = site
        elif robots_hops > 0:
            self._know_rules(site, robots.judge(0, b"", refused, time.monotonic()))
        else:
            site.dead = (math.inf, Outcome.FAILED, refused)
            if robots_hops < 0:
                site.queue.appendleft(task)
            self._give_up(site)

    # ---- what comes back

    def _finished(self) -> list[Fetch]:
        over = self._transport.finished()
        now = time.monotonic()
        if now - self._swept_at > SWEEP_EVERY:
            self._swept_at = now
            over += self._transport.overdue(now)
        return over

    def _settle(self, fetches: Sequence[Fetch]) -> None:
        pages = [fetch for fetch in fetches if fetch.robots_hops < 0 and not fetch.postponed]
        for fetch, visit in zip(pages, self._reader.read(pages), strict=True):
            fetch.site.in_flight -= 1
            fetch.site.pause_after(fetch.seconds, time.monotonic(), visit.retry_after)
            self._keep(visit)
        for fetch in fetches:
            site = fetch.site
            if fetch.postponed:
                self._put_back(fetch)
            elif fetch.robots_hops >= 0:
                self._read_robots(fetch)
            if fetch.host_is_dead and fetch.robots_hops <= 0:
                self._leave_alone(fetch, time.monotonic())
            if not site.in_flight and site.pause.user is site:
                site.pause.user = None
                self._wake(site.pause, time.monotonic())
            self._schedule(site, time.monotonic())
            self._transport.release(fetch)

    def _leave_alone(self, fetch: Fetch, now: float) -> None:
        """Until the pages of a host that cannot be reached are tried again, if that is any use."""
        site = fetch.site
        if site.dead[0] > now:  # others that were on their way have said so
            return
        attempts = min((task.attempts for task in (fetch.task, *site.queue) if task.id), default=0)
        seconds = min(DEAD_FOR, DEAD_SHARE * self._settings.retry_wait * 2 ** min(attempts, 30))
        if fetch.hopeless:
            site.dead = (now + DEAD_FOR, Outcome.FAILED, fetch.error)
        else:
            site.dead = (now + seconds, Outcome.RETRY, fetch.error)

    def _put_back(self, fetch: Fetch) -> None:
        """Another host at the same address was being asked: it comes to its turn later."""
        fetch.host_is_dead = False
        if fetch.robots_hops < 0:
            fetch.site.in_flight -= 1
            fetch.site.queue.appendleft(fetch.task)
        else:
            fetch.site.in_flight = 0

    def _read_robots(self, fetch: Fetch) -> None:
        site = fetch.site
        if fetch.status in REDIRECTS and fetch.robots_hops < robots.MAX_REDIRECTS:
            target = join(fetch.task.url, fetch.location())
            if target is not None:
                self._start(Task(0, target, 0, 0, 0), site, fetch.robots_hops + 1)
                return
        self._know_rules(site, robots.judge(fetch.status, b"".join(fetch.chunks), fetch.error, time.monotonic()))

    def _know_rules(self, site: PoliteHost, found: Robots) -> None:
        site.in_flight = 0
        site.learn(found, self._agent)
        site.pause_after(0.0, time.monotonic())
        self._schedule(site, time.monotonic())

    def _give_up(self, site: PoliteHost) -> None:
        """Discards at once what a dead host would only hold slots for."""
        _, outcome, reason = site.dead
        while site.queue:
            self._done(site.queue.popleft(), outcome, reason)

    def _done(self, task: Task, outcome: Outcome, reason: str) -> None:
        self._keep(Visit(id=task.id, outcome=outcome, reason=reason, at=time.monotonic()))

    def _keep(self, visit: Visit) -> None:
        if not self._visits:
            self._oldest = time.monotonic()
        self._visits.append(visit)

    # ---- reports

    def _report(self) -> None:
        now = time.monotonic()
        if (
            len(self._visits) >= BATCH
            or (self._visits and now - self._oldest >= REPORT_AFTER)
            or now - self._told_at >= LONGEST_SILENCE
            or (self._visits and not self._transport.active and not self._ready)
        ):
            self._tell()

    def _tell(self, returned: Sequence[int] = ()) -> None:
        now = time.monotonic()
        self._number += 1
        notes = []
        for site in self._sites.values():
            if not site.told:
                found = None if site.robots_told else site.robots
                notes.append(HostNote(site.origin, found, site.pause.next_at, site.interval, address=site.address))
                site.told = site.robots_told = True
        warcs = self._archive.flush()
        report = Report(
            self._name, self._number, time.monotonic(), self._want(now), self._visits, notes, warcs, list(returned)
        )
        self._visits = []
        self._told_at = now
        self._server.tell(report)
        if len(self._sites) > MOST_SITES:
            self._sites = {o: s for o, s in self._sites.items() if s.queue or s.in_flight}
            if self._pauses is not None:
                used = {id(s.pause) for s in self._sites.values()}
                for address in [a for a, p in self._pauses.items() if id(p) not in used and p.next_at < now]:
                    del self._pauses[address]

    def _want(self, now: float) -> int:
        """How many tasks would keep us busy; what waits for a pausing host does not count."""
        stock = sum(len(site.queue) for site in self._sites.values() if site.pause.next_at <= now + 1)
        return max(0, self._settings.connections - stock)
