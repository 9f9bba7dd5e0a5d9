"""Takes in what clients report: one report, one commit."""

from pathlib import Path

import msgspec

from sanderling import clock
from sanderling.change.pixels import Decoder
from sanderling.judging import fingerprinter, judge, portraitist, rejudge
from sanderling.model import (
    Before,
    Change,
    ChangeKind,
    Commit,
    Kind,
    NewUrl,
    Outcome,
    Report,
    Settled,
    State,
    Stored,
    Task,
    Visit,
)
from sanderling.repository import warc
from sanderling.repository.store import Store
from sanderling.server import intake
from sanderling.settings import Settings
from sanderling.urls import origin
from sanderling.wiring.archive import document_in, type_of
from sanderling.wiring.frontier import Frontier
from sanderling.wiring.templates import Templates


class Desk:
    """Where reports become commits."""

    def __init__(self, store: Store, settings: Settings, frontier: Frontier, warcs: Path) -> None:
        self._store = store
        self._settings = settings
        self._frontier = frontier
        self._warcs = warcs
        self._fingerprint = fingerprinter(settings.rules)
        self._decoder = Decoder()
        self._portray = portraitist(self._decoder)
        self._templates = Templates(store)
        self.notices: list[str] = []
        self._apply_rules()

    def close(self) -> None:
        self._decoder.close()
        self._templates.save()

    def take_in(self, report: Report) -> list[tuple[str, Visit]]:
        """Commits a report whole; returns the visits to pages in it, by URL."""
        held = {v.id: self._frontier.allocator.held(report.client, v.id) for v in report.visits}
        tasks = {id: task for id, task in held.items() if task is not None}
        visits = [v for v in report.visits if v.id in tasks]
        if ahead := clock.ahead():
            visits = [msgspec.structs.replace(v, at=v.at + ahead) for v in visits]
        hosts = [host for note in report.hosts if (host := self._frontier.allocator.note(note)) is not None]
        if not visits and not hosts:
            return []
        settings, counts = self._settings, self._frontier.counts
        before = self._store.before([id for id, task in tasks.items() if task.digest])
        visits = [self._frontier.gate.unmasked(v, tasks[v.id]) for v in visits]
        excused = self._frontier.hear(visits, tasks)
        settled = [
            intake.settle(v, tasks[v.id], settings.retries, settings.retry_wait, before.get(v.id))
            if v.id not in excused
            else intake.wait(v, tasks[v.id], settings.retry_wait, before.get(v.id))
            for v in visits
        ]
        changes, noise = self._judge(visits, tasks, before)
        lessons = self._frontier.gate.learn([(v, tasks[v.id]) for v in visits])
        settled = [s._replace(reason=lessons.reasons[s.id]) if s.id in lessons.reasons else s for s in settled]
        seen = intake.first_seen(visits)
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
        dated = [
            (id, found.modified, found.priority)
            for id, (found, _) in seen.items()
            if (found.modified or found.priority) and id not in new
        ]
        beliefs, trust = self._frontier.observer.observe(
            [v for v in visits if v.id not in excused], tasks, before, changes, new
        )
        self._frontier.settle(settled)
        pages = [v for v in visits if tasks[v.id].kind == Kind.PAGE]
        intake.count(
            counts, urls, [s for s in settled if tasks[s.id].kind == Kind.PAGE], pages, before, changes
        )  # fmt: skip
        counts.bytes += sum(v.size for v in visits if tasks[v.id].kind == Kind.SOURCE)
        self._frontier.count_released(lessons.released)
        counts.leased = self._frontier.allocator.leased
        self._store.commit(
            Commit(
                report.client, report.number, urls, settled + again, visits,
                [*hosts, *lessons.hosts, *fresh.values()], report.warcs, counts, homes, changes, noise,
                aliases=aliases, dated=dated, beliefs=beliefs, trust=trust,
            )
        )  # fmt: skip
        self._frontier.queue(urls, fresh)
        self._frontier.add_released(lessons.released)
        return [(tasks[v.id].url, v) for v in pages]

    def _judge(
        self, visits: list[Visit], tasks: dict[int, Task], before: dict[int, Before]
    ) -> tuple[dict[int, Change], dict[int, bytes]]:
        """What the pages that were visited again have become."""
        changes: dict[int, Change] = {}
        noise: dict[int, bytes] = {}
        for visit in visits:
            if visit.id in before:
                site = origin(tasks[visit.id].url)
                judged = judge(visit, before[visit.id], self._parameters_anew, self._templates.of(site))
                self._templates.learned(site, judged.template)
                noise[visit.id] = judged.noise
                if judged.change is not None:
                    changes[visit.id] = judged.change
        return changes, noise

    def _parameters_anew(self, before: Before) -> bytes:
        """Parameters of a version that is in the archive, made the way they are made now."""
        return b"" if before.stored is None else self._parameters_at(before.stored)

    def _parameters_at(self, stored: Stored) -> bytes:
        archived = warc.read(self._warcs, stored)
        document = document_in(archived)
        if document is not None:
            return self._fingerprint(document, archived.url, b"", None)
        return self._portray(archived.body) if type_of(archived).startswith("image/") else b""

    def _apply_rules(self) -> None:
        """Judges all versions anew from the archive when the user's rules are others than they were."""
        rules = msgspec.json.encode(self._settings.rules).decode()
        before = self._store.noted("rules") or "[]"
        if rules == before:
            return
        count = 0
        for page in self._store.with_history():
            versions = self._store.versions(page)
            silent = [v.kinds & ChangeKind.GONE or v.mime.startswith("image/") for v in versions]
            texts = [b"" if no else self._parameters_at(v.stored) for no, v in zip(silent, versions, strict=True)]
            changes, parameters, noise = rejudge(zip([v.kinds for v in versions], texts, strict=True))
            found = [(v.number, change) for v, change in zip(versions, changes, strict=True) if change is not None]
            self._store.rejudge(page, found, parameters, noise)
            count += 1
        self._store.note("rules", rules)
        self.notices.append(f"the rules changed: the history of {count:,} pages was judged anew")
