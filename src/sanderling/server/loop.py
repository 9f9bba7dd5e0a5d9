"""Runs a crawl: the server's loop, with the processes beside it. `opening`, `assembly`, `clients`
and `status` do the rest."""

import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling import clock
from sanderling.errors import DiskFull, StoreAway
from sanderling.model import Ask, Command, Hello, LiveAnswer, MachineState, PageRow, Told, VisitReply, VisitReport
from sanderling.network import unknown_through_proxy
from sanderling.processes import entry_points
from sanderling.processes.companion import Companion
from sanderling.processes.descriptors import make_room_for_clients
from sanderling.repository import archives, fencing
from sanderling.repository.disk import disk_trouble
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.server import extractors
from sanderling.server.assembly import Purpose, assemble
from sanderling.server.frontier import beginning
from sanderling.server.kept_files import KeptFiles
from sanderling.server.members.client_time import in_server_time
from sanderling.server.members.clients import Clients
from sanderling.server.members.crews import Place, on_this_machine
from sanderling.server.members.sizing import Sizing
from sanderling.server.members.switchboard import ClientLine
from sanderling.server.opening import new_archives, open_crawl
from sanderling.server.ranking.final_ranking import FinalRanking
from sanderling.server.requests import inbox
from sanderling.server.requests.control import Control
from sanderling.server.requests.status import CrawlProgress, CrawlStatus, OnProgress, first_seeds, sample_failures
from sanderling.server.requests.throughput import Throughput
from sanderling.server.revisits.logbook import RefreshLog
from sanderling.server.revisits.observer import Observer
from sanderling.server.revisits.refresher import Beside, Refresher, refreshing
from sanderling.server.revisits.terms import Terms
from sanderling.server.store_absence import StoreAbsence
from sanderling.server.topic import topic as topics
from sanderling.server.uploads import Uploads
from sanderling.settings import Settings, revealed
from sanderling.telling import baseline
from sanderling.telling.messenger import Messenger
from sanderling.urls import identity, origin

if TYPE_CHECKING:  # loaded only by a refresh, or a crawl with a topic
    from sanderling.server.revisits.report_watch import ReportWatch
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
# Where the next run is another turn, as short as this one, they may take as long as one delivery.
DELIVERIES_OF_A_TURN = 30.0
# A user reads no more messages of clients than this.
MOST_MESSAGES = 20


