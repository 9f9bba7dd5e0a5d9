"""What visits to known pages teach about when pages change, and about how far their hosts can be
believed.

Every visit is one observation, whoever asked for it: a refresh, or a crawl that was told to visit
everything again. It costs some microseconds a page and is written with the visit's own commit.
First visits teach nothing yet.
"""

import random
from collections.abc import Mapping

from sanderling.clock import DAY
from sanderling.freshness import evidence, tallies, trust
from sanderling.freshness.adaptive import NUTCH_FIRST, SITEMAP_FIRST, nutch_interval, sitemap_interval
from sanderling.freshness.sources import SOURCES, SourceRecord
from sanderling.header_values import moment
from sanderling.model import Before, Belief, Change, ChangeKind, Kind, Outcome, RevisitFacts, State, Task, Told, Visit
from sanderling.repository.store import ObserverStore

Observed = tuple[list[Belief], list[tuple[int, bytes]]]


class Observer:
    """Turns visits into beliefs."""

    def __init__(self, store: ObserverStore) -> None:
        self._store = store
        self._trust: dict[int, trust.Trust] | None = None
        self.spared = 0  # bytes that did not have to be fetched again

    def question(self, task: Task, host: int) -> Task:
        """A task as it is asked: without conditions where their answers cannot be believed, and now
        and then elsewhere."""
        conditional = bool(task.etag or task.modified)
        if conditional and (not self._trust_in(host).may_ask_conditionally or random.random() < 1 / trust.AUDIT_EVERY):
            return task._replace(etag="", modified="")
        return task

    def observe(
        self,
        visits: list[Visit],
        tasks: Mapping[int, Task],
        before: Mapping[int, Before],
        changes: Mapping[int, Change],
        new: set[int],
    ) -> Observed:
        """What to keep of a report; `new` are the URLs that were unknown before it."""
        known = [v for v in visits if v.id in before]
        sources = [v for v in visits if tasks[v.id].kind != Kind.PAGE and v.outcome is Outcome.SOURCE]
        if not known and not sources:
            return [], []
        seen = self._store.seen([v.id for v in (*known, *sources)])
        touched: set[int] = set()
        beliefs = [self._sitemap(v, seen[v.id], new) for v in sources if v.id in seen]
        for visit in known:
            if visit.id in seen:
                page = seen[visit.id]
                beliefs.append(self._page(visit, tasks[visit.id], page, before[visit.id], changes.get(visit.id)))
                touched.add(page.host)
        return beliefs, [(host, trust.pack(self._trust_in(host))) for host in touched]

    def hear(self, host: int, told: Told, at: float) -> tuple[int, bytes]:
        """Takes note of a message of a source; returns what to keep of its host."""
        self._trusted()[host] = heard = trust.after_message(
            self._trust_in(host), told.source, at / DAY, len(told.pages), told.silence_until / DAY, told.complete,
            told.taken_until / DAY,
        )  # fmt: skip
        return host, trust.pack(heard)

    def record_of(self, host: int, source: str) -> SourceRecord | None:
        return self._trust_in(host).sources.get(source)

    def reporting(self) -> list[int]:
        """The hosts with a report that names all their pages, whether it is proven or not."""
        return [host for host, each in self._trusted().items() if each.sources.get("report", SourceRecord()).complete]

    def heeds(self, host: int, source: str) -> bool:
        """Whether what a source of a host names is visited at once."""
        record = self.record_of(host, source)
        return record is None or record.is_heeded

    def _page(self, visit: Visit, task: Task, page: RevisitFacts, before: Before, change: Change | None) -> Belief:
        kinds = _found(visit, before, change)
        if kinds is None:
            at, failures = (visit.at, 0) if visit.outcome is Outcome.PAGE else (page.at, page.failures + 1)
            return Belief(page.id, at, page.at, 0, page.evidence, page.interval, visit.at, failures)
        changed = bool(kinds)
        if visit.status == 304:
            self.spared += max(0, page.size - visit.size)
        quiet = self._learn(visit, task, page, changed)
        found = [changed, *(bool(kinds & kind) for kind in (ChangeKind.TEXT, ChangeKind.STRUCTURE, ChangeKind.IMAGE))]
        elapsed = (visit.at - page.at) / DAY
        said = evidence.observe(page.evidence, elapsed, found, quiet)
        said += tallies.counted(page.evidence, visit.at / DAY, elapsed, changed)
        interval = nutch_interval(page.interval or NUTCH_FIRST, changed)
        return Belief(page.id, visit.at, page.at, int(kinds), said, interval, visit.at, 0)

    def _learn(self, visit: Visit, task: Task, page: RevisitFacts, changed: bool) -> float | None:
        """Scores what the host said about the page by what was found. Returns how long before the
        visit a trusted date puts the change, if one does; all the time since the last visit when we
        came because a trusted sitemap called."""
        host = self._trust_in(page.host)
        elapsed = (visit.at - page.at) / DAY
        if elapsed <= 0:
            return None
        called = False
        if page.announced:
            alarm = trust.announced(page.announced / DAY, page.at / DAY)
            host = trust.after_announcement(host, elapsed, alarm, changed)
            called = alarm and changed and host.announces_changes
        if host.sources:
            told = {source: getattr(page, source) / DAY for source in SOURCES}
            host = trust.after_visit(host, told, page.at / DAY, visit.at / DAY, changed, page.evidence)
            called = called or (
                changed and any(told[name] > page.at / DAY for name, each in host.sources.items() if each.is_heeded)
            )
        quiet = elapsed if called else None
        if visit.status == 304:
            host = trust.after_not_modified(host)
        elif visit.status == 200 and task.digest != b"none":
            then, now = (page.etag, visit.etag) if page.etag and visit.etag else (page.modified, visit.modified)
            if then and now:
                audit = not task.etag and not task.modified
                host = trust.after_body(host, then != now, changed, audit)
            if visit.modified and (date := moment(visit.modified)):
                host = trust.after_date(host, date / DAY, visit.at / DAY, page.at / DAY, changed)
                if changed and not called and host.validators.dates_are_true and page.at < date <= visit.at:
                    quiet = (visit.at - date) / DAY
        self._trusted()[page.host] = host
        return quiet

    def _sitemap(self, visit: Visit, source: RevisitFacts, new: set[int]) -> Belief:
        if not source.at:
            return Belief(source.id, visit.at, visit.at, 0, evidence.NONE, SITEMAP_FIRST, visit.at, 0)
        news = any(found.id in new or found.modified > source.at for found in visit.found)
        interval = sitemap_interval(source.interval or SITEMAP_FIRST, news)
        return Belief(source.id, visit.at, source.at, 0, evidence.NONE, interval, visit.at, 0)

    def _trust_in(self, host: int) -> trust.Trust:
        return self._trusted().get(host) or trust.Trust()

    def _trusted(self) -> dict[int, trust.Trust]:
        if self._trust is None:
            self._trust = {host: trust.unpack(packed) for host, packed in self._store.trust().items()}
        return self._trust


def _found(visit: Visit, before: Before, change: Change | None) -> ChangeKind | None:
    """The kinds of changes that count; None when the visit says nothing about the page's
    content."""
    if visit.outcome is Outcome.UNCHANGED:
        return ChangeKind(0)
    if visit.outcome is Outcome.PAGE:
        if before.state != State.GONE and not before.there:
            return None  # it only redirected so far
        return change.kinds if change is not None and change.news else ChangeKind(0)
    if visit.outcome in (Outcome.GONE, Outcome.REDIRECT):
        return change.kinds if change is not None else ChangeKind(0)
    return None
