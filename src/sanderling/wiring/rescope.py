"""Brings the queue in line with settings that were changed: scope, patterns, and visiting in order of depth.

Every known URL is looked at once more, a few thousand at a time between two rounds of the server. What is queued and
has left the scope is excluded with the reason; what was excluded by the old scope and is in the new one is queued.
Pages that were visited stay. Until the end is reached, what is leased is asked about, too, so that a change counts
at once; and a crawl that ends before begins again when it goes on.
"""

import json
from collections import Counter
from collections.abc import Callable

from sanderling.model import Counts, Host, NewUrl, Reworked, State
from sanderling.repository.store import Judged, Store
from sanderling.server.dispatcher import OUT_OF_SCOPE, Scope
from sanderling.urls import origin

# Numbers of URLs looked at in one step: some 10 ms in which the server does nothing else.
STEP = 4000


def judged_by(kind: str, include: tuple[str, ...], exclude: tuple[str, ...], in_order: bool) -> str:
    """What URLs are judged by, as a text that tells whether it has changed."""
    return json.dumps([kind, include, exclude, in_order])


class Rescope:
    """One pass over the known URLs."""

    def __init__(
        self, store: Store, scope: Scope, leased: Callable[[int], bool], max_depth: int | None, in_order: bool
    ) -> None:
        self._store = store
        self._scope = scope
        self._leased = leased
        self._max_depth = max_depth
        self._in_order = in_order
        self._next = 0
        self._last = store.last_number()

    @property
    def done(self) -> bool:
        return self._next > self._last

    def step(self, counts: Counts) -> list[Judged]:
        """Looks at a few URLs and writes what has changed; returns those that are queued now and were not."""
        rows = [row for row in self._store.judged(self._next, self._next + STEP) if not self._leased(row.id)]
        self._next += STEP
        leaving = [
            (row, why)
            for row in rows
            if row.state != State.EXCLUDED and (why := self._scope.objection(row.url, origin(row.url)))
        ]
        coming = [row for row in rows if row.state == State.EXCLUDED and self._may_come(row)]
        if leaving or coming:
            was = Counter(row.state for row, _ in leaving)
            counts.queued += len(coming) - was[State.QUEUED]
            counts.held -= was[State.KNOWN]
            counts.excluded += len(leaving) - len(coming)
            self._store.rework(
                [Reworked(row.id, State.EXCLUDED, why) for row, why in leaving]
                + [Reworked(row.id, State.QUEUED, "") for row in coming],
                [], self._new_hosts(coming), counts,
            )  # fmt: skip
        if self._in_order:
            self._store.rerank(
                [(row.id, -float(row.depth)) for row in rows if row.state == State.QUEUED or row in coming]
            )
        return coming

    def _may_come(self, row: Judged) -> bool:
        if not row.reason.startswith(OUT_OF_SCOPE) or (self._max_depth is not None and row.depth > self._max_depth):
            return False
        return not self._scope.objection(row.url, origin(row.url))

    def _new_hosts(self, rows: list[Judged]) -> list[Host]:
        hosts = {row.host: Host(row.host, origin(row.url)) for row in rows}
        return [host for id, host in hosts.items() if self._store.host(id) is None]


def as_new(row: Judged) -> NewUrl:
    """A URL that came back, as the queue wants it."""
    return NewUrl(row.id, row.url, row.host, row.depth, State.QUEUED, 0.0, 0, 0, "", "")
