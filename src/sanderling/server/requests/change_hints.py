"""What a source outside the crawl says of pages of one host: one message, one commit.

The source is believed as far as visits have confirmed it (`freshness/sources.py`). A page that a
heeded source names is visited at once, as the budget of the refresh allows. Of any other source,
and in a crawl that refreshes nothing, the word is kept as evidence for the next plan.
"""

import json
import time
from collections.abc import Callable, Iterable
from itertools import groupby

from msgspec import Struct

from sanderling import clock
from sanderling.clock import DAY
from sanderling.freshness.sources import SourceRecord
from sanderling.model import HintCommit, NamedPage, Reworked, State, Task, Told
from sanderling.model.reasons import code_of
from sanderling.network import names_private
from sanderling.repository.store import Store
from sanderling.server.frontier.admission import Admission
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.event_hints import EventHints
from sanderling.server.frontier.hosts import Hosts
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.frontier.transition import Move, Transition, Transitions
from sanderling.server.revisits.observer import Observer
from sanderling.server.revisits.refresher import Refresher
from sanderling.server.revisits.reports import NOTE, NOTED
from sanderling.settings import Settings
from sanderling.urls import hostname, identity, origin

Say = Callable[[str], None]

# No source may name more at once.
MOST_AT_ONCE = 10_000
# This many pages that a host's source named may wait for their visits; a plan takes care of the
# others.
MOST_CALLS = 10_000
# A date in the future would stay news for ever.
_AHEAD = 1.0


