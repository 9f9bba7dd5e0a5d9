"""Step 6 of a page's life: the client's loop. Take a lease, ask robots, fetch, read, report.

All times here are of the monotonic clock.
"""

import math
import time
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sanderling.client import robots
from sanderling.client.archive import Archive
from sanderling.client.arrival import REDIRECTS
from sanderling.client.asking import AskingAhead
from sanderling.client.exchange import ROBOTS
from sanderling.client.fetch import LOGIN, PAGE, Fetch, Requests
from sanderling.client.fetcher import Fetcher, Learner, Response, refused
from sanderling.client.line import ServerLine
from sanderling.client.loop import READ, Loop
from sanderling.client.polite_host import Pauses, PoliteHost
from sanderling.client.reading import Reader
from sanderling.client.schedule import Schedule
from sanderling.clock import RemoteClock
from sanderling.model import HostNote, Lease, Outcome, Recall, Robots, Task, Visit, VisitReport
from sanderling.model.reasons import reason, sentence
from sanderling.settings import Settings
from sanderling.urls import WEB, join

if TYPE_CHECKING:  # loaded only by crawls that log in
    from sanderling.client.sessions import Sessions, UserSession

BATCH = 100
LONGEST_SILENCE = 1.0
REPORT_AFTER = 0.25
# How long a host that cannot be reached is left alone at most, in seconds, and as a share of its
# pages' retry wait. Shorter than the retry wait, so that every retry reaches the host.
DEAD_FOR, DEAD_SHARE = 30.0, 0.9
MOST_HOSTS = 20_000
# Pages that are read together: as many as fit into the processor's caches with what is needed to
# read them.
READ_AT_ONCE = 16


