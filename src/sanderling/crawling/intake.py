"""Takes in what clients report: one report, one commit."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sanderling.crawling.frontier import Frontier
from sanderling.model import Commit, Kind, NewUrl, Outcome, Report, Settled, State, Visit
from sanderling.repository.store import IntakeStore
from sanderling.server import settling
from sanderling.settings import Settings

if TYPE_CHECKING:
    from sanderling.crawling.comparing import Comparing


class Intake:
    """Where reports become commits."""

    def __init__(self, store: IntakeStore, settings: Settings, frontier: Frontier, warcs: Path, retry: bool) -> None:
        self._store = store
        self._settings = settings
        self._frontier = frontier
        self._warcs = warcs
        # A page that left the collection, or failed, may be in the queue again with versions of its own.
        self._returns = retry or settings.collection is not None
        self._comparer: Comparing | None = None
        self.notices: list[str] = []
        self._apply_rules()

    def close(self) -> None:
        if self._comparer is not None:
            self._comparer.close()

    def take_in(self, report: Report) -> list[tuple[str, Visit]]:
        """Commits a report whole; returns the visits to pages in it, by URL."""
        held = {v.id: self._frontier.allocator.held(report.client, v.id) for v in report.visits}
        tasks = {id: task for id, task in held.items() if task is not None}
        visits = [v for v in report.visits if v.id in tasks]
        hosts = [host for note in report.hosts if (host := self._frontier.allocator.note(note)) is not None]
        if not visits and not hosts:
            return []
        settings, ledger = self._settings, self._frontier.ledger
        known = self._store.before([id for id, task in tasks.items() if task.digest or self._returns])
        before = {id: each for id, each in known.items() if each.state != State.QUEUED}
        visits = [self._frontier.gate.unmasked(v, tasks[v.id]) for v in visits]
        excused = self._frontier.hear(visits)
        settled = [
            settling.settle(v, tasks[v.id], settings.retries, settings.retry_wait, before.get(v.id))
            if v.id not in excused
            else settling.wait(v, tasks[v.id], settings.retry_wait, before.get(v.id))
            for v in visits
        ]
        changes, noise = self._comparing().compare(visits, tasks, before) if before else ({}, {})
        lessons = self._frontier.gate.learn([(v, tasks[v.id]) for v in visits])
        settled = [s._replace(reason=lessons.reasons[s.id]) if s.id in lessons.reasons else s for s in settled]
        seen = settling.first_seen(visits)
        homes, again = self._frontier.follow_seeds(
            [v for v in visits if v.outcome is Outcome.REDIRECT and tasks[v.id].depth == 0], seen
        )
        urls: list[NewUrl] = self._frontier.new_sources(lessons)
        unknown = self._store.unknown({id: found.url for id, (found, _) in seen.items()})
        for found, visit in [seen[id] for id in unknown]:
            urls += self._frontier.admit(found, visit, tasks[visit.id])
        urls = list({row.id: row for row in urls}.values())
        fresh = self._frontier.hosts_of(urls)
        again += [Settled(each.id, State.QUEUED, 0, 0.0, "") for each in lessons.released]
        aliases = lessons.aliases + [(each.id, 0) for each in lessons.released if each.was is State.EXCLUDED]
        # What a sitemap says about URLs that were found without it.
        new = set(unknown)
        dated = [(id, found.modified) for id, (found, _) in seen.items() if found.modified and id not in new]
        beliefs, trust = self._frontier.observer.observe(
            [v for v in visits if v.id not in excused], tasks, before, changes, new
        )
        self._frontier.settle(settled)
        pages = [v for v in visits if tasks[v.id].kind == Kind.PAGE]
        ledger.admitted(urls)
        ledger.visited(
            pages,
            [s for s in settled if tasks[s.id].kind == Kind.PAGE],
            known,
            changes,
            self._frontier.allocator.leased,
        )
        ledger.sitemaps_read(v for v in visits if tasks[v.id].kind == Kind.SOURCE)
        requeued = {each.id: State.EXCLUDED for each in again} | {each.id: each.was for each in lessons.released}
        ledger.moved((was, State.QUEUED) for was in requeued.values())
        self._store.commit(
            Commit(
                report.client, report.number, urls, settled + again, visits,
                [*hosts, *lessons.hosts, *fresh.values()], report.warcs, ledger.counts, homes, changes, noise,
                aliases=aliases, dated=dated, beliefs=beliefs, trust=trust,
            )
        )  # fmt: skip
        self._frontier.queue(urls, fresh)
        self._frontier.add_released(lessons.released)
        return [(tasks[v.id].url, v) for v in pages]

    def _comparing(self) -> "Comparing":
        if self._comparer is None:
            from sanderling.crawling.comparing import Comparing

            self._comparer = Comparing(self._store, self._settings, self._warcs)
        return self._comparer

    def _apply_rules(self) -> None:
        """Judges all versions anew from the archive when the user's rules are others than they were."""
        if self._settings.rules:
            self._comparing()  # says what is wrong with them
        rules = msgspec.json.encode(self._settings.rules).decode()
        before = self._store.noted("rules") or "[]"
        if rules != before:
            count = self._comparing().compare_all_anew()
            self._store.note("rules", rules)
            self.notices.append(f"the rules changed: the history of {count:,} pages was judged anew")
