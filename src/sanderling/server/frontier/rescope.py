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
from typing import NamedTuple

from sanderling.model import Host, Kind, Reworked, State, Task
from sanderling.model.reasons import BY_SETTINGS, code_of, reason
from sanderling.repository.store import HostLookup, ScopedUrl, ScopeStore
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.scope import Scope
from sanderling.server.frontier.transition import Move, Transition, Transitions
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

    def __init__(self, store: ScopeStore, allocator: Allocator, gate: Gatekeeper, transitions: Transitions) -> None:
        self._store = store
        self._transitions = transitions
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
            self._pass = Pass(self._store, reach, self._allocator, self._gate, self._transitions, in_order)

    def step(self, idle: bool) -> None:
        """Goes on, for longer when nothing else is to be done."""
        until = time.monotonic() + (IDLE_SECONDS if idle else 0.0)
        while self._pass is not None:
            came = self._pass.step()
            if self._pass.done:
                self._pass = None
                self._remember(self._becoming)
            if came or time.monotonic() >= until:
                break

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

    def __init__(
        self, store: ScopeStore, reach: Reach, allocator: Allocator, gate: Gatekeeper, transitions: Transitions,
        in_order: bool,
    ) -> None:  # fmt: skip
        self._store = store
        self.reach = reach
        self._allocator = allocator
        self._gate = gate
        self._transitions = transitions
        self._in_order = in_order
        self._next = 0
        self._last = store.last_number()

    @property
    def done(self) -> bool:
        return self._next > self._last

    def step(self) -> bool:
        """Looks at a few URLs and writes what has changed; returns whether some are queued now that
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
            self._gate.forget(row.id for row, _ in leaving if row.state == State.KNOWN)
            moves = [Move(row.id, row.host, row.depth, State(row.state), State.EXCLUDED, why) for row, why in leaving]
            self._transitions.apply(Transition(moves=[*moves, *map(queued_anew, coming)]))
        if self._in_order:
            queued = [row for row in rows if row.state == State.QUEUED]
            self._store.rerank([(row.id, -float(row.depth)) for row in [*queued, *coming]])
        return bool(coming)

    def _objection(self, row: ScopedUrl) -> str:
        return self.reach.objection(row.id, row.url, row.depth)


def queued_anew(row: ScopedUrl) -> Move:
    """A URL that may be visited after all."""
    return Move(row.id, row.host, row.depth, State(row.state), url=row.url)


def new_hosts(store: HostLookup, rows: list[ScopedUrl]) -> list[Host]:
    """The hosts of URLs that none was visited of."""
    hosts = {row.host: Host(row.host, origin(row.url)) for row in rows}
    return [host for id, host in hosts.items() if store.host(id) is None]