class Crawler:
    """One client."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        server: ServerLine,
        loop: Loop,
        fetcher: Fetcher,
        reader: Reader,
        archive: Archive,
        learner: Learner | None = None,
        sessions: "Sessions" = MappingProxyType({}),
    ) -> None:
        self._name = name
        self._sessions = sessions
        self._settings = settings
        self._server = server
        self._server_clock = RemoteClock()
        self._spoken_to = False  # the server said something
        self._loop = loop
        self._fetcher = fetcher
        self._reader = reader
        self._archive = archive
        self._learner = learner
        self._agent = settings.user_agent  # the name that robots.txt rules use; the contact is not part of it
        self._requests = Requests(settings)
        self._hosts: dict[str, PoliteHost] = {}
        # Behind a proxy, addresses are not known.
        self._pauses: Pauses | None = {} if settings.by_address and not settings.proxy else None
        self._schedule = Schedule()
        self._fetches: dict[Response, Fetch] = {}  # on their way
        self._visits: list[Visit] = []
        self._oldest = 0.0
        self._told_at = 0.0
        self._number = 0
        self._ahead = AskingAhead(REPORT_AFTER)
        self._looked_up = self._fetched = 0.0  # seconds since the last report, of all requests together

    def run(self) -> None:
        """Crawls until the server says stop or is gone."""
        self._loop.watch(self._server.fileno(), READ, self._on_line)
        self._tell()
        while self._next():
            self._fetch()
            for fetches in self._finished():
                self._settle(fetches, self._read(fetches))
            self._report()
        self._tell()
        self._archive.close()

    # ---- next: leases

    def _next(self) -> bool:
        """Waits for the network or the server. False when the server says stop."""
        self._loop.wait(self._patience())
        if not self._spoken_to:
            return True
        self._spoken_to = False
        messages = self._server.hear()
        for message in messages or ():
            if isinstance(message, Recall):
                self._give_back()
            else:
                self._take_lease(message)
        return messages is not None

    def _on_line(self, fd: int, events: int) -> None:
        self._spoken_to = True

    def _take_lease(self, lease: Lease) -> None:
        now = time.monotonic()
        shift = self._server_clock.hear(lease.clock, now)
        if lease.hosts:
            self._ahead.answered(now)
        for part in lease.hosts:
            host = self._hosts.get(part.origin)
            if host is None:
                host = PoliteHost(part.origin, part.trusted, self._settings, self._pauses)
                self._hosts[part.origin] = host
            host.connections = part.connections
            host.private = tuple(part.private)
            host.pause.next_at = max(host.pause.next_at, part.not_before + shift)
            if part.robots is not None:
                host.hear_of(replace(part.robots, at=part.robots.at + shift), self._agent)
            if self._learner is not None:
                self._learner.hear_of(part.origin, part.rendering)
            host.queue.extend(part.tasks)
            self._fetcher.expect(part.origin)
            self._schedule.add(host, now)

    def _give_back(self) -> None:
        returned = [task.id for host in self._hosts.values() for task in host.queue]
        for host in self._hosts.values():
            host.queue.clear()
        self._tell(returned)

    def _patience(self) -> float:
        now = time.monotonic()
        if self._schedule.ready and len(self._fetches) < self._settings.connections:
            return 0.0
        until = min(self._told_at + LONGEST_SILENCE, self._schedule.next_at)
        if self._visits:
            until = min(until, self._oldest + REPORT_AFTER)
        return max(0.0, until - now)

    # ---- fetch

    def _fetch(self) -> None:
        """Asks the hosts whose turn it is."""
        now = time.monotonic()
        schedule = self._schedule
        schedule.end_pauses(now)
        while schedule.ready and len(self._fetches) < self._settings.connections:
            host = schedule.take()
            if host.dead[0] > now:
                self._give_up(host)
            elif self._needs_robots(host):
                if not host.may_ask(now):
                    schedule.add(host, now)
                elif not host.in_flight:
                    self._ask_robots(host, host.origin + "/robots.txt", 0)
            elif (session := self._sessions.get(host.origin)) is not None and (session.due or session.over):
                self._log_in(host, session, now)
            else:
                if host.ready(now):
                    self._ask_page(host, host.queue.popleft())
                schedule.add(host, now)
            if host.pause.waiting:
                schedule.wake(host.pause, now)

    def _needs_robots(self, host: PoliteHost) -> bool:
        if self._settings.ignore_robots or not host.origin.startswith(WEB) or not host.queue:
            return False
        if host.robots is None:
            return True
        # An unreadable robots.txt is read again with the next try of the pages, any other once a
        # day.
        age = time.monotonic() - host.robots.at
        return age > (1.0 if host.robots.allowed is False else robots.KEPT)

    def _log_in(self, host: PoliteHost, session: "UserSession", now: float) -> None:
        """Makes the next step of a login, or gives up a host at which we cannot be logged in."""
        if session.over:
            host.dead = (math.inf, Outcome.FAILED, session.over)
            self._give_up(host)
        elif not host.may_ask(now):
            self._schedule.add(host, now)
        elif not host.in_flight and host.queue:
            request = self._requests.login(session, host)
            self._start(Fetch(Task(0, request.url, 0, 0, 0), host, request, LOGIN))

    def _ask_page(self, host: PoliteHost, task: Task) -> None:
        rules = host.rules
        if rules is None or rules.allows(task.url):
            self._start(Fetch(task, host, self._requests.page(task, host), PAGE))
        elif rules.unreachable:
            self._done(task, Outcome.RETRY, rules.reason)
        else:
            self._done(task, Outcome.EXCLUDED, reason("robots"))

    def _ask_robots(self, host: PoliteHost, url: str, hops: int) -> None:
        self._start(Fetch(Task(0, url, 0, 0, 0), host, self._requests.robots(url, host), hops))

    def _start(self, fetch: Fetch) -> None:
        host = fetch.host
        error = refused(fetch.request, self._settings)
        if not error:
            fetch.response = self._fetcher.start(fetch.request, fetch.permission())
            self._fetches[fetch.response] = fetch
            # No page is asked for until the rules are known.
            host.in_flight = host.in_flight + 1 if fetch.is_page else host.connections
            host.pause.user = host
        elif fetch.robots_hops > 0:
            self._know_rules(host, robots.judge(0, b"", error, time.monotonic()))
        else:
            host.dead = (math.inf, Outcome.FAILED, error)
            if fetch.is_page:
                host.queue.appendleft(fetch.task)
            self._give_up(host)

    def _finished(self) -> Iterator[Sequence[Fetch]]:
        """The fetches that are over, in groups that are read together."""
        over = [self._fetches.pop(response) for response in self._fetcher.finished()]
        for start in range(0, len(over), READ_AT_ONCE):
            yield over[start : start + READ_AT_ONCE]

    # ---- read and settle

    def _read(self, fetches: Sequence[Fetch]) -> dict[Fetch, Visit]:
        for fetch in fetches if self._sessions else ():
            response = fetch.response
            if response.rendered is not None and response.session:  # perhaps its scripts show the login form
                self._sessions[fetch.host.origin].judge(fetch.request.url, response, response.rendered.html)
        pages = [fetch for fetch in fetches if fetch.is_page and not fetch.postponed]
        return dict(zip(pages, self._reader.read(pages), strict=True))

    def _settle(self, fetches: Sequence[Fetch], visits: dict[Fetch, Visit]) -> None:
        now = time.monotonic()
        for fetch in fetches:
            host, visit = fetch.host, visits.get(fetch)
            self._time(host, fetch.response)
            if visit is not None:
                host.in_flight -= 1
                host.pause_after(fetch.response.seconds, now, visit.retry_after)
                self._keep(visit)
            elif fetch.postponed:
                self._put_back(fetch)
            elif fetch.robots_hops == LOGIN:
                self._logged_in(fetch, now)
            else:
                self._read_robots(fetch)
            if fetch.response.host_is_dead and not fetch.postponed and fetch.robots_hops <= 0:
                self._leave_alone(fetch, now)
            if not host.in_flight and host.pause.user is host:
                host.pause.user = None
                self._schedule.wake(host.pause, now)
            self._schedule.add(host, now)

    def _time(self, host: PoliteHost, response: Response) -> None:
        self._looked_up += response.looked_up
        self._fetched += response.seconds
        if response.connected:
            host.connected = min(host.connected or response.connected, response.connected)

    def _leave_alone(self, fetch: Fetch, now: float) -> None:
        """Pauses a host that cannot be reached until its pages are tried again."""
        host, response = fetch.host, fetch.response
        if host.dead[0] > now:  # an earlier response has said so
            return
        attempts = min((task.attempts for task in (fetch.task, *host.queue) if task.id), default=0)
        seconds = min(DEAD_FOR, DEAD_SHARE * self._settings.retry_wait * 2 ** min(attempts, 30))
        if response.hopeless:
            host.dead = (now + DEAD_FOR, Outcome.FAILED, response.error)
        else:
            host.dead = (now + seconds, Outcome.RETRY, response.error)

    def _logged_in(self, fetch: Fetch, now: float) -> None:
        """A step of a login was answered."""
        host, session = fetch.host, self._sessions[fetch.host.origin]
        host.in_flight = 0
        host.pause_after(fetch.response.seconds, now)
        session.advance(fetch.response)
        if session.hindered and not session.over:
            fetch.response.error = session.hindered
            self._leave_alone(fetch, now)

    def _put_back(self, fetch: Fetch) -> None:
        """Queues a task again: another host at its address was being asked, memory was short, or a
        session is over."""
        if fetch.response.crowded_out or fetch.response.signed_out:
            fetch.host.pause_after(fetch.response.seconds, time.monotonic())
        if fetch.is_page:
            fetch.host.in_flight -= 1
            fetch.host.queue.appendleft(fetch.task)
        else:
            fetch.host.in_flight = 0

    def _read_robots(self, fetch: Fetch) -> None:
        host, response = fetch.host, fetch.response
        self._reader.keep(fetch, ROBOTS)
        if response.status in REDIRECTS and fetch.robots_hops < robots.MAX_REDIRECTS:
            target = join(fetch.request.url, response.location())
            if target is not None:
                self._ask_robots(host, target, fetch.robots_hops + 1)
                return
        rules = robots.judge(
            response.status, response.body, response.error, time.monotonic(), response.certificate_ends
        )
        self._know_rules(host, rules)

    def _know_rules(self, host: PoliteHost, found: Robots) -> None:
        now = time.monotonic()
        host.in_flight = 0
        host.learn(found, self._agent)
        host.pause_after(0.0, now)
        self._schedule.add(host, now)

    def _give_up(self, host: PoliteHost) -> None:
        """Ends all tasks of a dead host at once: they would only take up connections."""
        _, outcome, why = host.dead
        while host.queue:
            self._done(host.queue.popleft(), outcome, why)

    def _done(self, task: Task, outcome: Outcome, why: str) -> None:
        self._keep(Visit(id=task.id, outcome=outcome, reason=why, at=time.monotonic()))

    def _keep(self, visit: Visit) -> None:
        if not self._visits:
            self._oldest = time.monotonic()
        self._visits.append(visit)

    # ---- report

    def _report(self) -> None:
        now = time.monotonic()
        if (
            len(self._visits) >= BATCH
            or (self._visits and now - self._oldest >= REPORT_AFTER)
            or now - self._told_at >= LONGEST_SILENCE
            or (self._visits and not self._schedule.ready and self._is_short_of_work())
        ):
            self._tell()

    def _is_short_of_work(self) -> bool:
        """Whether it cannot go on, or could do twice as much and has visits enough to be worth a
        report."""
        few = self._settings.connections / 2
        return not self._fetches or (len(self._fetches) < few <= len(self._visits))

    def _tell(self, returned: Sequence[int] = ()) -> None:
        now = time.monotonic()
        self._number += 1
        notes = self._notes()
        warcs = self._archive.flush()
        messages = self._learner.messages() if self._learner is not None else []
        messages += [f"{place}: {sentence(each.over)}" for place, each in self._sessions.items() if each.over]
        want = self._want(now)
        self._ahead.told(now, len(self._visits), want)
        report = VisitReport(
            self._name, self._number, time.monotonic(), want, self._visits, notes, warcs, list(returned),
            messages, self._looked_up, self._fetched,
        )  # fmt: skip
        self._visits = []
        self._looked_up = self._fetched = 0.0
        self._told_at = now
        self._server.tell(report)
        if len(self._hosts) > MOST_HOSTS:
            self._forget_idle_hosts(now)

    def _notes(self) -> list[HostNote]:
        """What the server does not know yet about hosts."""
        notes = []
        learned = self._learner.learned() if self._learner is not None else {}
        for origin in learned.keys() & self._hosts.keys():
            self._hosts[origin].told = False
        for host in self._hosts.values():
            if not host.told:
                found = None if host.robots_told else host.robots
                notes.append(
                    HostNote(
                        host.origin,
                        found,
                        host.pause.next_at,
                        host.interval,
                        host.address,
                        learned.get(host.origin, b""),
                        host.connected,
                    )
                )
                host.told = host.robots_told = True
        return notes

    def _want(self, now: float) -> int:
        """How many more connections this client could use, and what it asks for ahead. Hosts that
        pause do not count.

        A host counts for no more than its own connections, however many tasks wait for it.
        """
        used = sum(
            min(len(host.queue), host.connections) for host in self._hosts.values() if host.pause.next_at <= now + 1
        )
        connections = self._settings.connections
        return max(0, connections + self._ahead.pages(connections) - used)

    def _forget_idle_hosts(self, now: float) -> None:
        self._hosts = {origin: host for origin, host in self._hosts.items() if host.queue or host.in_flight}
        if self._pauses is not None:
            used = {id(host.pause) for host in self._hosts.values()}
            for address in [a for a, p in self._pauses.items() if id(p) not in used and p.next_at < now]:
                del self._pauses[address]
