"""Keeps a focused crawl near its topic, and lets it tunnel through a few pages that are not on it.

Each URL has a count: how many pages off the topic lie between it and the last page that is on it.
Links on a relevant page have 0. Links on any other page have one more than the page itself. Links
with more than the depth are held back. When a better page links to them, they are let go. With
depth 0 only links on relevant pages are followed.

The first relevant page that links to a URL also raises its rank at once. What further pages say of
it, the job that scores the queue takes in later.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sanderling.model import Kind, NewUrl, Outcome, State, Task, Visit
from sanderling.model.reasons import argument_of, code_of, reason
from sanderling.repository.store import TunnelStore
from sanderling.server.focus import Focus
from sanderling.server.gate.holding import Lessons, Released
from sanderling.urls import identity, origin

CODE = "held-off-topic"
# About 200 bytes each. Beyond that, a better page lets nothing go.
MOST = 1_000_000


class Held(NamedTuple):
    """A URL that is held back."""

    host: int
    depth: int
    off_topic: int
    words: float


class Tunnel:
    """The counts of URLs that were not visited yet."""

    def __init__(self, store: TunnelStore, relatedness: float, depth: int, focus: Focus) -> None:
        self._relatedness, self._depth, self._rank = relatedness, depth, focus.rank
        self.trust = focus.trust
        # Of queued URLs, where it is not 0; with the relevance of the link that each was found by.
        self._counts: dict[int, tuple[int, float]] = {}
        self._held: dict[int, Held] = {}
        self._of_links: dict[int, int] = {}  # of the links of each page in this report
        self._counts.update((id, (count, words)) for id, count, words in store.off_topic(MOST))
        for id, host, depth_of, why in store.all_held(MOST):
            if code_of(why) == CODE:
                self._held[id] = Held(host, depth_of, int(argument_of(why) or 0), 0.0)

    def learn(self, visits: Iterable[tuple[Visit, Task]], lessons: Lessons) -> None:
        """Finds the counts of the links of a report, and lets go what a better page links to."""
        self._of_links = {}
        for visit, task in visits:
            if visit.outcome in (Outcome.RETRY, Outcome.UNCHANGED):
                continue
            own, _ = self._counts.pop(visit.id, (0, 0.0))
            links = self._of_links[visit.id] = self._count_of_links(visit, task, own)
            if visit.links and links <= self._depth and (self._held or self._counts):
                linked = set(memoryview(visit.links).cast("q"))
                self._bring_nearer(linked, links, visit.relevance, identity(origin(task.url)), lessons)

    def place(self, row: NewUrl) -> NewUrl:
        """A new URL with its count, held back if that is too much."""
        if row.state is not State.QUEUED or row.kind != Kind.PAGE or not row.depth:
            return row
        count = self._of_links.get(row.via, 0)
        if count > self._depth:
            if len(self._held) < MOST:
                self._held[row.id] = Held(row.host, row.depth, count, row.relevance)
            return row._replace(state=State.KNOWN, reason=reason(CODE, count), off_topic=count)
        if count and len(self._counts) < MOST:
            self._counts[row.id] = (count, row.relevance)
        return row._replace(off_topic=count) if count else row

    def release(self, lessons: Lessons) -> None:
        """Lets go what an earlier run held back at a smaller depth."""
        for id, (host, depth, count, words) in list(self._held.items()):
            if count <= self._depth:
                self.forget(id)
                self._counts[id] = (count, words)
                lessons.released.append(Released(id, host, depth, State.KNOWN))

    def forget(self, id: int) -> None:
        """Somebody wants it visited, or it is excluded now."""
        self._held.pop(id, None)

    def _count_of_links(self, visit: Visit, task: Task, own: int) -> int:
        if visit.outcome is Outcome.REDIRECT:
            return own
        if task.kind == Kind.SOURCE:
            return 1  # a sitemap names all that a site has
        return 0 if visit.relevance >= self._relatedness else own + 1

    def _bring_nearer(self, links: set[int], count: int, parent: float, host: int, lessons: Lessons) -> None:
        for id in self._counts.keys() & links:
            before, words = self._counts[id]
            if before > count:
                self._come_nearer(id, count, words, self._rank(words, parent, host), lessons)
        for id in self._held.keys() & links:
            there, depth, before, words = self._held[id]
            if before > count:
                del self._held[id]
                self._come_nearer(id, count, words, self._rank(words, parent, there), lessons)
                lessons.released.append(Released(id, there, depth, State.KNOWN))

    def _come_nearer(self, id: int, count: int, words: float, rank: float, lessons: Lessons) -> None:
        if count:
            self._counts[id] = (count, words)
        else:
            self._counts.pop(id, None)
        lessons.off_topic[id] = (count, rank)
