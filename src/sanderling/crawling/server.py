"""Runs a crawl: the server's loop, with the processes beside it. `opening`, `assembly`, `clients`
and `status` do the rest."""

import contextlib
import logging
import shutil
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sanderling import clock
from sanderling.crawling import beginning, extractors, inbox
from sanderling.crawling import topic as topics
from sanderling.crawling.assembly import Purpose, assemble
from sanderling.crawling.clients import Clients
from sanderling.crawling.control import Control
from sanderling.crawling.crews import Begin, on_cluster, on_this_machine
from sanderling.crawling.final_ranking import FinalRanking
from sanderling.crawling.opening import new_archives, open_crawl
from sanderling.crawling.sizing import Sizing
from sanderling.crawling.status import CrawlProgress, CrawlStatus, OnProgress, first_disappointments
from sanderling.crawling.store_absence import StoreAbsence
from sanderling.errors import DiskFull, StoreAway
from sanderling.model import Ask, Command, Hello, LiveAnswer, MachineState, Report, Told, VisitReply
from sanderling.network import unknown_through_proxy
from sanderling.processes import entry_points
from sanderling.processes.companion import Companion
from sanderling.processes.descriptors import make_room_for_clients
from sanderling.refreshing.logbook import RefreshLog
from sanderling.refreshing.refresher import Refresher, refreshing
from sanderling.refreshing.terms import Terms
from sanderling.repository import archives, fencing
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.server.client_time import in_server_time
from sanderling.server.switchboard import ClientLine
from sanderling.server.throughput import Throughput
from sanderling.settings import Settings, revealed
from sanderling.telling import baseline
from sanderling.telling.messenger import Messenger
from sanderling.urls import identity, origin

if TYPE_CHECKING:  # loaded only by a refresh, or a crawl with a topic
    from sanderling.crawling.report_watch import ReportWatch
    from sanderling.topics.model import Topic

_log = logging.getLogger("sanderling")

# Seconds between two rounds of what is done now and then.
TICK = 0.2
# Seconds between two looks for messages that sources left in the folder.
INBOX_EVERY = 2.0
# How long clients have for their last reports.
LAST_WORDS = 1.5
# What webhooks have not been sent by then, they are sent by the next run.
LAST_DELIVERIES = 5.0
# What clients have to say, beyond which nobody reads on.
MOST_NOTICES = 20


