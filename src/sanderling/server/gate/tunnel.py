"""Keeps a focused crawl near its topic, and lets it tunnel through a few pages that are not on it.

Each URL has a count: how many pages off the topic lie between it and the last page that is on it.
Links on a relevant page have 0. Links on any other page have one more than the page itself. Links
with more than the depth are held back. When a better page links to them, they are let go. With
depth 0 only links on relevant pages are followed.

Every page that links to a URL also moves its rank at once, up or down, and so does what links of
its kinds have led to (`topics/paths.py`). The job that scores the queue may come much later: a fast
crawl fetches thousands of pages before it has run twice.
"""

from collections.abc import Iterable

from msgspec import Struct

from sanderling.model import Kind, NewUrl, Outcome, State, Task, Visit
from sanderling.model.reasons import argument_of, code_of, reason
from sanderling.repository.store import TunnelStore
from sanderling.server.gate.holding import Lessons, Released
from sanderling.server.ranking.focus import Focus

CODE = "held-off-topic"
# About 300 bytes each. What comes after these is ranked again only by the job, and stays held if
# it is.
MOST = 300_000
# What moved by less stays: each new rank is a write.
WORTH_WRITING = 0.05
# What waits is ranked again in turn: so many for each page that is visited, and this many at least.
IN_TURN, FEWEST_IN_TURN = 20, 500
_UNKNOWN = (0, 0.0)  # of a page that is not in this report


class WaitingUrl(Struct, gc=False):
    """A URL that was not visited yet, and what the pages that link to it were worth."""

    host: int
    depth: int
    off_topic: int
    words: float
    pages: int = 0  # that link to it; 0 if they were not counted since the crawl was continued
    total: float = 0.0  # of their relevances
    rank: float = 0.0  # as it was given last
    held: bool = False

    def moves_to(self, rank: float) -> bool:
        return abs(rank - self.rank) > WORTH_WRITING * max(rank, self.rank)


