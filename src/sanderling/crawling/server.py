"""Runs a crawl: the server's loop, and the client processes around it."""

import contextlib
import logging
import math
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from itertools import chain, islice

import msgspec

from sanderling import clock
from sanderling.crawling import extractors
from sanderling.crawling.control import Control
from sanderling.crawling.final_ranking import FinalRanking
from sanderling.crawling.frontier import Frontier
from sanderling.crawling.intake import Intake
from sanderling.crawling.ledger import Ledger
from sanderling.crawling.run_folder import run_folder
from sanderling.errors import DiskFull, StoreAway
from sanderling.files import write_whole
from sanderling.model import (
    PROTOCOL,
    Ask,
    ClientState,
    Command,
    Counts,
    Hello,
    Kind,
    Live,
    LiveAnswer,
    Recall,
    Report,
    State,
    Stop,
    Visit,
    Welcome,
)
from sanderling.model.reasons import reason, sentence
from sanderling.processes import entry_points
from sanderling.processes.companion import Companion
from sanderling.processes.crew import Crew
from sanderling.processes.descriptors import make_room_for_clients
from sanderling.processes.marker import marked, marker_path
from sanderling.refreshing.logbook import RefreshLog
from sanderling.refreshing.refresher import Refreshing, refreshing
from sanderling.refreshing.terms import Terms
from sanderling.repository import address, archives
from sanderling.repository.folder import Folder, hold
from sanderling.repository.opening import open_store
from sanderling.repository.store import ArchiveStore
from sanderling.server.client_time import in_server_time, lease_of
from sanderling.server.socket_switchboard import SocketSwitchboard
from sanderling.server.switchboard import ClientLine, Switchboard
from sanderling.server.throughput import Throughput
from sanderling.settings import Settings, dump
from sanderling.telling.messenger import Messenger

_log = logging.getLogger("sanderling")

# A client that says nothing for so long hangs in a parser; it is ended and replaced.
LONGEST_SILENCE = 60.0
LAST_WORDS = 1.5
# What webhooks have not been sent by then, they are sent by the next run.
LAST_DELIVERIES = 5.0
# How often a database that went away is looked for.
AWAY_PAUSE = 0.3
# Whoever asks within so many seconds gets the same answer, so that watching costs a crawl nothing however many watch.
ANSWER_AGE = 0.1
ACTIVE_HOSTS = 50
DISAPPOINTMENTS = 5


class CrawlProgress(msgspec.Struct, frozen=True):
    """How far a running crawl is."""

    counts: Counts
    leased: int
    hosts: int
    clients: int
    replaced: int
    seconds: float
    left: int | None  # pages until their limit
    time_left: float | None = None
    bytes_left: int | None = None
    away: bool = False  # the network
    refresh: Refreshing | None = None


OnProgress = Callable[[CrawlProgress], None]
OnVisits = Callable[[list[tuple[str, Visit]]], None]