class ChangeHints(Struct, frozen=True, kw_only=True, eq=False):
    """Where such messages arrive."""

    store: Store
    settings: Settings
    seeds: Seeds
    hosts: Hosts
    admission: Admission
    transitions: Transitions
    observer: Observer
    refresher: Refresher | None
    allocator: Allocator
    hints: EventHints
    say: Say
    taken: dict[int, float]  # hosts where another crawler is at work, and until when

    def take_in(self, told: Told) -> str:
        """Commits a message; returns why it is ignored, if it is."""
        if objection := self._objection(told):
            return objection
        host = identity(told.origin)
        now = clock.now()
        if self.settings.states:
            self.hints.hear(told.pages)
        record = self.observer.record_of(host, told.source)
        heeded = self.observer.heeds(host, told.source)
        pages = {page.id: page for page in told.pages}
        known = self.store.known(list(pages))
        new = [page for page in pages.values() if page.id not in known and page.what != "gone"]
        urls = self.admission.named(new, heeded)
        left_out = self._left_out([id for id, (_, state) in known.items() if state == State.EXCLUDED])
        named = [
            (page.id, min(page.at, now + _AHEAD))
            for page in pages.values()
            if page.id in known and known[page.id][0] == page.url
        ]
        trust = self.observer.hear(host, told, now)
        reworked = [Reworked(each.id, State.QUEUED, "") for each in left_out]
        notes = {told.key: told.cursor, **self._noted(told.key)} if told.key else {}
        self.transitions.apply(
            Transition(urls, left_out),
            lambda _, hosts, counts: self.store.take_hints(
                HintCommit(told.source, named, urls, reworked, hosts, [trust], counts, notes)
            ),
        )
        if self.refresher is not None and heeded:
            visited = (id for id, (_, state) in known.items() if state in (State.FETCHED, State.GONE))
            self.refresher.expect(each.id for each in urls if each.state == State.QUEUED)
            self._call(self.refresher, told, host, pages, visited, _most(record))
        self._judge(host, told.source, now)
        self._heed_taken(host, told, now)
        return ""

    def _noted(self, key: str) -> dict[str, str]:
        """Remembers a report, so that the next run reads it wherever it was found."""
        known: list[str] = json.loads(self.store.noted(NOTED) or "[]")
        url = key.removeprefix(NOTE)
        return {NOTED: json.dumps([*known, url])} if key.startswith(NOTE) and url not in known else {}

    def _heed_taken(self, host: int, told: Told, now: float) -> None:
        """Leaves a host alone while another crawler is at work there: a run that ends leaves it
        out.
        """
        if told.source != "report" or not self.settings.heed_taken:
            return
        waits = self.refresher is not None and self.refresher.forever
        before = self.taken.get(host, 0.0)
        if told.taken_until > now:
            self.taken[host] = told.taken_until
            self.allocator.suspend(host, time.monotonic() + told.taken_until - now if waits else None)
            if not before:
                self.say(_is_taken(told, waits, "refresh" if self.refresher is not None else "round"))
        elif before:
            self._free(host)

    def _free(self, host: int) -> None:
        self.taken.pop(host, None)
        self.allocator.resume(host)

    def step(self, now: float) -> None:
        """To be called now and then: a report that is read no longer, or was wrong, stands for its
        host no longer.
        """
        refresher = self.refresher
        for host in [host for host, until in self.taken.items() if until <= now]:
            self._free(host)
        if refresher is None or not refresher.is_reading:  # otherwise the reports are just being read
            for host in list(self.admission.reported):
                self._judge(host, "report", now)
        if refresher is not None and refresher.calls.is_short:
            self._call_again(refresher, now)

    def _call_again(self, refresher: Refresher, now: float) -> None:
        """Lines up pages that were named and not visited: more than there was room for, or before a
        crash.
        """
        refresher.calls.refilled()
        for (host, source), pages in groupby(sorted(self.store.named_pages(MOST_CALLS), key=_speaker), _speaker):
            record = self.observer.record_of(host, source)
            if record is not None and record.is_heeded:
                refresher.calls.add_again(host, source, self._on_topic([id for id, _, _ in pages]), now, _most(record))

    def _on_topic(self, ids: list[int]) -> list[int]:
        """In a focused crawl, only pages on its topic are visited at once. Others wait for the
        plan."""
        if not self.settings.topic:
            return ids
        seen = self.store.seen(ids)
        return [id for id in ids if id in seen and seen[id].relevance >= self.settings.relatedness]

    def _judge(self, host: int, source: str, now: float) -> None:
        """Whether links that a report does not name are left out, or followed after all."""
        record = self.observer.record_of(host, source)
        stands = source == "report" and record is not None and record.stands_for(now / DAY)
        if stands:
            self.admission.reported.add(host)
        elif source == "report" and host in self.admission.reported:
            self.admission.reported.discard(host)
            waited = self.store.tasks(self.store.excluded_for("not-reported"))
            released = [each for each in map(_released, waited) if each.host == host]
            self.transitions.apply(Transition(moves=released))

    def _objection(self, told: Told) -> str:
        if len(told.pages) > MOST_AT_ONCE:
            return f"more than {MOST_AT_ONCE:,} pages at once"
        below = told.origin + "/"
        if not all(page.url.startswith(below) for page in told.pages):
            return f"it names pages of other hosts than {told.origin}"
        if self.hosts.find(identity(told.origin)) is None:
            return f"{told.origin} is no host of this crawl"
        private = names_private(hostname(told.origin)) and not self.settings.allow_private
        if private and not self.seeds.is_trusted(told.origin):
            return f"{hostname(told.origin)} is a private address, and no seed"
        return ""

    def _left_out(self, excluded: list[int]) -> list[Move]:
        """Those of excluded URLs that only waited for the report to name them."""
        if not excluded:
            return []
        reasons = self.store.reasons(excluded)
        waited = [id for id in excluded if code_of(reasons.get(id, "")) == "not-reported"]
        return [*map(_released, self.store.tasks(waited))] if waited else []

    def _call(
        self, refresher: Refresher, told: Told, host: int, pages: dict[int, NamedPage], visited: Iterable[int],
        most: float,
    ) -> None:  # fmt: skip
        """Has pages visited that changed since they were visited last, no more than `most` of this
        source at the same time.
        """
        ids = self._on_topic(list(visited))
        if told.source == "report":
            # It is read later than it is written: a visit may have come between.
            seen = self.store.seen(ids)
            ids = [id for id in ids if id in seen and pages[id].at > seen[id].at]
        ranks = {id: pages[id].rank for id in ids if pages[id].rank}
        refresher.calls.add(host, told.source, ids, clock.now(), most, ranks)


def _most(record: SourceRecord | None) -> float:
    return min((record or SourceRecord()).allowance, MOST_CALLS)


def _is_taken(told: Told, waits: bool, run: str) -> str:
    until = time.strftime("%H:%M:%S", time.localtime(told.taken_until))
    what = "it is visited after that" if waits else f"it is left out of this {run}"
    return f"another crawler is at work at {told.origin} until {until}: {what}"


def _speaker(named: tuple[int, int, str]) -> tuple[int, str]:
    return named[1:]


def _released(task: Task) -> Move:
    return Move(task.id, identity(origin(task.url)), task.depth, State.EXCLUDED)
