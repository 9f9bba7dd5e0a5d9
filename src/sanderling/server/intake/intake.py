"""Takes in what clients report: one report, one commit. `Intake.take_in` is the whole of it, step
by step.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from sanderling.model import Before, Commit, Kind, Settled, State, Task, Visit, VisitReport
from sanderling.repository.store import IntakeStore
from sanderling.server.frontier.frontier import Frontier
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.frontier.transition import Move, Transition
from sanderling.server.gate.holding import Lessons
from sanderling.server.intake import refused_logins, requisites, restoring
from sanderling.server.intake.change_detection import ChangeDetection
from sanderling.server.intake.long_known import LongKnown
from sanderling.server.intake.shown_images import mark
from sanderling.server.intake.troubles import Troubles
from sanderling.server.revisits.observer import Observer
from sanderling.server.topic.harvest import Harvest
from sanderling.settings import Settings


class Intake(Struct, frozen=True, kw_only=True, eq=False):
    """Where reports become commits."""

    store: IntakeStore
    settings: Settings
    frontier: Frontier
    observer: Observer
    detection: ChangeDetection
    troubles: Troubles
    long_known: LongKnown
    harvest: Harvest | None  # of a crawl with a topic
    returns: bool  # whether pages may be queued again that have been stored before

    def take_in(self, report: VisitReport) -> list[tuple[str, Visit]]:
        """Commits a report whole; returns the visits to pages in it, by URL."""
        visits, tasks, noted, answers = self.frontier.reported(report)
        if not visits and not noted:
            return []

        # What came of the visits.
        known = self.store.before([id for id, task in tasks.items() if task.digest or self.returns])
        before, compared = visited_before(known), stored_before(known)
        visits, restored = restoring.as_before(visits, compared)
        visits = self.detection.without_collapsed(visits, tasks, compared, self.troubles.accepts)
        settled, excused, lessons = self.frontier.settle(visits, tasks, before)
        found, noise = self.detection.compare(requisites.compared_as_pages(visits, tasks), tasks, compared)
        found = requisites.changes_of(visits, tasks, compared) | self.long_known.changes_of(visits, tasks) | found
        changes, marked = mark(self.store, visits, tasks, found)
        changes = requisites.quietened(changes, found, tasks)
        told = self.troubles.hear(visits, tasks, before, excused, report.hosts)
        marked += told.marked
        if self.harvest is not None:
            self.harvest.see((visit, tasks[visit.id]) for visit in visits if visit.id not in known)

        # What they lead to.
        ahead = self.frontier.admit(visits, tasks, lessons, answers)
        self.long_known.follow(ahead.urls, found, tasks)
        blamed = [visit for visit in visits if visit.id not in excused]
        beliefs, trust = self.observer.observe(blamed, tasks, compared, changes, ahead.unknown)
        notes = ahead.notes | told.notes
        if self.settings.login:
            notes |= refused_logins.notes_of(self.settings, ((tasks[each.id].url, each.reason) for each in visits))

        # All of it is counted, committed and announced.
        pages = [visit for visit in visits if tasks[visit.id].kind == Kind.PAGE]

        def count(ledger: Ledger) -> None:
            ledger.visited(pages, of_pages(settled, tasks), known, changes, self.frontier.leases.leased)
            ledger.marked(marked)
            ledger.others_read(visit for visit in visits if tasks[visit.id].kind != Kind.PAGE)
            ledger.requisites_settled([each for each in settled if tasks[each.id].kind == Kind.REQUISITE], known)
            ledger.became_requisites(len(ahead.files))

        self.frontier.apply(
            Transition(ahead.urls, ahead.moves, [*noted, *ahead.hosts], also=count),
            lambda moves, hosts, counts: self.store.commit(
                Commit(
                    report.client, report.number, ahead.urls, settled + settled_as_queued(moves), visits,
                    hosts, report.warcs, counts, ahead.homes, changes, marked, noise, aliases=aliases(lessons),
                    dated=ahead.dated, off_topic=lessons.off_topic, beliefs=beliefs, trust=trust,
                    forms=answers.changes if answers is not None else None, notes=notes, restored=restored,
                    requisites=ahead.files,
                )
            ),
        )  # fmt: skip
        return [(tasks[visit.id].url, visit) for visit in pages]


def visited_before(known: Mapping[int, Before]) -> dict[int, Before]:
    """The pages that were visited again. What is queued is visited as if it were new."""
    return {id: before for id, before in known.items() if before.state != State.QUEUED}


def stored_before(known: Mapping[int, Before]) -> dict[int, Before]:
    """The pages whose content is compared with a version: also those that were queued again, such
    as one that returns to a collection."""
    return {id: before for id, before in known.items() if before.state != State.QUEUED or before.ever}


def settled_as_queued(moves: Iterable[Move]) -> list[Settled]:
    """Known URLs that are queued now: where a seed was redirected to, and what was held back."""
    return [Settled(move.id, State.QUEUED, 0, 0.0, "") for move in moves]


def of_pages(settled: Iterable[Settled], tasks: Mapping[int, Task]) -> list[Settled]:
    return [each for each in settled if tasks[each.id].kind == Kind.PAGE]


def aliases(lessons: Lessons) -> list[tuple[int, int]]:
    """URLs that are only other names of pages; 0 for those that turned out to be none."""
    return lessons.aliases + [(each.id, 0) for each in lessons.released if each.was is State.EXCLUDED]