class CrawlServer:
    """One crawl: owns the store and the clients from start to end."""

    def __init__(
        self, folder: Folder, settings: Settings, seeds: list[str], crew_size: int, again: bool = False,
        terms: Terms | None = None, retry: bool = False,
    ) -> None:  # fmt: skip
        """`again` visits every known page once more, `terms` those that deserve it; both ask only for what has changed.
        `retry` tries what failed once more."""
        self._folder = folder
        self._stopping = False
        self._sound = True  # until a write fails: then the totals in memory are not those in the store
        self._asked_to_stop: Callable[[], bool] = lambda: False
        self._away_since = 0.0
        self._back_since = -math.inf
        self.on_notice: Callable[[str], None] = _log.warning
        extractors.check(settings.extractors, folder.path)
        make_room_for_clients(crew_size)
        fresh = not folder.exists()
        folder.path.mkdir(exist_ok=True)
        folder.warcs.mkdir(exist_ok=True)
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as failed:
            self._lock = undo.enter_context(hold(folder))
            if fresh:
                failed.callback(folder.abandon)
                settings = msgspec.structs.replace(settings, store=address.located(settings.store, folder.path))
                write_whole(folder.settings, dump(settings, tuple(seeds)).encode())
            self._store = open_store(folder, readonly=False, while_away=self._while_away)
            undo.callback(self._store.close)
            if not self._store.counts().known:
                archives.require_none(folder.warcs)
            self.repaired = [*self._store.notices, *_mend(folder, self._store)]
            self._run_folder = undo.enter_context(run_folder(folder.path))
            self._switchboard: Switchboard = undo.enter_context(
                contextlib.closing(SocketSwitchboard(self._run_folder / "socket"))
            )
            failed.pop_all()
            self._crew = Crew(crew_size, self._client_command)
            self._refresh_log = RefreshLog(self._store)
            self._refresher = refreshing(folder.path, self._run_folder, terms) if terms is not None else None
            ledger = Ledger(self._store.counts())
            if retry:
                ledger.failed_retried()
                self._store.retry_failed(ledger.counts)
            self._frontier = Frontier(
                self._store, settings, seeds, folder.path, self._run_folder, again, self._refresher, crew_size, ledger
            )
            self._final_ranking = FinalRanking(self._store, folder.path, self._run_folder / "weights")
            undo.callback(self._final_ranking.close)
            self._control = Control(settings, folder.settings, self._frontier)
            self._throughput = Throughput()
            self._live: Live | None = None
            self._looked_at = 0.0
            indexer = entry_points.command("index", folder.path)
            self._indexer = Companion(indexer, wanted=settings.index)
            self._intake = Intake(self._store, settings, self._frontier, folder.warcs, retry)
            self.repaired += self._intake.notices
            self._messenger = Messenger(folder, settings, self._store.newest_version())
            undo.callback(self._messenger.close)
            self._blamed: Counter[int] = Counter()
            self._wants: dict[ClientLine, int] = {}
            self.set_aside: list[int] = []
            self._extractor_failures = extractors.ExtractorFailures()
            self.on_visits: OnVisits | None = None
            self._undo = undo.pop_all()

    def run(self, on_progress: OnProgress, asked_to_stop: Callable[[], bool]) -> CrawlProgress:
        """Crawls until the scope is exhausted, a limit is met or it is asked to stop."""
        ticked = 0.0
        self._asked_to_stop = asked_to_stop
        self._frontier.network.on_notice = self.on_notice
        if self._refresher is not None:
            self._refresher.on_notice = self.on_notice
        try:
            self._messenger.start()
            if not self._frontier.exhausted():
                self._crew.fill()
            while self._goes_on() and not asked_to_stop():
                self._serve(0.1)
                now = time.monotonic()
                if now - ticked >= 0.2:
                    ticked = now
                    self._tick()
                    progress = self.progress()
                    self._refresh_log.see(progress.refresh, clock.now())
                    on_progress(progress)
            if not self.stopped:
                self._final_ranking.begin(self._frontier.ledger.counts)
        except Exception:
            self._sound = False
            raise
        finally:
            self._stop()
        self._final_ranking.finish(asked_to_stop)
        progress = self.progress()
        with contextlib.suppress(StoreAway):
            self._refresh_log.see(progress.refresh, clock.now(), ends=True)
        return progress

    def close(self) -> None:
        self._undo.close()

    @property
    def settings(self) -> Settings:
        """As they are now: some may be changed while it runs."""
        return self._control.settings

    @property
    def stopped(self) -> bool:
        """Whether somebody had enough of it."""
        return self._asked_to_stop() or self._control.told_to_stop

    def first_disappointments(self) -> list[tuple[str, str]]:
        """Some URLs that brought no page, and why."""
        states = (State.FAILED, State.EXCLUDED, State.QUEUED)
        rows = chain(self._store.pages(), *map(self._store.unanswered, states))
        return [
            (row.url, row.reason or (sentence(reason("status", row.status)) if row.status else "not visited yet"))
            for row in islice(rows, DISAPPOINTMENTS)
        ]

    def _goes_on(self) -> bool:
        if self._control.told_to_stop or self._control.time_left == 0:
            return False
        return self._control.paused or not self._frontier.exhausted()

    def progress(self) -> CrawlProgress:
        counts, limits = self._frontier.ledger.counts, self._control.settings
        return CrawlProgress(
            counts, self._frontier.allocator.leased, self._frontier.allocator.hosts, len(self._wants), self._crew.replaced,
            self._control.seconds,
            max(0, limits.max_pages - counts.pages) if limits.max_pages is not None else None,
            self._control.time_left,
            max(0, limits.max_bytes - counts.bytes) if limits.max_bytes is not None else None,
            self._frontier.network.away,
            self._refresher.progress(self._frontier.observer.spared) if self._refresher is not None else None,
        )  # fmt: skip

    def _serve(self, timeout: float) -> None:
        arrived, lost = self._switchboard.poll(timeout)
        for line, message in arrived:
            line.heard = time.monotonic()
            if isinstance(message, Hello):
                self._welcome(line, message)
            elif isinstance(message, Report):
                self._take_in(in_server_time(message, line.clock))
                line.visits += len(message.visits)
                self._wants[line] = message.want
            else:
                self._answer(line, message)
        for line in lost:
            self._lose(line)
        for line, want in list(self._wants.items()):
            self._feed(line, want)

    def _answer(self, line: ClientLine, message: Ask | Command) -> None:
        problem = ""
        if isinstance(message, Command):
            problem = self._control.follow(message)
            self._live = None
            if not problem and message.action in ("pause", "change"):
                self._recall()
        if self._live is None or time.monotonic() - self._looked_at > ANSWER_AGE:
            self._live, self._looked_at = self._look(), time.monotonic()
        self._switchboard.send(line, LiveAnswer(self._live, problem))

    def _look(self) -> Live:
        progress, now, held = self.progress(), time.monotonic(), self._frontier.allocator.holdings()
        pages, visits, size = self._throughput.rates
        return Live(
            at=time.time(), pid=os.getpid(), seconds=progress.seconds, paused=self._control.paused,
            stopping=self._stopping or self._control.told_to_stop, counts=progress.counts, leased=progress.leased,
            waiting=self._frontier.waiting, hosts=progress.hosts, left=progress.left, replaced=progress.replaced, lists=self._frontier.list_lengths(),
            pages_per_second=pages, visits_per_second=visits, bytes_per_second=size,
            clients=[self._state_of(each, held[each.client], now) for each in self._wants],
            active=self._frontier.allocator.active(ACTIVE_HOSTS), mishaps=self._throughput.mishaps,
            away=progress.away, rejudging=self._frontier.rescoping.running,
        )  # fmt: skip

    def _state_of(self, line: ClientLine, held: int, now: float) -> ClientState:
        pace = self._frontier.allocator.paces[line.client]
        return ClientState(
            line.client, self._crew.pid(line.client), held, line.visits, now - line.heard, pace.visits_per_second, pace.bytes_per_second,
            pace.failing, pace.late, pace.share,
        )  # fmt: skip

    def _tick(self) -> None:
        self._throughput.sample(self._frontier.ledger.counts, time.monotonic())
        self._frontier.tick(clock.now())
        if complaint := self._indexer.step():
            self.on_notice(f"the search index is not kept up: {complaint}")
        for notice in self._messenger.step():
            self.on_notice(notice)
        for line in list(self._switchboard.lines):
            if line.client and max(line.heard, self._back_since) < time.monotonic() - LONGEST_SILENCE:
                self._lose(line)
        known = {line.client for line in self._switchboard.lines}
        for name in self._crew.died_silently():
            if name not in known:
                self._crew.bury(name)
        self._crew.fill()
        if self._back_since < time.monotonic() - LONGEST_SILENCE:
            overdue = self._frontier.allocator.expired(time.monotonic())
            for line in [line for line in self._switchboard.lines if line.client in overdue]:
                self._lose(line)
        if shutil.disk_usage(self._folder.path).free < self._control.settings.min_free:
            raise DiskFull(
                f"stopped with less than {self._control.settings.min_free >> 20} MiB free on the disk; nothing is lost: "
                "free some space and run it again"
            )

    def _stop(self) -> None:
        self._stopping = True
        self._frontier.reranker.close()
        if self._frontier.collection is not None:
            self._frontier.collection.close()
        if self._refresher is not None:
            self._refresher.schedule.close()
        self._indexer.dismiss()
        for line in self._switchboard.lines:
            self._switchboard.send(line, Stop())
        at_work = {line.client for line in self._wants}
        deadline = time.monotonic() + LAST_WORDS
        try:
            while self._sound and self._wants and time.monotonic() < deadline:
                self._serve(0.05)
        except (DiskFull, StoreAway):
            self._sound = False
        self._crew.disband(max(0.0, deadline - time.monotonic()), at_work)
        self._indexer.close()
        with contextlib.suppress(DiskFull, StoreAway):  # then it is done when the crawl goes on
            if self._sound:
                self._intake.close()
                self._frontier.close()
            archives.set_aside(self._folder.warcs, self._store.warcs())
        for notice in self._messenger.finish(LAST_DELIVERIES if not self._asked_to_stop() else 0.0):
            self.on_notice(notice)

    def _while_away(self, reason: str) -> None:
        """Waits for a database that went away; clients go on with what they hold, and what they say is kept for later."""
        now = time.monotonic()
        if not reason:
            self.on_notice(f"the database is back after {now - self._away_since:.1f} s; the crawl goes on")
            self._away_since, self._back_since = 0.0, now
            return
        if not self._away_since:
            self._away_since = now
            self.on_notice(f"the database went away ({reason}); the crawl waits for it")
        if self._stopping or self._asked_to_stop():
            raise StoreAway("stopped while the database was away; nothing committed is lost: run it again to go on")
        time.sleep(AWAY_PAUSE)

    def _take_in(self, report: Report) -> None:
        pace = self._frontier.allocator.paces.get(report.client)
        if pace is not None:
            pace.hear(report.visits, time.monotonic())
        self._frontier.allocator.take_back(report.client, report.returned)
        used_up = self._frontier.bytes_are_used_up()
        visits = self._intake.take_in(report)
        if self._frontier.bytes_are_used_up() and not used_up:
            self._recall()
        self._throughput.note(visits)
        if self._control.settings.extractors:
            for notice in self._extractor_failures.new((url, v.failed_extractors) for url, v in visits):
                self.on_notice(notice)
        if report.visits:
            self._crew.went_well()
        if visits and self.on_visits is not None:
            self.on_visits(visits)

    def _client_command(self, name: str) -> list[str]:
        """How a client on this machine is started: what is local to it is told here and not by message."""
        socket, marker = self._run_folder / "socket", marker_path(self._run_folder, name)
        return entry_points.command("client", name, socket, self._folder.warcs.absolute(), marker)

    def _welcome(self, line: ClientLine, hello: Hello) -> None:
        if hello.protocol != PROTOCOL or self._stopping:
            self._switchboard.drop(line)
            return
        line.client = hello.client
        self._frontier.allocator.join(hello.client)
        self._wants[line] = 0
        settings = msgspec.json.encode(
            msgspec.structs.replace(self._control.settings, store="", webhook=())
        )  # no business of clients
        self._switchboard.send(line, Welcome(settings))

    def _feed(self, line: ClientLine, want: int) -> None:
        if want <= 0 or self._stopping or self._control.paused:
            return
        hosts = self._frontier.lease(line.client, want)
        if hosts:
            self._wants[line] = want - sum(len(part.tasks) for part in hosts)
            self._switchboard.send(line, lease_of(hosts))

    def _recall(self) -> None:
        """Has clients give back what they have not begun."""
        for line in self._wants:
            self._switchboard.send(line, Recall())

    def _lose(self, line: ClientLine) -> None:
        """Takes back what a client held; a page that was being parsed when it died twice is set aside."""
        self._switchboard.drop(line)
        if self._wants.pop(line, None) is None:
            return
        if self._stopping:
            return
        self._crew.bury(line.client)
        archives.set_aside(self._folder.warcs, self._store.warcs(), line.client)
        suspect = marked(marker_path(self._run_folder, line.client))
        doomed = 0
        if suspect and (task := self._frontier.allocator.held(line.client, suspect)):
            self._blamed[suspect] += 1
            if self._blamed[suspect] >= 2:
                doomed = suspect
                if task.kind == Kind.PAGE:
                    state = State(self._store.known([doomed])[doomed][1])
                    self._frontier.ledger.set_aside(state, self._store.before([doomed]).get(doomed))
                self._store.set_aside(doomed, reason("set-aside"), self._frontier.ledger.counts)
                self.set_aside.append(doomed)
        self._frontier.allocator.leave(line.client, doomed)


def _mend(folder: Folder, store: ArchiveStore) -> list[str]:
    """Sets uncommitted bytes aside, and has pages fetched again whose archive lost bytes; says what was done."""
    done = archives.set_aside(folder.warcs, store.warcs())
    for short in archives.shortages(folder.warcs, store.warcs()):
        pages = store.distrust(short.name, short.size, short.committed)
        done.append(f"{short}: {pages:,} pages in it will be fetched again at their next visit")
    return done