class CrawlServer:
    """One crawl: owns the store and the clients from start to end."""

    def __init__(
        self, folder: Folder, settings: Settings, seeds: list[str], crew_size: int, again: bool = False,
        terms: Terms | None = None, retry: bool = False, topic: "Topic | None" = None, place: Place = on_this_machine,
    ) -> None:  # fmt: skip
        """`again` visits every known page once more, `terms` those that deserve it; both ask only
        for what has changed. `retry` tries what failed once more. `topic` becomes the topic of the
        crawl. `place` says where clients run."""
        self._folder = folder
        self._again = again
        self._stopping = False
        self._inbox_at = 0.0
        self._sound = True  # until a write fails: then the totals in memory are not those in the store
        self._asked_to_stop: Callable[[], bool] = lambda: False
        self._is_done: Callable[[], bool] = lambda: False
        self.on_message: Callable[[str], None] = _log.warning
        self._said: set[str] = set()  # what clients wanted to be said
        self.on_commit: Callable[[], None] = lambda: None
        self._extractor_failures = extractors.ExtractorFailures()
        loaded = extractors.check(settings, folder.path)
        told = revealed(settings)  # what is missing is said before anything is made
        if told.login:
            from sanderling.client import sessions

            sessions.check(told)
        topic = topic or topics.topic_of(settings, folder)
        make_room_for_clients(crew_size)
        with contextlib.ExitStack() as undo:
            self._absence = StoreAbsence(self._notify, self._is_ending)
            begin = place(folder, settings, undo)
            with disk_trouble():
                opened = open_crawl(folder, settings, seeds, undo, self._absence.wait)
            settings = opened.settings
            if loaded:
                extractors.note_keys(loaded, opened.store)
            topics.keep(topic, folder)
            judged_anew = topics.judge_stored(opened.store, folder, settings, topic)
            self._store = opened.store
            self._kept_files = KeptFiles(folder)
            sizing = Sizing(settings.min_clients, crew_size, opened.store) if settings.min_clients else None
            self._switchboard, self._crew = begin(sizing.size if sizing else crew_size, opened, folder)
            self._new_archives, self._published = new_archives(folder.warcs, opened.run_folder), set[str]()
            self.finishes_round = again and bool(opened.store.noted(beginning.ROUND))
            self._report_watch: ReportWatch | None = None
            refresher = self._refresher_for(terms, settings, opened.run_folder) if terms is not None else None
            parts = assemble(
                opened.store, settings, seeds, folder, opened.run_folder, crew_size, Purpose(again, refresher, retry),
                topic, self._notify,
            )  # fmt: skip
            self.harvest, self.enough = parts.harvest, ""
            self._frontier, self._intake, self._detection = parts.frontier, parts.intake, parts.detection
            self._visit_requests, self._change_hints = parts.visit_requests, parts.change_hints
            self.repaired = [*opened.messages, *judged_anew, *parts.messages, *parts.detection.apply_rules()]
            if unknown := unknown_through_proxy(settings):
                self.repaired.append(unknown)
            self._control = Control(settings, folder.settings, parts.frontier)
            self._throughput = Throughput()
            self._clients = Clients(
                self._crew, self._switchboard, opened.store, parts.ledger, parts.frontier, self._control, folder.warcs,
                topics.for_clients(topic), sizing,
            )  # fmt: skip
            self._status = CrawlStatus(
                parts.frontier, parts.refresher, parts.observer, self._control, self._clients, self._throughput
            )
            self._refresh_log = RefreshLog(opened.store)
            self._uploads = Uploads(folder.warcs, settings.archive or "", opened.store.warcs)
            self._final_ranking = FinalRanking(opened.store, folder.path, opened.run_folder / "weights")
            undo.callback(self._final_ranking.close)
            self._indexer = Companion(entry_points.command("index", folder.path), wanted=settings.index)
            newest = opened.store.newest_version()
            pages, urls = self._frontier.counts.pages, opened.store.last_number()
            baseline.begin(opened.store, newest, pages, urls, again or terms is not None)
            self._report_watch = _report_watch(folder, settings, opened.store, terms, again)
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
        return self._frontier.unreachable

    def progress(self) -> CrawlProgress:
        return self._status.progress()

    def sample_failures(self) -> list[tuple[str, str]]:
        """Some URLs that brought no page, and why."""
        return sample_failures(self._store)

    def held_reasons(self) -> dict[str, int]:
        """For each reason how many URLs are held back."""
        return self._store.held_reasons()

    def excluded_reasons(self) -> dict[str, int]:
        """For each reason how many URLs are not followed."""
        return self._store.excluded_reasons()

    def first_seeds(self) -> list[PageRow]:
        """Some seeds, and what brought no page."""
        return first_seeds(self._store)

    def visit(self, urls: Iterable[str]) -> list[VisitReply]:
        """Has URLs visited before everything else."""
        return self._visit_requests.follow(urls)

    def failing(self, url: str) -> bool:
        """Whether the last visits to a watched page failed."""
        return self._intake.troubles.failing(url)

    @property
    def awaiting(self) -> int:
        """How many pages that were asked for have not been visited yet."""
        return self._frontier.awaiting

    def close(self) -> None:
        self._undo.close()

    # ---- the loop

    def run(
        self, on_progress: OnProgress, asked_to_stop: Callable[[], bool], is_done: Callable[[], bool] = lambda: False
    ) -> CrawlProgress:
        """Crawls until the scope is exhausted, a limit is met, what it was begun for `is_done`, or
        it is asked to stop."""
        self._asked_to_stop, self._is_done = asked_to_stop, is_done
        self._crew.on_message = self._notify
        try:
            self._messenger.start()
            if not self._frontier.exhausted():
                self._clients.start()
            with disk_trouble():
                self._loop(on_progress)
            self._kept_files.check(self._published)
            if not self.stopped:
                self._final_ranking.begin(self._frontier.counts)
                complete = self._control.time_left != 0 and self._frontier.limits.bytes_left != 0
                if self._again and complete and not self._change_hints.taken:
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
                newest, urls = self._store.newest_version(), self._store.last_number()
                baseline.close(self._store, newest, progress.counts.pages, urls)
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
        return not self._is_done() and (self._control.paused or not self._frontier.exhausted())

    def _serve(self, timeout: float) -> None:
        """Takes in what has arrived, and feeds the clients."""
        arrived, lost = self._switchboard.poll(timeout)
        for line, message in arrived:
            line.heard = time.monotonic()
            if isinstance(message, Hello):
                self._clients.welcome(line, message)
            elif isinstance(message, VisitReport):
                self._take_in(in_server_time(message, line.clock))
                self._clients.reported(line, message)
            else:
                self._answer(line, message)
        self._clients.lose(lost)
        if not (self._again and self._is_reading()):  # a site may be taken by another crawler
            self._clients.feed()

    def _take_in(self, report: VisitReport) -> None:
        self._publish(report)
        bytes_left = self._frontier.limits.bytes_left
        visits = self._intake.take_in(report)
        if bytes_left and self._frontier.limits.bytes_left == 0:
            self._clients.recall()
        self._throughput.note(visits)
        self._throughput.time(report.looked_up, report.fetched)
        if self.settings.extractors:
            for message in self._extractor_failures.new((url, visit.failed_extractors) for url, visit in visits):
                self._notify(message)
        for message in [*report.messages, *self._intake.detection.remarks()]:
            self._say_once(message)
        self.on_commit()

    def _say_once(self, message: str) -> None:
        """Clients on one machine notice the same things."""
        if message not in self._said and len(self._said) < MOST_MESSAGES:
            self._said.add(message)
            self._notify(message)

    def _publish(self, report: VisitReport) -> None:
        """Moves the new archives of a report to the others, before the commit that names them."""
        if new := report.warcs.keys() - self._published:
            fencing.publish(self._new_archives, new)
            self._published |= new

    def _answer(self, line: ClientLine, message: Ask | Command | Told) -> None:
        """Answers somebody who asks from outside, after doing what is wanted."""
        problem, replies = "", list[VisitReply]()
        if isinstance(message, Told):
            problem = self._change_hints.take_in(message)
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
        self._throughput.sample(self._frontier.counts, time.monotonic())
        self._frontier.tick(clock.now())
        self._take_up_messages()
        if self._report_watch is not None:
            for message in self._report_watch.step():
                self._notify(message)
        if self.harvest is not None and (remark := self.harvest.remark()):
            self._notify(remark)
        if complaint := self._indexer.step():
            self._notify(f"the search index is not kept up: {complaint}")
        for message in [*self._messenger.step(), *self._uploads.step()]:
            self._notify(message)
        self._clients.replace_dead(self._absence.back_since)
        least = self.settings.min_free
        if shutil.disk_usage(self._folder.path).free < least:
            raise DiskFull(
                f"stopped with less than {least >> 20} MiB free on the disk; nothing is lost: "
                "free some space and run it again"
            )

    def _take_up_messages(self) -> None:
        """Takes in what sources said while no crawl ran."""
        if time.monotonic() < self._inbox_at:
            return
        self._inbox_at = time.monotonic() + INBOX_EVERY
        self._kept_files.check(self._published)
        self._change_hints.step(clock.now())
        for path, told in inbox.waiting(self._folder.path):
            if told is not None and (problem := self._change_hints.take_in(told)):
                self._notify(f"ignored a change hint from {told.origin}: {problem}")
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
            with disk_trouble():
                while self._sound and self._clients.connected and time.monotonic() < deadline:
                    self._serve(0.05)
        except (DiskFull, StoreAway):
            self._sound = False
        self._clients.disband(max(0.0, deadline - time.monotonic()), at_work)
        self._indexer.close()
        with contextlib.suppress(DiskFull, StoreAway), disk_trouble():  # then it is done when the crawl goes on
            if self._sound:
                self._detection.close()
                self._frontier.close()
            archives.set_aside(self._folder.warcs, self._store.warcs())
            for message in self._uploads.finish(self._asked_to_stop):
                self._notify(message)
        patience = DELIVERIES_OF_A_TURN if self._is_done() else LAST_DELIVERIES
        for message in self._messenger.finish(patience if not self._asked_to_stop() else 0.0):
            self._notify(message)

    def _notify(self, text: str) -> None:
        self.on_message(text)

    def _refresher_for(self, terms: Terms, settings: Settings, run_folder: Path) -> Callable[[Observer], Refresher]:
        """How the refresher of a run is made."""
        return lambda observer: refreshing(
            self._folder.path,
            run_folder,
            terms,
            settings.always,
            Beside(observer.heeds, self._is_reading, self._notify),
        )

    def _is_reading(self) -> bool:
        """Whether reports of sites are being read."""
        return self._report_watch is not None and self._report_watch.reading

    def _is_ending(self) -> bool:
        return self._stopping or self._asked_to_stop()


def _report_watch(
    folder: Folder, settings: Settings, store: Store, terms: Terms | None, again: bool
) -> "ReportWatch | None":
    """Reads what sites announce, beside a refresh, and beside a round of all pages if there are
    reports."""
    wanted = again or (terms is not None and not terms.only_asked)
    if not wanted or not settings.reports:
        return None
    from sanderling.announcements import in_robots
    from sanderling.server.revisits.report_watch import ReportWatch
    from sanderling.server.revisits.reports import NOTED

    homes = (store.host(identity(origin(seed))) for seed in store.seeds())
    texts = (home.robots.text for home in homes if home is not None and home.robots is not None)
    known = bool(store.noted(NOTED)) or any(any(in_robots(text)) for text in texts)
    if terms is None and not (known or settings.report_at or settings.take_at):
        return None
    return ReportWatch(folder, settings, known, terms is not None and terms.forever)
