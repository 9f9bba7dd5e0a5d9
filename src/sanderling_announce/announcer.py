"""Announces the changes of one site: looks at its source, publishes what it found, tells others.
One step at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from sanderling_announce import clock
from sanderling_announce.flag import Flag, Taken
from sanderling_announce.memory import SiteMemory
from sanderling_announce.publishing import HEARTBEAT, Publisher
from sanderling_announce.pushing import Push, PushRequest, feeds_among, indexnow, websub
from sanderling_announce.quiet import Quiet
from sanderling_announce.ranking import Ranking

# Between two publications, in seconds.
PACE = 1.0
# Between two looks whether it is quiet.
QUIET_EVERY = 10.0
# Between two sitemaps: at least this many seconds, and this many times as long as one takes.
SITEMAP_EVERY, SITEMAP_TIMES = 10.0, 1000
# Between two status lines.
SAY_EVERY = 5.0


class Source(Protocol):
    """Where pages come from. It records in the memory what changed."""

    hints: bool
    trouble: str  # why nothing can be announced now; empty when all is well

    @property
    def complete(self) -> bool: ...
    @property
    def settled(self) -> bool: ...
    @property
    def how(self) -> str: ...
    def step(self, now: float) -> float: ...
    def url_of(self, key: bytes) -> str | None: ...
    def close(self) -> None: ...


class Receivers(NamedTuple):
    """Whom to tell, beside the report."""

    pushes: list[Push]
    key: str = ""
    key_url: str = ""
    feeds: frozenset[str] = frozenset()


class Announcer:
    def __init__(
        self, site: str, memory: SiteMemory, source: Source, publisher: Publisher, reach: Receivers, flag: Flag, quiet: Quiet,
        linked: Callable[[], frozenset[str]], say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.site = site
        self.memory = memory
        self.source = source
        self.publisher = publisher
        self.flag = flag
        self._reach = reach
        self._quiet = quiet
        self._linked = linked
        self._say = say
        self.at_once = False  # all that is found is published together: the announcer is to end after it
        self._is_quiet = False
        self._quiet_at = self._published_at = self._manifest_at = self._said_at = 0.0
        self._sitemap: Iterator[None] | None = None
        self._sitemap_at = 0.0
        self._sitemap_cost = 0.0
        self._told: Counter[str] = Counter()
        self._taken = Taken()
        for push in reach.pushes:
            memory.pushed(push.address.url)

    def step(self, now: float) -> float:
        """Does what is due; returns when there is more to do."""
        due = self.source.step(now)
        if not self.source.complete or (self.at_once and not self.source.settled):
            return due
        self._rest_or_not(now)
        stale = self._publish(now)
        stale |= self._write_sitemap(now)
        stale |= self._show_flag(now)
        if stale or now >= self._manifest_at + HEARTBEAT:
            self.publisher.write_manifest(now, complete=True)
            self._manifest_at = now
        self._push(now)
        self._say_what_happened(now)
        return min(due, *self._due(now))

    def _due(self, now: float) -> Iterator[float]:
        yield self._manifest_at + HEARTBEAT
        if self.memory.pending:
            yield self._published_at + PACE
        if self._sitemap:
            yield now
        elif self.memory.cursor != self.memory.fact("base_cursor", -1):
            yield max(self._sitemap_at, self._quiet_at + QUIET_EVERY if self._is_quiet else 0.0)
        if self._told:
            yield self._said_at + SAY_EVERY
        if self._taken.until:
            yield self._taken.until
        for push in self._reach.pushes:
            if self.memory.pushed(push.address.url) < self.memory.cursor:
                yield push.next_at

    def _rest_or_not(self, now: float) -> None:
        if now >= self._quiet_at + QUIET_EVERY:
            self._is_quiet, self._quiet_at = self._quiet.now(now), now
            self.source.hints = not self._is_quiet

    def _rank(self) -> None:
        """In rush hours the ranking rests, and the one before is used on."""
        if self._is_quiet:
            return
        frequencies, depths = self.memory.frequencies, self.memory.depths
        self.publisher.rank_by(
            Ranking(min(frequencies, default=0), max(frequencies, default=0), max(depths, default=0), self._linked())
        )

    def _publish(self, now: float) -> bool:
        if not self.memory.pending or now < self._published_at + PACE:
            return False
        self._rank()
        self._told += self.publisher.publish()
        self.flag.page_changed()
        self._published_at = now
        return True

    def _write_sitemap(self, now: float) -> bool:
        """Writes a part of the sitemap, if it is time; returns whether it is complete."""
        base = self.memory.fact("base_cursor", -1)
        if self._sitemap is None:
            if base == self.memory.cursor or (base >= 0 and (self._is_quiet or now < self._sitemap_at)):
                return False
            self._rank()
            self._sitemap, self._sitemap_cost = self.publisher.write_sitemap(), 0.0
        start = time.thread_time()
        done = next(self._sitemap, self) is self
        self._sitemap_cost += time.thread_time() - start
        if done:
            self._sitemap = None
            self._sitemap_at = now + max(SITEMAP_EVERY, SITEMAP_TIMES * self._sitemap_cost)
        return done

    def _show_flag(self, now: float) -> bool:
        taken = self.flag.state(now)
        if taken == self._taken:
            return False
        self._taken = taken
        self.memory.remember("taken_until", taken.until)
        self.memory.remember("taken_by", taken.by)
        return True

    def _push(self, now: float) -> None:
        for push in self._reach.pushes:
            done = push.outcome(now)
            if done is not None:
                self.memory.note_push(push.address.url, done)
            cursor = self.memory.pushed(push.address.url)
            if cursor < self.memory.cursor and push.wants(now):
                newest = self.memory.cursor
                push.send(newest, self._requests(push, cursor))

    def _requests(self, push: Push, cursor: int) -> list[PushRequest]:
        changes = list(self.publisher.changes_after(cursor))
        if push.address.kind == "websub":
            return websub(feeds_among(changes, self._reach.feeds))
        return indexnow(self.site, self._reach.key, self._reach.key_url, [change.url for change in changes])

    def _say_what_happened(self, now: float) -> None:
        if self._told and now >= self._said_at + SAY_EVERY:
            said = ", ".join(f"{count:,} {what}" for what, count in sorted(self._told.items()))
            self._say(f"{self.site}: {said}; cursor {self.memory.cursor:,}")
            self._told.clear()
            self._said_at = now

    @property
    def idle(self) -> bool:
        """Whether everything there is was looked at, published and told. In rush hours the sitemap
        rests, and is waited for only if there is none."""
        base = self.memory.fact("base_cursor", -1)
        return (
            self.source.settled
            and not self.memory.pending
            and self._sitemap is None
            and (base == self.memory.cursor or (base >= 0 and self._is_quiet))
            and not any(push.busy for push in self._reach.pushes)
        )

    def finish(self) -> None:
        """Publishes what is left, and says that the site is not watched any more."""
        now = clock.now()
        if self.source.complete:
            self._published_at = self._said_at = 0.0
            self._publish(now)
            self._say_what_happened(now)
            self.publisher.write_manifest(now, complete=True, alive=False)
        self.close()

    def close(self) -> None:
        """Just ends: what is not published is published the next time."""
        self.source.close()
        self.memory.close()
