"""`python -m sanderling.jobs.listen DIR [once]`: the process that reads the reports of sites beside
a refresh.

Not a command for people: the server starts it and writes the settings to its standard input. It
finds reports by the settings, among those that were read before, by robots.txt and at the
well-known address of the seeds' hosts, and passes on what they say through the folder's socket. It
ends when its input does.
"""

import contextlib
import json
import random
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec

from sanderling import clock
from sanderling.announcements import MANIFEST, WELL_KNOWN, BadReport, in_robots
from sanderling.client import robots
from sanderling.errors import SanderlingError
from sanderling.jobs import companion
from sanderling.model import Host, Robots, Told
from sanderling.network import agent
from sanderling.network.one_request import Answer, request
from sanderling.network.reach import ANYWHERE, PUBLIC
from sanderling.repository.folder import Folder
from sanderling.repository.named_addresses import NamedAddresses
from sanderling.repository.opening import reading
from sanderling.repository.store import Store
from sanderling.server.requests import remote
from sanderling.server.revisits.report_watch import READ_ALL
from sanderling.server.revisits.reports import NOTE, NOTED, Reading, ReportReader, ReportState
from sanderling.server.revisits.taking import SECONDS as TAKEN_SECONDS
from sanderling.server.revisits.taking import SiteTaking, crawler_name
from sanderling.settings import Settings
from sanderling.urls import canonical, hostname, origin

# Reports that are read at the same time.
THREADS = 4
SECONDS = 20.0
# A report is looked at less often when it brings nothing, and hosts without one once a day.
LONGEST_PAUSE = 3600.0
NO_REPORT_PAUSE = 24 * 3600.0
# The server gets no more pages a second than this on average: it has other work.
PAGES_PER_SECOND = 100.0
# A report without news tells the server that it is alive so often.
ALIVE_EVERY = 60.0
# Seconds between two looks for hosts that name a report.
DISCOVER_EVERY = 60.0


class Watched:
    """One report, and when it is looked at next."""

    def __init__(
        self, reader: ReportReader, shortest: float, taking: SiteTaking | None = None, by_hand: bool = False
    ) -> None:
        """`by_hand`: the user named it, so that it should be there."""
        self.reader = reader
        self.taking = taking
        self._by_hand = by_hand
        self._shortest = self._pause = shortest
        self._told_at = 0.0
        self._complaint = ""
        self.due = 0.0
        self.work: Future[str] | None = None

    def look(self, folder: Path) -> str:
        """Reads what is new and passes it on; returns something for the user, or nothing."""
        now = clock.now()
        before = self.reader.state
        try:
            found = self.reader.read(now)
        except BadReport as error:
            self._wait(self._pause * 1.5)
            said, self._complaint = self._complaint, str(error)
            return f"ignored the report at {self.reader.url}: {error}" if said != str(error) else ""
        if found is None:
            self.due = now + NO_REPORT_PAUSE
            return f"there is no report at {self.reader.url}" if self._by_hand else ""
        said, self._complaint = self._complaint, ""
        if self.taking is not None:
            found = self.taking.keep(found, now)
            self._complaint = self.taking.complaint
        try:
            free = found.taken_until < now
            if found.pages or self.reader.state != before or not free or now - self._told_at >= ALIVE_EVERY:
                self._tell(folder, found, now)
        except (BadReport, SanderlingError) as error:
            self.reader.state = before
            self.reader.forget()
            self._wait(self._pause)
            return f"the report at {self.reader.url} is not taken: {error}" if isinstance(error, BadReport) else ""
        self._wait(max(self._pause * (0.5 if found.pages else 1.5), len(found.pages) / PAGES_PER_SECOND))
        if self._complaint not in ("", said):
            return f"{found.site} cannot be reserved: {self._complaint}"
        return f"{found.site} announces its changes in a report, which is read from now on" if before is None else ""

    def _tell(self, folder: Path, found: Reading, now: float) -> None:
        home = origin(found.site)
        batches = list(found.batches())
        for number, pages in enumerate(batches, 1):
            last = number == len(batches)
            kept = msgspec.json.encode(found.state).decode() if last else ""
            told = Told(
                "report", home, pages, key=NOTE + self.reader.url if last else "", cursor=kept,
                silence_until=found.silence_until or 1.0, complete=found.complete, taken_until=found.taken_until,
            )  # fmt: skip
            if problem := remote.tell(folder, told, SECONDS):
                raise BadReport(problem)
        self._told_at = now

    def _wait(self, pause: float) -> None:
        self._pause = min(max(pause, self._shortest), LONGEST_PAUSE if self.taking is None else TAKEN_SECONDS / 4)
        self.due = clock.now() + self._pause * random.uniform(0.9, 1.0)


