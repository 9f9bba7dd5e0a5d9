"""The estimated freshness of a collection over time."""

from pathlib import Path

from sanderling.repository.sqlite import SqliteStore
from sanderling.server.revisits import logbook
from sanderling.server.revisits.logbook import RefreshLog, past
from sanderling.server.revisits.refresher import Refreshing


def believed(freshness: float, planned: bool = True) -> Refreshing:
    return Refreshing(planned, 10, freshness, 0.5, 1.0, 0, 0.0)


def test_a_refresh_notes_its_beginning_and_its_end(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    book = RefreshLog(store)
    book.see(None, 0.0)
    book.see(believed(0.0, planned=False), 1.0)
    assert past(store) == []
    for now, freshness in ((10.0, 0.5), (20.0, 0.6), (30.0, 0.7), (10.0 + logbook.EVERY, 0.8), (700.0, 0.85)):
        book.see(believed(freshness), now)
    book.see(believed(0.9), 800.0, ends=True)
    assert past(store) == [(10.0, 0.5), (10.0 + logbook.EVERY, 0.8), (800.0, 0.9)]
    store.close()


def test_what_is_kept_is_bounded_and_covers_all_of_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    book = RefreshLog(store)
    for step in range(3 * logbook.MOST):
        book.see(believed(0.9), step * logbook.EVERY)
    kept = past(store)
    times = [at for at, _ in kept]
    assert logbook.MOST // 2 < len(kept) <= logbook.MOST and times == sorted(times)
    assert times[0] == 0.0 and times[-1] == (3 * logbook.MOST - 1) * logbook.EVERY
    store.close()
