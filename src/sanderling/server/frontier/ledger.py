"""The totals of a crawl: the only module that changes them.

A page counts once, in the total of the state it is in, so every change is a move from one state to
another. Totals are written in the transaction of the rows they count. Sitemaps are no pages: only
their bytes count.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sanderling.model import (
    Before,
    Change,
    ChangeKind,
    Counts,
    Kind,
    MarkedPage,
    NewUrl,
    Outcome,
    Settled,
    State,
    Visit,
)

# The total that counts the pages in each state. What is leased is queued as far as the store knows.
TOTALS = {
    State.KNOWN: "held",
    State.QUEUED: "queued",
    State.FETCHED: "fetched",
    State.FAILED: "failed",
    State.GONE: "gone",
    State.EXCLUDED: "excluded",
}

_CAME_OR_LEFT = ChangeKind.NEW | ChangeKind.GONE


class Ledger:
    """Keeps the totals. `counts` is what they are now: for reading, and for the store to write."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    def admitted(self, urls: Sequence[NewUrl]) -> None:
        """URLs were met for the first time."""
        states = [row.state for row in urls if row.kind == Kind.PAGE]
        self.counts.known += len(states)
        self._move([], states)
        files = [row.state for row in urls if row.kind == Kind.REQUISITE]
        self.counts.requisites += len(files)
        self.counts.requisites_queued += files.count(State.QUEUED)

    def moved(self, moves: Iterable[tuple[int, State]]) -> None:
        """Pages went from one state to another without a visit; none of them is a redirect."""
        pairs = list(moves)
        self._move([old for old, _ in pairs], [new for _, new in pairs])

    def failed_retried(self) -> None:
        """Every page that failed is queued again."""
        counts = self.counts
        counts.queued, counts.failed = counts.queued + counts.failed, 0
        counts.requisites_queued, counts.requisites_failed = counts.requisites_queued + counts.requisites_failed, 0

    def set_aside(self, state: State, before: Before | None) -> None:
        """A page in a state is given up; `before` is what is known of it if it was visited."""
        self._move([state], [State.FAILED])
        self.counts.redirects -= before is not None and _is_redirect(before)

    def visited(
        self,
        visits: list[Visit],
        settled: list[Settled],
        known: Mapping[int, Before],
        changes: Mapping[int, Change],
        leased: int,
    ) -> None:
        """Pages were visited. `known` is what earlier visits left of them; what is queued is
        visited as if it were new."""
        counts = self.counts
        counts.leased = leased
        ended = [each for each in settled if not each.due]
        counts.retried += len(settled) - len(ended)
        self._move(
            [known[each.id].state if each.id in known else State.QUEUED for each in ended],
            [each.state for each in ended],
        )
        brought = {visit.id for visit in visits if brings_version(visit, changes)}
        stored = brought.union(id for id, before in known.items() if before.ever)
        counts.versions += len(brought)
        counts.pages += sum(id not in known or not known[id].ever for id in brought)
        counts.redirects -= sum(each.id in known and _is_redirect(known[each.id]) for each in ended)
        counts.redirects += sum(each.state is State.FETCHED and each.id not in stored for each in ended)
        self._sum_up(visits, known, changes, {each.id for each in ended})

    def marked(self, pages: Sequence[MarkedPage]) -> None:
        """Pages got a version without a visit."""
        self.counts.versions += len(pages)

    def others_read(self, visits: Iterable[Visit]) -> None:
        """Sitemaps and files of pages were fetched."""
        self.counts.bytes += sum(visit.size for visit in visits)

    def requisites_settled(self, settled: Iterable[Settled], known: Mapping[int, Before]) -> None:
        """Files of pages were visited."""
        for each in settled:
            if not each.due:
                self.requisite_moved(State(known[each.id].state) if each.id in known else State.QUEUED, each.state)

    def requisite_moved(self, old: State, new: State) -> None:
        self.counts.requisites_queued += (new is State.QUEUED) - (old is State.QUEUED)
        self.counts.requisites_failed += (new is State.FAILED) - (old is State.FAILED)

    def became_requisites(self, count: int) -> None:
        """Links that were excluded turned out to be files of pages."""
        counts = self.counts
        counts.known, counts.excluded = counts.known - count, counts.excluded - count
        counts.requisites, counts.requisites_queued = counts.requisites + count, counts.requisites_queued + count

    def _sum_up(
        self, visits: list[Visit], known: Mapping[int, Before], changes: Mapping[int, Change], ended: Collection[int]
    ) -> None:
        """Adds to the totals that only grow: what visits cost, and what later visits found."""
        counts = self.counts
        for visit in visits:
            counts.bytes += visit.size
            counts.truncated += visit.truncated
            counts.visits += visit.status != 0
            before = known.get(visit.id)
            change = changes.get(visit.id)
            if visit.outcome is Outcome.UNCHANGED:
                counts.not_modified += visit.status == 304
                counts.same += visit.status != 304
            elif before is None or (not before.ever and _visited_as_new(visit, before)):
                continue
            elif change is not None:
                counts.vanished += bool(change.kinds & ChangeKind.GONE)
                counts.back += bool(change.kinds & ChangeKind.NEW)
                counts.quiet += not change.news
                counts.changed += change.news and not change.kinds & _CAME_OR_LEFT
            else:
                counts.missed += visit.outcome in (Outcome.FAILED, Outcome.RETRY) and visit.id in ended

    def _move(self, old: Sequence[int], new: Sequence[int]) -> None:
        for state, total in TOTALS.items():
            change = new.count(state) - old.count(state)
            if change:
                setattr(self.counts, total, getattr(self.counts, total) + change)


def _visited_as_new(visit: Visit, before: Before) -> bool:
    """Whether a URL without a version is visited as if it were new."""
    return before.state == State.QUEUED or visit.outcome is Outcome.PAGE


def brings_version(visit: Visit, changes: Mapping[int, Change]) -> bool:
    """Whether the store keeps a new version for a visit."""
    return visit.stored is not None and (visit.outcome is Outcome.PAGE or visit.id in changes)


def _is_redirect(before: Before) -> bool:
    """A URL that was fetched and never had content of its own."""
    return before.state == State.FETCHED and not before.ever
