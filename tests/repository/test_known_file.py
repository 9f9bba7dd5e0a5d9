"""The known URLs are read from a file when a server starts, and from the table when the file does
not fit."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sanderling.model import Counts
from sanderling.repository import known_file, known_urls
from sanderling.repository.address import located
from sanderling.repository.postgres import PostgresStore
from sanderling.repository.sqlite import SqliteStore
from sanderling.repository.sqlite.database import FEWEST_CHECKPOINT_PAGES, PAGE
from sanderling.testing.postgres import PostgresServer
from tests.repository.test_store import HOST, url


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_file, "PIECE", 50)
    monkeypatch.setattr(known_urls, "FEWEST", 64)


def grow(path: Path, first: int, last: int) -> None:
    store = SqliteStore(path)
    for start in range(first, last, 10):
        store.seed([], [url(f"{n}") for n in range(start, min(last, start + 10))], [HOST], Counts())
    store.close()


def loaded(path: Path, known: int) -> bool:
    """Whether the file was used; and that exactly the first URLs are known."""
    store, asked = SqliteStore(path), list[str]()
    store._db.set_trace_callback(asked.append)
    rows = [url(f"{n}") for n in range(known + 100)]
    assert store.unknown({row.id: row.url for row in rows}) == [row.id for row in rows[known:]]
    numbers = store._identities.numbers([row.id for row in rows])
    assert len(set(numbers.values())) == len(numbers) == known
    store.close()
    return "SELECT number, id, url FROM urls" not in asked


def test_the_file_grows_with_the_crawl_and_saves_reading_the_table(tmp_path: Path) -> None:
    path = tmp_path / "sanderling.db"
    grow(path, 0, 40)
    assert not path.with_suffix(".known").exists()  # a small crawl needs none
    assert not loaded(path, 40)
    grow(path, 40, 130)
    assert loaded(path, 130)
    grow(path, 130, 335)
    assert loaded(path, 335)


def test_a_write_that_was_undone_is_not_in_it(tmp_path: Path) -> None:
    path = tmp_path / "sanderling.db"
    grow(path, 0, 130)
    store = SqliteStore(path)
    with pytest.raises(ZeroDivisionError), store._transaction():
        store._identities.append([url(f"x{n}") for n in range(60)])
        raise ZeroDivisionError
    assert store.unknown({url("x1").id: url("x1").url}) == [url("x1").id]
    store.close()
    grow(path, 130, 200)
    assert loaded(path, 200)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def spoil(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100] + b"\0" * (path.stat().st_size - 100))


@pytest.mark.parametrize("harm", [Path.unlink, cut, spoil])
def test_a_file_that_does_not_fit_is_made_anew(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    path = tmp_path / "sanderling.db"
    grow(path, 0, 130)
    harm(path.with_suffix(".known"))
    assert not loaded(path, 130)
    grow(path, 130, 140)
    assert loaded(path, 140)


def test_a_file_of_a_newer_database(tmp_path: Path) -> None:
    """An older one was restored, grew in another way, and the newer one came back."""
    path, older, newer = (tmp_path / name for name in ("sanderling.db", "older", "newer"))
    grow(path, 0, 130)
    shutil.copy(path, older)
    grow(path, 130, 260)
    shutil.copy(path, newer)
    shutil.copy(older, path)
    assert loaded(path, 130)
    store = SqliteStore(path)
    store.seed([], [url(f"other{n}") for n in range(130)], [HOST], Counts())
    store.close()
    shutil.copy(newer, path)
    assert not loaded(path, 260)


def test_the_log_is_bounded_by_the_size_of_the_data(tmp_path: Path) -> None:
    path = tmp_path / "sanderling.db"
    store = SqliteStore(path)
    for n in range(3 * FEWEST_CHECKPOINT_PAGES):
        store.note("place", str(n))
    assert path.stat().st_size < FEWEST_CHECKPOINT_PAGES * PAGE
    assert path.with_name("sanderling.db-wal").stat().st_size < 1.1 * FEWEST_CHECKPOINT_PAGES * PAGE
    store.close()


@pytest.mark.parametrize("harm", [None, Path.unlink, cut])
def test_a_server_with_postgresql_reads_the_file_too(
    tmp_path: Path, postgres: PostgresServer, harm: Callable[[Path], None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, dsn = tmp_path / "sanderling.known", located(postgres.dsn, tmp_path) or ""
    asked: list[str] = []

    def opened() -> PostgresStore:
        store = PostgresStore(dsn, known_file=known_file.KnownFile(path))
        stream = store._session.stream
        monkeypatch.setattr(
            store._session, "stream", lambda query, *more: (asked.append(query), stream(query, *more))[1]
        )
        return store

    store = opened()
    for start in range(0, 130, 10):
        rows = [url(f"{n}") for n in range(start, start + 10)]
        assert store.unknown({row.id: row.url for row in rows}) == [row.id for row in rows]
        store.seed([], rows, [HOST], Counts())
    store.close()
    if harm is not None:
        harm(path)
    for _ in range(2):
        asked.clear()
        store = opened()
        rows = [url(f"{n}") for n in range(200)]
        assert store.unknown({row.id: row.url for row in rows}) == [row.id for row in rows[130:]]
        store.close()
        assert ("SELECT id, url FROM urls" in asked) == (harm is not None)
        harm = None  # it was written anew
