"""The index of identities is written late, without any visible effect."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sanderling.model import Counts
from sanderling.repository.sqlite import SqliteStore, identities
from tests.repository.test_store import HOST, commit, url, visit


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(identities, "FEWEST_WAITING", 100)
    return tmp_path / "sanderling.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


def written(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT count(*) FROM identities").fetchone()[0])


def grow(store: SqliteStore, first: int, last: int) -> None:
    for start in range(first, last, 20):
        store.seed([], [url(f"{n}") for n in range(start, start + 20)], [HOST], Counts())


def test_readers_find_what_is_written_and_what_is_not_yet(store: SqliteStore, path: Path) -> None:
    grow(store, 0, 60)
    assert written(path) == 0
    early = SqliteStore(path, readonly=True)
    wanted = [url(f"{n}").id for n in range(1000)]
    assert len(early.known(wanted)) == 60
    grow(store, 60, 900)
    assert 780 <= written(path) < 900
    late = SqliteStore(path, readonly=True)
    for reader in (early, late, store):
        found = reader.known(wanted)
        assert {id: text for id, (text, _) in found.items()} == {
            id: f"http://e.org/{n}" for n, id in enumerate(wanted[:900])
        }
    early.close()
    late.close()


def test_a_reader_beside_a_long_crawl_does_not_remember_it_all(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identities, "MOST_LATE", 50)
    reader = SqliteStore(path, readonly=True)
    for first in range(0, 2000, 100):
        grow(store, first, first + 100)
        assert reader.number(url(f"{first // 2}").id) is not None
        assert reader.number(url(f"{first + 99}").id) is not None
    assert len(reader._identities._late) < 700  # type: ignore[attr-defined]
    reader.close()


def test_a_store_that_was_left_alone_goes_on_where_it_was(store: SqliteStore, path: Path) -> None:
    grow(store, 0, 300)
    before = written(path)
    again = SqliteStore(path)  # as after a crash: nothing was closed
    assert again.unknown({url("299").id: "http://e.org/299", url("300").id: "http://e.org/300"}) == [url("300").id]
    grow(again, 300, 600)
    assert written(path) > before + 250
    assert len(again.known([url(f"{n}").id for n in range(600)])) == 600
    again.close()


def test_what_a_failed_commit_added_is_forgotten(store: SqliteStore) -> None:
    grow(store, 0, 200)
    broken = commit(1, [visit("0")], [url("new"), url("newer")], warcs={})  # the page is in a missing file
    with pytest.raises(KeyError):
        store.commit(broken)
    assert store.unknown({url("new").id: "http://e.org/new"}) == [url("new").id]
    assert store.number(url("new").id) is None
    assert store.commit(commit(1, [visit("0")], [url("new")]))
    assert store.number(url("new").id) == 201


def test_what_is_leased_together_lies_together(store: SqliteStore) -> None:
    store.seed([], [url(f"{n}", depth=n % 3, host=n % 2) for n in range(12)], [], Counts())
    for host in (0, 1):
        numbers = [store.number(task.id) for task in store.take(host, 9, set())]
        assert numbers == list(range(min(numbers), min(numbers) + 6))  # type: ignore[type-var]