class CrawlServer:
    """One crawl: owns the store and the clients from start to end."""

    def __init__(
        self, folder: Folder, settings: Settings, seeds: list[str], crew_size: int, again: bool = False,
        terms: Terms | None = None, retry: bool = False, topic: "Topic | None" = None, begin: Begin | None = None,
    ) -> None:  # fmt: skip
        """`again` visits every known page once more, `terms` those that deserve it; both ask only
        for what has changed. `retry` tries what failed once more. `topic` becomes the topic of the
        crawl. `begin` starts clients in another way than the settings say."""
        self._folder = folder
        self._again = again
        self._stopping = False
        self._inbox_at = 0.0
        self._sound = True  # until a write fails: then the totals in memory are not those in the store
        self._asked_to_stop: Callable[[], bool] = lambda: False
        self.on_notice: Callable[[str], None] = _log.warning
        self._said: set[str] = set()  # what clients wanted to be said
        self.on_commit: Callable[[], None] = lambda: None
        self._extractor_failures = extractors.ExtractorFailures()
        extractors.check(settings.extractors, folder.path)
        told = revealed(settings)  # what is missing is said before anything is made
        if told.login:
            from sanderling.client import sessions

            sessions.check(told)
        topic = topic or topics.topic_of(settings, folder)
        make_room_for_clients(crew_size)
        with contextlib.ExitStack() as undo:
            self._absence = StoreAbsence(self._notify, self._is_ending)
            begin = begin or (on_cluster(folder, settings, undo) if settings.cluster else on_this_machine)
            opened = open_crawl(folder, settings, seeds, undo, self._absence.wait)
            settings = opened.settings
            topics.keep(topic, folder)
            judged_anew = topics.judge_stored(opened.store, folder, settings, topic)
            self._store = opened.store
            sizing = Sizing(settings.min_clients, crew_size, opened.store) if settings.min_clients else None
            self._switchboard, self._crew = begin(sizing.size if sizing else crew_size, opened, folder)
            self._new_archives, self._published = new_archives(folder.warcs, opened.run_folder), set[str]()
            refresher = refreshing(folder.path, opened.run_folder, terms) if terms is not None else None
            parts = assemble(
                opened.store, settings, seeds, folder, opened.run_folder, crew_size, Purpose(again, refresher, retry),
                topic,
            )  # fmt: skip
            self.harvest, self.enough = parts.harvest, ""
            self._frontier, self._intake, self._visit_requests = parts.frontier, parts.intake, parts.visit_requests
            self._told_pages = parts.told_pages
            self._limits, self._detection, self._ledger = parts.limits, parts.detection, parts.ledger
            self.repaired = [*opened.notices, *judged_anew, *parts.notices, *parts.detection.apply_rules()]
            if unknown := unknown_through_proxy(settings):
                self.repaired.append(unknown)
            self._control = Control(settings, folder.settings, parts.frontier)
            self._throughput = Throughput()
            self._clients = Clients(
                self._crew, self._switchboard, opened.store, parts.ledger, parts.allocator, parts.frontier,
                self._control, folder.warcs, topics.for_clients(topic), sizing,
            )  # fmt: skip
            self._status = CrawlStatus(
                parts.ledger, parts.limits, parts.allocator, parts.frontier, refresher, parts.observer, self._control,
                self._clients, self._throughput,
            )  # fmt: skip
            self._refresh_log = RefreshLog(opened.store)
            self._final_ranking = FinalRanking(opened.store, folder.path, opened.run_folder / "weights")
            undo.callback(self._final_ranking.close)
            self._indexer = Companion(entry_points.command("index", folder.path), wanted=settings.index)
            newest = opened.store.newest_version()
            baseline.begin(opened.store, newest, parts.ledger.counts.pages, again or terms is not None)
            self._report_watch = _report_watch(folder, settings, opened.store, refresher)
            self._messenger = Messenger(folder, settings, newest)
            undo.callback(self._messenger.close)
            self._undo = undo.pop_all()

    # ---- from outside

    @property
    def store(self) -> Store:
        """For the thread that runs the server."""
        return self._store

    @property
    def settings(self) -> Settings:
        """As they are now: some may be changed while it runs."""
        return self._control.settings

    @property
    def stopped(self) -> bool:
        """Whether somebody had enough of it."""
        return self._asked_to_stop() or self._control.told_to_stop

    @property
    def set_aside(self) -> list[int]:
        """Pages that ended client processes and are not visited again."""
        return self._clients.set_aside

    @property
    def machines(self) -> list[MachineState]:
        """The machines of the cluster, with what came from each."""
        return self._clients.machines

    @property
    def unreachable(self) -> list[str]:
        """Hosts that answered before and were still away when the run stopped waiting for them."""
        return self._frontier.outages.given_up

    def progress(self) -> CrawlProgress:
        return self._status.progress()

    def first_disappointments(self) -> list[tuple[str, str]]:
        """Some URLs that brought no page, and why."""
        return first_disappointments(self._store)

    def close(self) -> None:
        self._undo.close()

    # ---- the loop

    def run(self, on_progress: OnProgress, asked_to_stop: Callable[[], bool]) -> CrawlProgress:
        """Crawls until the scope is exhausted, a limit is met or it is asked to stop."""
        self._asked_to_stop = asked_to_stop
        self._frontier.notify(self._notify)
        self._crew.on_notice = self._notify
        try:
            self._messenger.start()
            if not self._frontier.exhausted():
                self._clients.start()
            self._loop(on_progress)
            if not self.stopped:
                self._final_ranking.begin(self._ledger.counts)
                if self._again and self._control.time_left != 0 and self._limits.bytes_left != 0:
                    beginning.end_round(self._store)
        except Exception:
            self._sound = False
            raise
        finally:
            self._stop()
        self._final_ranking.finish(asked_to_stop)
        progress = self.progress()
        with contextlib.suppress(StoreAway):
            if not progress.counts.queued:
                baseline.close(self._store, self._store.newest_version(), progress.counts.pages)
            self._refresh_log.see(progress.refresh, clock.now(), ends=True)
        return progress

    def _loop(self, on_progress: OnProgress) -> None:
        ticked = 0.0
        while self._goes_on() and not self._asked_to_stop():
            self._serve(0.1)
            now = time.monotonic()
            if now - ticked >= TICK:
                ticked = now
                self._tick()
                progress = self.progress()
                self._refresh_log.see(progress.refresh, clock.now())
                on_progress(progress)

    def _goes_on(self) -> bool:
        if self._control.told_to_stop or self._control.time_left == 0:
            return False
        if self.harvest is not None and (enough := self.harvest.enough()):
            self.enough = enough
            self._notify(f"stops: {enough}")
            return False
        return self._control.paused or not self._frontier.exhausted()

    def _serve(self, timeout: float) -> None:
        """Takes in what has arrived, and feeds the clients."""
        arrived, lost = self._switchboard.poll(timeout)
        for line, message in arrived:
            line.heard = time.monotonic()
            if isinstance(message, Hello):
                self._clients.welcome(line, message)
            elif isinstance(message, Report):
                self._take_in(in_server_time(message, line.clock))
                self._clients.reported(line, message)
            else:
                self._answer(line, message)
        self._clients.lose(lost)
        self._clients.feed()

    def _take_in(self, report: Report) -> None:
        self._frontier.reported(report)
        self._publish(report)
        bytes_left = self._limits.bytes_left
        visits = self._intake.take_in(report)
        if bytes_left and self._limits.bytes_left == 0:
            self._clients.recall()
        self._throughput.note(visits)
        self._throughput.time(report.looked_up, report.fetched)
        if self.settings.extractors:
            for notice in self._extractor_failures.new((url, visit.failed_extractors) for url, visit in visits):
                self._notify(notice)
        for notice in report.notices:
            self._say_once(notice)
        self.on_commit()

    def _say_once(self, notice: str) -> None:
        """Clients on one machine notice the same things."""
        if notice not in self._said and len(self._said) < MOST_NOTICES:
            self._said.add(notice)
            self._notify(notice)

    def _publish(self, report: Report) -> None:
        """Moves the new archives of a report to the others, before the commit that names them."""
        if new := report.warcs.keys() - self._published:
            fencing.publish(self._new_archives, new)
            self._published |= new

    def _answer(self, line: ClientLine, message: Ask | Command | Told) -> None:
        """Answers somebody who asks from outside, after doing what is wanted."""
        problem, replies = "", list[VisitReply]()
        if isinstance(message, Told):
            problem = self._told_pages.take_in(message)
        elif isinstance(message, Command):
            if message.action == "visit":
                replies = self._visit_requests.follow(message.urls)
            else:
                problem = self._control.follow(message)
            self._status.forget()
            if not problem and message.action in ("pause", "change", "visit"):
                self._clients.recall()
        self._switchboard.send(line, LiveAnswer(self._status.live(self._stopping), problem, replies))

    def _tick(self) -> None:
        """What is done now and then."""
        self._throughput.sample(self._ledger.counts, time.monotonic())
        self._frontier.tick(clock.now())
        self._take_up_messages()
        if self._report_watch is not None:
            for notice in self._report_watch.step():
                self._notify(notice)
        if self.harvest is not None and (remark := self.harvest.remark()):
            self._notify(remark)
        if complaint := self._indexer.step():
            self._notify(f"the search index is not kept up: {complaint}")
        for notice in self._messenger.step():
            self._notify(notice)
        self._clients.replace_dead(self._absence.back_since)
        least = self.settings.min_free
        if shutil.disk_usage(self._folder.path).free < least:
            raise DiskFull(
                f"stopped with less than {least >> 20} MiB free on the disk; nothing is lost: "
                "free some space and run it again"
            )

    def _take_up_messages(self) -> None:
        """Takes in what sources said while nobody listened."""
        if time.monotonic() < self._inbox_at:
            return
        self._inbox_at = time.monotonic() + INBOX_EVERY
        self._told_pages.step(clock.now())
        for path, told in inbox.waiting(self._folder.path):
            if told is not None and (problem := self._told_pages.take_in(told)):
                self._notify(f"a message of {told.origin} is not believed: {problem}")
            path.unlink(missing_ok=True)

    def _stop(self) -> None:
        """Takes the last reports of the clients, and ends all processes."""
        self._stopping = True
        self._frontier.end_jobs()
        if self._report_watch is not None:
            self._report_watch.close()
        self._indexer.dismiss()
        at_work = self._clients.dismiss()
        deadline = time.monotonic() + LAST_WORDS
        try:
            while self._sound and self._clients.connected and time.monotonic() < deadline:
                self._serve(0.05)
        except (DiskFull, StoreAway):
            self._sound = False
        self._clients.disband(max(0.0, deadline - time.monotonic()), at_work)
        self._indexer.close()
        with contextlib.suppress(DiskFull, StoreAway):  # then it is done when the crawl goes on
            if self._sound:
                self._detection.close()
                self._frontier.close()
            archives.set_aside(self._folder.warcs, self._store.warcs())
        for notice in self._messenger.finish(LAST_DELIVERIES if not self._asked_to_stop() else 0.0):
            self._notify(notice)

    def _notify(self, text: str) -> None:
        self.on_notice(text)

    def _is_ending(self) -> bool:
        return self._stopping or self._asked_to_stop()


def _report_watch(
    folder: Folder, settings: Settings, store: Store, refresher: Refresher | None
) -> "ReportWatch | None":
    """Reads what sites announce, beside a refresh."""
    if refresher is None or not settings.reports:
        return None
    from sanderling.crawling.report_watch import ReportWatch

    homes = (store.host(identity(origin(seed))) for seed in store.seeds())
    watch = ReportWatch(folder, settings, [home for home in homes if home is not None], refresher.forever)
    refresher.waits = lambda: watch.reading
    return watch
