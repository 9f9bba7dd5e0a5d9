"""Brings the queue in line with settings that were changed: seeds, scope, patterns, and visiting in order of depth.

Every known URL is looked at once more, a few thousand at a time between two rounds of the server. What is queued and
has left the scope is excluded with the reason; what was excluded by the old scope and is in the new one is queued.
Pages that were visited stay. Until the end is reached, what is leased is asked about, too, so that a change counts
at once; and a crawl that ends before begins again when it goes on.
"""

import hashlib
import json
import time
from collections.abc import Callable

from sanderling.crawling.ledger import Ledger
from sanderling.model import Host, Kind, NewUrl, Reworked, State, Task
from sanderling.model.reasons import OUT_OF_SCOPE, code_of
from sanderling.repository.store import ScopedUrl, ScopeStore
from sanderling.server.dispatcher import Scope
from sanderling.settings import Settings
from sanderling.urls import identity, origin

# Numbers of URLs looked at in one step: 5 ms in which the server does nothing else, 25 when most of them move.
STEP = 2000
IDLE_SECONDS = 0.15


class Rescoping:
    """Which settings the known URLs were judged by, and the pass over them when those have changed."""

    def __init__(self, store: ScopeStore, leased: Callable[[int], bool]) -> None:
        self._store = store
        self._leased = leased
        self._by = store.noted("scope")
        self._becoming = ""
        self._pass: Pass | None = None

    @property
    def running(self) -> bool:
        return self._pass is not None

    def begin(self, scope: Scope, homes: list[str], settings: Settings, in_order: bool) -> None:
        """Looks at every URL again unless it was judged by the same settings and from the same `homes`, which are the
        seeds and where they moved to; `in_order` visits by depth."""
        near = hashlib.sha256("\n".join(sorted(homes)).encode()).hexdigest()
        wanted = json.dumps([settings.scope, settings.include, settings.exclude, settings.cookies, in_order, near])
        if not self._by:
            self._remember(wanted)
        elif wanted != self._by:
            self._remember("unfinished")
            self._becoming = wanted
            named = {identity(home) for home in homes}
            self._pass = Pass(self._store, scope, named, self._leased, settings.max_depth, in_order)

    def step(self, ledger: Ledger, idle: bool) -> list[NewUrl]:
        """Goes on, for longer when nothing else is to be done; returns URLs that are queued now and were not."""
        came: list[ScopedUrl] = []
        until = time.monotonic() + (IDLE_SECONDS if idle else 0.0)
        while self._pass is not None:
            came += self._pass.step(ledger)
            if self._pass.done:
                self._pass = None
                self._remember(self._becoming)
            if came or time.monotonic() >= until:
                break
        return [NewUrl(row.id, row.url, row.host, row.depth, State.QUEUED, 0.0, 0, 0, "", "") for row in came]

    def objection(self, task: Task) -> Reworked | None:
        """Why a URL that was queued under other settings is not visited after all."""
        if self._pass is None or task.kind != Kind.PAGE:
            return None
        why = self._pass.scope.objection(task.url, origin(task.url))
        return Reworked(task.id, State.EXCLUDED, why) if why else None

    def _remember(self, settings: str) -> None:
        self._by = settings
        self._store.note("scope", settings)


class Pass:
    """One pass over the known URLs."""

    def __init__(
        self, store: ScopeStore, scope: Scope, named: set[int], leased: Callable[[int], bool], max_depth: int | None,
        in_order: bool,
    ) -> None:  # fmt: skip
        self._store = store
        self.scope = scope
        self._named = named
        self._leased = leased
        self._max_depth = max_depth
        self._in_order = in_order
        self._next = 0
        self._last = store.last_number()

    @property
    def done(self) -> bool:
        return self._next > self._last

    def step(self, ledger: Ledger) -> list[ScopedUrl]:
        """Looks at a few URLs and writes what has changed; returns those that are queued now and were not."""
        rows = [row for row in self._store.judged(self._next, self._next + STEP) if not self._leased(row.id)]
        self._next += STEP
        leaving = [
            (row, why)
            for row in rows
            if row.state != State.EXCLUDED and (why := self.scope.objection(row.url, origin(row.url)))
        ]
        coming = [row for row in rows if row.state == State.EXCLUDED and self._may_come(row)]
        if leaving or coming:
            ledger.moved((row.state, State.EXCLUDED) for row, _ in leaving)
            ledger.moved((row.state, State.QUEUED) for row in coming)
            self._store.rework(
                [Reworked(row.id, State.EXCLUDED, why) for row, why in leaving]
                + [Reworked(row.id, State.QUEUED, "") for row in coming],
                [], self._new_hosts(coming), ledger.counts,
            )  # fmt: skip
        if self._in_order:
            queued = [row for row in rows if row.state == State.QUEUED]
            self._store.rerank([(row.id, -float(row.depth)) for row in [*queued, *coming]])
        return coming

    def _may_come(self, row: ScopedUrl) -> bool:
        too_deep = self._max_depth is not None and row.depth > self._max_depth and row.id not in self._named
        if too_deep or code_of(row.reason) not in OUT_OF_SCOPE:
            return False
        return not self.scope.objection(row.url, origin(row.url))

    def _new_hosts(self, rows: list[ScopedUrl]) -> list[Host]:
        hosts = {row.host: Host(row.host, origin(row.url)) for row in rows}
        return [host for id, host in hosts.items() if self._store.host(id) is None]