class Listener:
    """All reports of a crawl."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._watched: dict[str, Watched] = {}
        self._robots: dict[str, Future[Robots]] = {}  # of the seeds' hosts, as they are now
        self._discovered_at = float("-inf")
        self._named: NamedAddresses | None = None
        self._crawler = crawler_name(folder)

    def discover(self, pool: ThreadPoolExecutor, now: float) -> None:
        """Finds reports that are not watched yet."""
        if now < self._discovered_at + DISCOVER_EVERY:
            return
        if not self._look_around(pool):
            return
        self._discovered_at = now
        with contextlib.suppress(SanderlingError), reading(self._folder) as (_, store):
            homes = {origin(seed) for seed in store.seeds()}
            self._named = NamedAddresses(store, self._settings)
            for text in self._settings.report_at:
                url, _, key = text.partition("#")
                self._watch(store, canonical(url) or url, key, by_hand=True)
            for url in json.loads(store.noted(NOTED) or "[]"):
                self._watch(store, url)
            for host in store.hosts():
                for url in self._of(host, host.origin in homes):
                    self._watch(store, url)

    def _look_around(self, pool: ThreadPoolExecutor) -> bool:
        """Asks for the robots.txt of the seeds' hosts, once: a crawl may have read it long before
        the report was there. Returns whether all have answered."""
        if not self._robots:
            with contextlib.suppress(SanderlingError), reading(self._folder) as (_, store):
                self._named = NamedAddresses(store, self._settings)
                for home in sorted({origin(seed) for seed in store.seeds() if seed.startswith("http")}):
                    self._robots[home] = pool.submit(self._robots_of, home)
        return all(asked.done() for asked in self._robots.values())

    def _robots_of(self, home: str) -> Robots:
        answer = self._get(f"{home}/robots.txt", robots.LARGEST, "")
        return robots.judge(answer.status, answer.body, answer.error, clock.now())

    def _of(self, host: Host, home: bool) -> list[str]:
        """Where the report of a host may be: where its robots.txt says, or at the well-known
        address.
        """
        asked = self._robots.get(host.origin)
        rules = asked.result() if asked is not None else None
        if rules is None or rules.allowed is False or (host.robots is not None and host.robots.at > rules.at):
            rules = host.robots
        if rules is None:
            return []
        named = [url for url in in_robots(rules.text) if origin(url) == host.origin]
        if named or not home or not host.origin.startswith("http"):
            return named
        guess = f"{host.origin}/{WELL_KNOWN}{MANIFEST}"
        allowed = self._settings.ignore_robots or robots.RobotsRules(rules, agent(self._settings)).allows(guess)
        return [guess] if allowed and rules.allowed is not False else []

    def _watch(self, store: Store, url: str, key: str = "", by_hand: bool = False) -> None:
        if url in self._watched:
            return
        noted = store.noted(NOTE + url)
        state = msgspec.json.decode(noted, type=ReportState) if noted else None
        reader = ReportReader(url, self._get, key, state, self._crawler)
        self._watched[url] = Watched(reader, self._settings.report_interval, self._taking(url), by_hand)

    def _get(self, url: str, most: int, etag: str) -> Answer:
        headers = {"If-None-Match": etag} if etag else {}
        reach = self._named.reach(url) if self._named is not None else PUBLIC
        return request(
            url, agent=agent(self._settings), headers=headers, proxy=self._settings.proxy,
            reach=reach, most=most, seconds=SECONDS,
        )  # fmt: skip

    def _taking(self, report: str) -> SiteTaking | None:
        """How the site of a report is reserved, if the settings say so for its host."""
        for text in self._settings.take_at:
            url, _, token = text.partition("#")
            if hostname(url) == hostname(report):

                def post(body: bytes, url: str = url, token: str = token) -> Answer:
                    return request(
                        url, agent=agent(self._settings), headers={"Authorization": f"Bearer {token}"}, body=body,
                        proxy=self._settings.proxy, reach=ANYWHERE, seconds=SECONDS,
                    )  # fmt: skip

                return SiteTaking(self._crawler, post, self._settings.take_reset)
        return None

    def give_back(self) -> None:
        for watched in self._watched.values():
            if watched.taking is not None:
                watched.taking.give_back()

    def step(self, pool: ThreadPoolExecutor, now: float) -> tuple[list[str], bool]:
        """Looks at the reports that are due; returns what to say, and whether all were looked at
        once.
        """
        said: list[str] = []
        for watched in self._watched.values():
            if watched.work is not None and watched.work.done():
                if line := watched.work.result():
                    said.append(line)
                watched.work = None
            if watched.work is None and watched.due <= now:
                watched.work = pool.submit(watched.look, self._folder)
        return said, self._discovered_at > 0 and all(watched.due for watched in self._watched.values())


def main(arguments: list[str]) -> int:
    folder = Folder(Path(arguments[0]))
    once = arguments[1:] == ["once"]
    settings, ended = companion.begin()
    listener = Listener(folder.path, settings)
    was_read = False
    with ThreadPoolExecutor(THREADS) as pool:
        while not ended.wait(0.1):
            now = clock.now()
            listener.discover(pool, now)
            said, all_read = listener.step(pool, now)
            if all_read and not was_read:
                was_read = True
                said.append(READ_ALL)
            for line in said:
                sys.stdout.write(line + "\n")
            sys.stdout.flush()
            if once and was_read and not settings.take_at:
                return 0
    listener.give_back()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
