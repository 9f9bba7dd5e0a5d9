"""Brings the queue in line with settings that were changed: seeds, scope, patterns, depth, and
visiting by depth.

Every known URL is looked at once more, a few thousand at a time between two rounds of the server.
What is queued and has left the scope, or is too deep now, is excluded with the reason; what the old
settings excluded and the new ones allow is queued. Pages that were visited stay. Until the end is
reached, what is leased is asked about, too, so that a change counts at once; and a crawl that ends
before begins again when it goes on.
"""

import hashlib
import json
import time
from collections import Counter
from typing import NamedTuple

from sanderling.crawling.ledger import Ledger
from sanderling.model import Host, Kind, NewUrl, Reworked, State, Task
from sanderling.model.reasons import BY_SETTINGS, code_of, reason
from sanderling.repository.store import HostLookup, ScopedUrl, ScopeStore
from sanderling.server.allocator import Allocator
from sanderling.server.dispatcher import Scope
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.settings import Settings
from sanderling.urls import identity, origin

# Numbers of URLs looked at in one step: 5 ms in which the server does nothing else, 25 when most of
# them move.
STEP = 2000
IDLE_SECONDS = 0.15


class Rescoping:
    """Which settings the known URLs were judged by, and the pass over them when those have
    changed."""

    def __init__(self, store: ScopeStore, allocator: Allocator, gate: Gatekeeper) -> None:
        self._store = store
        self._allocator = allocator
        self._gate = gate
        self._by = store.noted("scope")
        self._becoming = ""
        self._pass: Pass | None = None

    @property
    def running(self) -> bool:
        return self._pass is not None

    def begin(self, scope: Scope, homes: list[str], settings: Settings, in_order: bool) -> None:
        """Looks at every URL again unless it was judged by the same settings and from the same
        `homes`, which are the seeds and where they moved to; `in_order` visits by depth."""
        near = hashlib.sha256("\n".join(sorted(homes)).encode()).hexdigest()
        wanted = json.dumps(
            [
                settings.scope,
                settings.include,
                settings.exclude,
                settings.cookies,
                sorted(login.place for login in settings.login),
                settings.max_depth,
                in_order,
                near,
            ]
        )
        if not self._by:
            self._remember(wanted)
        elif wanted != self._by:
            self._remember("unfinished")
            self._becoming = wanted
            named = {identity(home) for home in homes}
            reach = Reach(scope, settings.max_depth, named)
            self._pass = Pass(self._store, reach, self._allocator, self._gate, in_order)

    def step(self, ledger: Ledger, idle: bool) -> list[NewUrl]:
        """Goes on, for longer when nothing else is to be done; returns URLs that are queued now and
        were not."""
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
        why = self._pass.reach.objection(task.id, task.url, task.depth)
        return Reworked(task.id, State.EXCLUDED, why) if why else None

    def _remember(self, settings: str) -> None:
        self._by = settings
        self._store.note("scope", settings)


class Reach(NamedTuple):
    """What the settings allow: the scope, and how deep. No depth is too deep for what was named."""

    scope: Scope
    max_depth: int | None
    named: set[int]

    def objection(self, id: int, url: str, depth: int) -> str:
        """Why a URL is not visited; empty when it is."""
        if why := self.scope.objection(url, origin(url)):
            return why
        too_deep = self.max_depth is not None and depth > self.max_depth and id not in self.named
        return reason("too-deep") if too_deep else ""


class Pass:
    """One pass over the known URLs."""

    def __init__(self, store: ScopeStore, reach: Reach, allocator: Allocator, gate: Gatekeeper, in_order: bool) -> None:
        self._store = store
        self.reach = reach
        self._allocator = allocator
        self._gate = gate
        self._in_order = in_order
        self._next = 0
        self._last = store.last_number()

    @property
    def done(self) -> bool:
        return self._next > self._last

    def step(self, ledger: Ledger) -> list[ScopedUrl]:
        """Looks at a few URLs and writes what has changed; returns those that are queued now and
        were not."""
        found = self._store.judged(self._next, self._next + STEP)
        rows = [row for row in found if not self._allocator.is_leased(row.id)]
        self._next += STEP
        leaving = [(row, why) for row in rows if row.state != State.EXCLUDED and (why := self._objection(row))]
        coming = [
            row
            for row in rows
            if row.state == State.EXCLUDED and code_of(row.reason) in BY_SETTINGS and not self._objection(row)
        ]
        if leaving or coming:
            self._withdraw([row for row, _ in leaving])
            ledger.moved((row.state, State.EXCLUDED) for row, _ in leaving)
            ledger.moved((row.state, State.QUEUED) for row in coming)
            self._store.rework(
                [Reworked(row.id, State.EXCLUDED, why) for row, why in leaving]
                + [Reworked(row.id, State.QUEUED, "") for row in coming],
                [], new_hosts(self._store, coming), ledger.counts,
            )  # fmt: skip
        if self._in_order:
            queued = [row for row in rows if row.state == State.QUEUED]
            self._store.rerank([(row.id, -float(row.depth)) for row in [*queued, *coming]])
        return coming

    def _objection(self, row: ScopedUrl) -> str:
        return self.reach.objection(row.id, row.url, row.depth)

    def _withdraw(self, rows: list[ScopedUrl]) -> None:
        """Nobody waits for these any more: neither the level they are on, nor the gate that held
        them back."""
        self._allocator.add_depths(
            {d: -n for d, n in Counter(r.depth for r in rows if r.state == State.QUEUED).items()}
        )
        self._gate.forget(row.id for row in rows if row.state == State.KNOWN)


def new_hosts(store: HostLookup, rows: list[ScopedUrl]) -> list[Host]:
    """The hosts of URLs that none was visited of."""
    hosts = {row.host: Host(row.host, origin(row.url)) for row in rows}
    return [host for id, host in hosts.items() if store.host(id) is None]