class Tunnel:
    """What waits for a visit, with its counts."""

    def __init__(self, store: TunnelStore, relatedness: float, depth: int, focus: Focus, ranks: bool = True) -> None:
        """`ranks` says whether the crawl visits its pages in the order that `focus` ranks by."""
        self._relatedness, self._depth, self._rank, self._ranks = relatedness, depth, focus.rank, ranks
        self.trust, self._paths = focus.trust, focus.paths
        self._waiting: dict[int, WaitingUrl] = {}
        # Of each page in this report: the count of its links, and its relevance.
        self._pages: dict[int, tuple[int, float]] = {}
        for id, host, depth_of, count, words in store.off_topic(MOST):
            self._waiting[id] = WaitingUrl(host, depth_of, count, words)
        for id, host, depth_of, why in store.all_held(MOST):
            if code_of(why) == CODE:
                self._waiting[id] = WaitingUrl(host, depth_of, int(argument_of(why) or 0), 0.0, held=True)
        for url in store.trails(focus.paths.most) if ranks else ():
            self._paths.met(url.id, url.via, url.url, url.anchor)
            if url.state not in (State.KNOWN, State.QUEUED):
                self._paths.visited(url.id, url.relevance)

    def learn(self, visits: Iterable[tuple[Visit, Task]], lessons: Lessons) -> None:
        """Finds the counts of the links of a report, ranks what it links to again, and releases
        what a better page links to."""
        self._pages = {}
        for visit, task in visits:
            if visit.outcome in (Outcome.RETRY, Outcome.UNCHANGED):
                continue
            own = self._waiting.pop(visit.id, None)
            links = self._count_of_links(visit, task, own.off_topic if own is not None else 0)
            self._pages[visit.id] = links, visit.relevance
            if self._ranks and task.kind == Kind.PAGE:
                self._paths.visited(visit.id, visit.relevance)
            if visit.links and self._waiting:
                linked = self._waiting.keys() & set(memoryview(visit.links).cast("q"))
                # What counts for the rank of its links is a page, and only once.
                first = visit.outcome is Outcome.PAGE and task.kind == Kind.PAGE and not task.digest
                for id in linked:
                    self._link(id, self._waiting[id], links, visit.relevance if first else None, lessons)
        if self._ranks:
            self._rank_in_turn(max(FEWEST_IN_TURN, IN_TURN * len(self._pages)), lessons)

    def _rank_in_turn(self, most: int, lessons: Lessons) -> None:
        for id in self._paths.next(most):
            known = self._waiting.get(id)
            if known is not None and known.pages and not known.held and known.moves_to(rank := self._ranked(id, known)):
                known.rank = rank
                lessons.off_topic[id] = known.off_topic, rank

    def _ranked(self, id: int, known: WaitingUrl) -> float:
        rank = self._rank(known.words, known.total / known.pages, known.total, known.host)
        return self._paths.ranked(id, rank) if self._ranks else rank

    def too_far(self, row: NewUrl) -> NewUrl | None:
        """A new URL as it is held back, if too many pages off the topic lead to it. Ask this before
        the gate holds or counts it for other reasons.
        """
        if not _counts(row) or self._count(row) <= self._depth:
            return None
        return self._noted(row._replace(state=State.KNOWN, reason=reason(CODE, self._count(row))), held=True)

    def place(self, row: NewUrl) -> NewUrl:
        """A new URL with its count. One that the gate puts off has a count, too."""
        if row.state is State.EXCLUDED or not _counts(row):
            return row
        if row.state is State.QUEUED and (far := self.too_far(row)):
            return far
        return self._noted(row)

    def _count(self, row: NewUrl) -> int:
        return self._pages.get(row.via, _UNKNOWN)[0]

    def _noted(self, row: NewUrl, held: bool = False) -> NewUrl:
        """With its count, and the rank by what links of its kinds have led to."""
        count, parent = self._pages.get(row.via, _UNKNOWN)
        rank = row.rank
        if self._ranks:
            self._paths.met(row.id, row.via, row.url, row.anchor)
            rank = self._paths.ranked(row.id, rank)
        if len(self._waiting) < MOST:
            self._waiting[row.id] = WaitingUrl(row.host, row.depth, count, row.relevance, 1, parent, rank, held)
        return row._replace(rank=rank, off_topic=count) if count or rank != row.rank else row

    def release(self, lessons: Lessons) -> None:
        """Lets go what an earlier run held back at a smaller depth."""
        for id, known in self._waiting.items():
            if known.held and known.off_topic <= self._depth:
                known.held = False
                lessons.released.append(Released(id, known.host, known.depth, State.KNOWN))

    def forget(self, id: int) -> None:
        """Somebody wants it visited, or it is excluded now."""
        self._waiting.pop(id, None)
        self._paths.forget(id)

    def _count_of_links(self, visit: Visit, task: Task, own: int) -> int:
        if visit.outcome is Outcome.REDIRECT:
            return own
        if task.kind == Kind.SOURCE:
            return 1  # a sitemap names all that a site has
        return 0 if visit.relevance >= self._relatedness else own + 1

    def _link(self, id: int, known: WaitingUrl, count: int, relevance: float | None, lessons: Lessons) -> None:
        """One more page links to a URL that waits."""
        nearer = count < known.off_topic and (count <= self._depth or not known.held)
        if relevance is not None and (known.pages or nearer):
            known.pages += 1
            known.total += relevance
        if nearer:
            known.off_topic = count
            if known.held:
                known.held = False
                lessons.released.append(Released(id, known.host, known.depth, State.KNOWN))
        rank = self._ranked(id, known) if known.pages else known.rank
        if nearer or (not known.held and known.moves_to(rank)):
            known.rank = rank
            lessons.off_topic[id] = (known.off_topic, rank if self._ranks and known.pages else None)


def _counts(row: NewUrl) -> bool:
    """Whether pages off the topic are counted before it."""
    return row.kind == Kind.PAGE and row.depth > 0
