"""Takes in what clients report: one report, one commit. `Intake.take_in` is the whole of it, step
by step.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from sanderling.crawling import refused_logins
from sanderling.crawling.change_detection import ChangeDetection
from sanderling.crawling.frontier import Frontier
from sanderling.crawling.harvest import Harvest
from sanderling.crawling.ledger import Ledger
from sanderling.crawling.notices import heed, said_in
from sanderling.crawling.shown_images import mark
from sanderling.model import Before, Commit, Found, Kind, NewUrl, Outcome, Report, Settled, State, Task, Visit
from sanderling.model.reasons import reason
from sanderling.refreshing.observer import Observer
from sanderling.repository.store import IntakeStore
from sanderling.server import settling
from sanderling.server.admission import Admission
from sanderling.server.allocator import Allocator
from sanderling.server.backlog import Backlog
from sanderling.server.focus import Focus
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.holding import Lessons
from sanderling.server.hosts import Hosts
from sanderling.server.seeds import Seeds
from sanderling.settings import Settings

if TYPE_CHECKING:  # loaded only by crawls that send forms
    from sanderling.crawling.form_queries import FormQueries

Seen = Mapping[int, tuple[Found, Visit]]  # every URL that a report mentions, with the visit that did so first


class Intake(Struct, frozen=True, kw_only=True, eq=False):
    """Where reports become commits."""

    store: IntakeStore
    settings: Settings
    ledger: Ledger
    allocator: Allocator
    gate: Gatekeeper
    seeds: Seeds
    hosts: Hosts
    admission: Admission
    backlog: Backlog
    frontier: Frontier
    observer: Observer
    detection: ChangeDetection
    focus: Focus | None  # of a crawl with a topic
    harvest: Harvest | None
    forms: "FormQueries | None"  # of a crawl that sends forms
    returns: bool  # whether pages may be queued again that have been stored before

    def take_in(self, report: Report) -> list[tuple[str, Visit]]:
        """Commits a report whole; returns the visits to pages in it, by URL."""
        # What was visited: what the client does not hold any more has been given to another.
        tasks = self._leased(report)
        visits = [visit for visit in report.visits if visit.id in tasks]
        noted = [host for note in report.hosts if (host := self.allocator.note(note, report.client)) is not None]
        if not visits and not noted:
            return []

        # What came of it.
        known = self.store.before([id for id, task in tasks.items() if task.digest or self.returns])
        before = visited_before(known)
        visits = [self.gate.unmasked(visit, tasks[visit.id]) for visit in visits]
        asked = self.forms.hear(visits, tasks) if self.forms is not None else None
        visits = asked.visits if asked is not None else visits
        retries, retry_wait = self.settings.retries, self.settings.retry_wait
        excused = self.frontier.hear(visits, retry_wait)
        settled = settling.settle_all(visits, tasks, before, excused, retries, retry_wait)
        found, noise = self.detection.compare(visits, tasks, before)
        changes, marked = mark(self.store, visits, tasks, found)
        lessons = self.gate.learn([(visit, tasks[visit.id]) for visit in visits])
        settled = with_reasons(settled, lessons.reasons)
        if self.focus is not None:
            self.focus.learn((visit, tasks[visit.id]) for visit in visits)
        if self.harvest is not None:
            self.harvest.see((visit, tasks[visit.id]) for visit in visits if visit.id not in known)

        # What it leads to.
        seen = settling.first_seen(visits)
        homes, back_in_scope = self.seeds.follow(redirected_seeds(visits, tasks), seen)
        unknown = self.store.unknown({id: found.url for id, (found, _) in seen.items()})
        new = set(unknown)
        heeded = heed(said_in(seen, new), new, lambda notice: self.admission.found([seen[notice.id]], tasks))
        links = [seen[id] for id in unknown if not seen[id][0].modified]
        urls = unique([*self.admission.sitemaps(lessons), *self.admission.found(links, tasks), *heeded.urls])
        if asked is not None:
            urls = unique(excluded([*urls, *asked.urls], asked.refinements))
        requeued = not_among(back_in_scope, lessons)
        first = self.hosts.first_used([*urls, *requeued])
        blamed = [visit for visit in visits if visit.id not in excused]
        beliefs, trust = self.observer.observe(blamed, tasks, before, changes, new)

        # Leases end, and all of it is counted, committed and announced.
        settled = self.frontier.settle(settled)
        pages = [visit for visit in visits if tasks[visit.id].kind == Kind.PAGE]
        self.ledger.admitted(urls)
        self.ledger.visited(pages, of_pages(settled, tasks), known, changes, self.allocator.leased)
        self.ledger.marked(marked)
        self.ledger.sitemaps_read(visit for visit in visits if tasks[visit.id].kind != Kind.PAGE)
        self.ledger.moved((State.EXCLUDED, State.QUEUED) for _ in requeued)
        self.ledger.moved((each.was, State.QUEUED) for each in lessons.released)
        kept, notes = self.gate.kept(lessons)
        if self.settings.login:
            notes |= refused_logins.notes_of(self.settings, ((tasks[each.id].url, each.reason) for each in visits))
        self.store.commit(
            Commit(
                report.client, report.number, urls, settled + queued_again(requeued, lessons), visits,
                [*noted, *kept, *first.values()], report.warcs, self.ledger.counts, homes, changes,
                marked, noise,
                aliases=aliases(lessons), dated=heeded.dated, off_topic=lessons.off_topic, beliefs=beliefs, trust=trust,
                forms=asked.changes if asked is not None else None, notes=notes,
            )
        )  # fmt: skip
        self.backlog.add_urls([*urls, *requeued], first)
        self.backlog.add_released(lessons.released)
        return [(tasks[visit.id].url, visit) for visit in pages]

    def _leased(self, report: Report) -> dict[int, Task]:
        """The tasks of a report that its client holds."""
        held = ((visit.id, self.allocator.held(report.client, visit.id)) for visit in report.visits)
        return {id: task for id, task in held if task is not None}


def visited_before(known: Mapping[int, Before]) -> dict[int, Before]:
    """The pages that were visited again. What is queued is visited as if it were new."""
    return {id: before for id, before in known.items() if before.state != State.QUEUED}


def with_reasons(settled: list[Settled], reasons: Mapping[int, str]) -> list[Settled]:
    """Settlements with what the gate says of some of them."""
    return [each._replace(reason=reasons[each.id]) if each.id in reasons else each for each in settled]


def unique(rows: Iterable[NewUrl]) -> list[NewUrl]:
    """Rows, each URL once."""
    return list({row.id: row for row in rows}.values())


def redirected_seeds(visits: Iterable[Visit], tasks: Mapping[int, Task]) -> list[Visit]:
    return [visit for visit in visits if visit.outcome is Outcome.REDIRECT and tasks[visit.id].depth == 0]


def not_among(rows: list[NewUrl], lessons: Lessons) -> list[NewUrl]:
    """Those that are not released anyway."""
    released = {each.id for each in lessons.released}
    return [row for row in rows if row.id not in released]


def queued_again(rows: Iterable[NewUrl], lessons: Lessons) -> list[Settled]:
    """Known URLs that are queued now: where a seed was redirected to, and what was held back."""
    ids = [*(row.id for row in rows), *(each.id for each in lessons.released)]
    return [Settled(id, State.QUEUED, 0, 0.0, "") for id in ids]


def of_pages(settled: Iterable[Settled], tasks: Mapping[int, Task]) -> list[Settled]:
    return [each for each in settled if tasks[each.id].kind == Kind.PAGE]


def aliases(lessons: Lessons) -> list[tuple[int, int]]:
    """URLs that are only other names of pages; 0 for those that turned out to be none."""
    return lessons.aliases + [(each.id, 0) for each in lessons.released if each.was is State.EXCLUDED]


def excluded(rows: list[NewUrl], refinements: set[int]) -> list[NewUrl]:
    """Rows, with those that are only other views of a form's answer as excluded."""
    why = reason("form-refinement")
    return [
        row._replace(state=State.EXCLUDED, reason=why) if row.id in refinements and row.kind == Kind.PAGE else row
        for row in rows
    ]
