"""Stores of older versions are upgraded step by step, after a backup. Newer ones are not
touched."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from sanderling.errors import BadFolder, Damaged
from sanderling.model import Counts, Host
from sanderling.repository import migrations
from sanderling.repository.address import located, namespace
from sanderling.repository.migrations import SchemaStep
from sanderling.repository.postgres import PostgresStore
from sanderling.repository.postgres import database as in_postgres
from sanderling.repository.sqlite import SqliteStore
from sanderling.repository.sqlite import database as in_sqlite
from sanderling.testing.postgres import PostgresServer
from tests.conftest import Run
from tests.repository.test_store import HOST, commit, url, visit

FIRST = Path(__file__).parent / "schema-1"
SITE = "http://127.0.0.1:48231/"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder of the first version, in the middle of a crawl."""
    folder = tmp_path / "old"
    shutil.copytree(FIRST, folder)
    with closing(sqlite3.connect(folder / "sanderling.db")) as db:
        db.executescript((folder / "sanderling.sql").read_text())
    (folder / "sanderling.sql").unlink()
    return folder


def schema_of(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))


def test_an_older_folder_is_upgraded_after_a_backup(old: Path) -> None:
    before = schema_of(old / "sanderling.db")
    store = SqliteStore(old / "sanderling.db")
    (message,) = store.messages
    assert f"from schema 1 to {in_sqlite.SCHEMA}" in message
    assert store.counts() == Counts(known=7, queued=2, fetched=3, gone=1, excluded=1, pages=3, versions=3, bytes=202)
    assert store.seeds() == [SITE]
    pages = {page.url.removeprefix(SITE): page for page in store.pages()}
    assert set(pages) == {"", "a", "b", "gone"}
    assert [pages[name].title for name in ("", "a", "b")] == ["Home", "A", "B"]
    assert dict(store.edges())[SITE] == [SITE + "a", SITE + "b", SITE + "gone", "http://elsewhere.test/"]
    (waiting,) = store.waiting()
    assert waiting.queued == 2
    assert {task.url for task in store.take(waiting.host.id, 9, set())} == {SITE + "c", SITE + "moved"}
    assert waiting.host.robots is not None
    assert waiting.host.learned == b""
    store.close()
    assert schema_of(old / "sanderling.db.schema-1.backup") == before
    again = SqliteStore(old / "sanderling.db")
    assert again.messages == []
    again.close()


def test_an_upgraded_store_is_like_a_new_one(old: Path, tmp_path: Path) -> None:
    SqliteStore(old / "sanderling.db").close()
    SqliteStore(tmp_path / "new.db").close()
    assert schema_of(old / "sanderling.db") == schema_of(tmp_path / "new.db")


def test_commands_on_an_older_folder(old: Path, sanderling: Run) -> None:
    reading = sanderling("pages", old)
    assert reading.code == 2
    assert "older Sanderling" in reading.err
    assert f"sanderling crawl -d {old}" in reading.err
    crawl = sanderling("crawl", "-d", old)  # it may fetch no more pages
    assert crawl.code == 0, crawl.err
    assert "schema-1.backup" in crawl.err
    assert len(sanderling("pages", old, "--json").lines) == 4
    assert len(sanderling("export", old, "--format", "jsonl", "-o", "-").lines) == 3


def test_a_step_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema_of(old / "sanderling.db")
    broken = SchemaStep("CREATE TABLE more (id INTEGER);\nSELECT nonsense;\n", None)
    monkeypatch.setattr(in_sqlite, "STEPS", [*in_sqlite.STEPS[:-1], broken])
    with pytest.raises(Damaged, match="nonsense"):
        SqliteStore(old / "sanderling.db")
    assert schema_of(old / "sanderling.db") == before


def test_a_store_that_was_never_finished_is_begun_again(tmp_path: Path) -> None:
    (tmp_path / "sanderling.db").touch()
    with pytest.raises(BadFolder, match="nothing has been crawled"):
        SqliteStore(tmp_path / "sanderling.db", readonly=True)
    store = SqliteStore(tmp_path / "sanderling.db")
    assert store.counts() == Counts()
    store.close()


def test_a_database_is_upgraded_after_a_backup(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = located(postgres.dsn, tmp_path) or ""
    name = namespace(dsn)
    store = PostgresStore(dsn)
    store.seed([], [url("a"), url("b")], [HOST], Counts(known=2))
    store.commit(commit(1, [visit("a")]))
    store.close()
    now = postgres_steps()
    for broken in ("SELECT nonsense", "SELECT 1; SELECT 1/0"):
        grow(monkeypatch, [*now, SchemaStep(broken, None)])
        with pytest.raises(psycopg.Error):
            PostgresStore(dsn)
    grow(monkeypatch, [*now, SchemaStep("ALTER TABLE urls ADD COLUMN extra int NOT NULL DEFAULT 7", None)])
    with pytest.raises(BadFolder, match="older"):
        PostgresStore(dsn, readonly=True)
    newer = PostgresStore(dsn)
    (message,) = newer.messages
    assert f"{name}_schema_{len(now)}" in message
    assert newer.commit(commit(2, [visit("b", 1)], [url("c")]))
    newer.close()
    grow(monkeypatch, now)
    with pytest.raises(BadFolder, match="newer"):
        PostgresStore(dsn)
    with psycopg.connect(postgres.dsn, autocommit=True) as db:  # the way back
        db.execute(f"DROP SCHEMA {name} CASCADE")
        db.execute(f"ALTER SCHEMA {name}_schema_{len(now)} RENAME TO {name}")
    back = PostgresStore(dsn)
    assert [page.url for page in back.pages()] == ["http://e.org/a"]
    assert back.commit(commit(2, [visit("b", 1)], [url("c")], hosts=[Host(8, "http://f.org")]))
    assert [task.url for task in back.take(7, 9, set())] == ["http://e.org/c"]
    back.close()


def postgres_steps() -> list[SchemaStep]:
    return migrations.steps("postgres")


def grow(monkeypatch: pytest.MonkeyPatch, steps: list[SchemaStep]) -> None:
    monkeypatch.setattr(in_postgres, "STEPS", steps)
    monkeypatch.setattr(in_postgres, "SCHEMA", len(steps))
