"""Pages that are visited for the first time although the first crawl knew them: it held them back,
or ended before their turn. They say what was there, so they are no news."""

from collections.abc import Iterable, Mapping

from sanderling.model import Change, ChangeKind, Kind, NewUrl, Outcome, Task, Visit
from sanderling.repository.store import IntakeStore
from sanderling.server.gate.traps import pattern
from sanderling.telling.baseline import baseline

OLD = Change(ChangeKind.NEW, 1.0, "", "new, but known since the first crawl", news=False)
MOST_BEHIND = 100_000


class LongKnown:
    """What the first crawl knew, and pages like it that are found behind it in this run."""

    def __init__(self, store: IntakeStore) -> None:
        self._store = store
        self._last: int | None = None  # the number of the last URL that the first crawl found
        self._behind: set[int] = set()

    def changes_of(self, visits: Iterable[Visit], tasks: Mapping[int, Task]) -> dict[int, Change]:
        if self._last is None:
            self._last = baseline(self._store).urls
        if not self._last:
            return {}
        first = [
            visit.id
            for visit in visits
            if visit.outcome is Outcome.PAGE and tasks[visit.id].kind == Kind.PAGE and not tasks[visit.id].digest
        ]
        old = [id for id in first if id in self._behind or (self._store.number(id) or self._last + 1) <= self._last]
        # A page that was missing is news when it comes.
        return dict.fromkeys(set(old) - self._store.before(old).keys(), OLD) if old else {}

    def follow(self, urls: Iterable[NewUrl], changes: Mapping[int, Change], tasks: Mapping[int, Task]) -> None:
        """Takes note of the next ones, such as an earlier month of a calendar."""
        for row in urls:
            if (
                changes.get(row.via) is OLD
                and len(self._behind) < MOST_BEHIND
                and pattern(row.url) == pattern(tasks[row.via].url)
            ):
                self._behind.add(row.id)
