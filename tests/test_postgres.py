"""Crawls with their state in PostgreSQL: in normal use, while the database restarts, and with all
processes killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
from psycopg import sql

from sanderling.errors import StoreLost
from sanderling.repository.address import located
from sanderling.repository.postgres import PostgresStore
from sanderling.repository.postgres.session import LOCK_PATIENCE
from sanderling.server.revisits.terms import Budget, Terms
from sanderling.settings import load
from sanderling.testing import ServedWeb, SyntheticWeb
from sanderling.testing.postgres import PostgresServer
from tests.conftest import FAST, PATIENT, Run, started, stored_urls
from tests.waiting import PATIENCE, until


def test_a_crawl_from_start_to_export(
    tmp_path: Path, web: ServedWeb, postgres: PostgresServer, sanderling: Run
) -> None:
    folder = tmp_path / "My Crawl"
    crawl = ("crawl", web.url, "-d", folder, *FAST, "--clients", 1, "--json")
    first = sanderling(*crawl, "--store", postgres.dsn, "--max-pages", 40)
    assert first.code == 0, first.err
    assert first.json["pages"] == 40
    assert not (folder / "sanderling.db").exists()
    assert "search_path%3Dcrawl_my_crawl_" in (load(folder / "sanderling.toml")[0].store or "")
    moved = folder.rename(tmp_path / "moved")
    second = sanderling("crawl", "-d", moved, *FAST, "--json", "--store", postgres.dsn, "--max-pages", 9999)
    expected = web.direct.reachable(0)
    assert second.json["pages"] == len(expected)
    assert Counter(stored_urls(moved)) == Counter(expected)
    assert sanderling("status", moved, "--json").json["pages"] == len(expected)
    assert {page["url"] for page in sanderling("pages", moved, "--json").lines} == set(expected)
    edges = sanderling("export", moved, "--format", "links", "-o", "-").out.splitlines()
    assert {line.split("\t")[0] for line in edges} <= set(expected)
    assert len(edges) > len(expected)


def test_a_write_that_met_a_deadlock_is_tried_again(tmp_path: Path, postgres: PostgresServer) -> None:
    tries = 0
    with (
        closing(PostgresStore(located(postgres.dsn, tmp_path) or "")) as store,
        psycopg.connect(postgres.dsn, autocommit=True) as look,
        psycopg.connect(postgres.dsn) as other,
    ):
        look.execute("CREATE TABLE pair AS SELECT generate_series(1, 2) AS n")
        touch = "UPDATE public.pair SET n = n WHERE n = %s"
        other.execute("SET deadlock_timeout = '60s'")  # it is not the one that gives way
        other.execute(touch, (2,))
        waits = threading.Thread(target=lambda: (other.execute(touch, (1,)), other.commit()))

        def work(db: psycopg.Connection[Any]) -> None:
            nonlocal tries
            tries += 1
            db.execute(touch, (1,))
            if tries == 1:
                waits.start()
                until(lambda: look.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
            db.execute(touch, (2,))

        store._session.write(work)
        waits.join()
    assert tries == 2


def test_two_crawls_in_one_database(tmp_path: Path, web: ServedWeb, postgres: PostgresServer, sanderling: Run) -> None:
    for name, pages in (("a", 10), ("b", 20)):
        sanderling("crawl", web.url, "-d", tmp_path / name, *FAST, "--store", postgres.dsn, "--max-pages", pages)
    assert sanderling("status", tmp_path / "a", "--json").json["pages"] == 10
    assert sanderling("status", tmp_path / "b", "--json").json["pages"] == 20


def test_a_namespace_that_is_dropped_costs_no_archive(
    tmp_path: Path, web: ServedWeb, postgres: PostgresServer, sanderling: Run
) -> None:
    folder = tmp_path / "crawl"
    assert sanderling("crawl", web.url, "-d", folder, *FAST, "--store", postgres.dsn, "--max-pages", 10).code == 0
    stored = stored_urls(folder)
    name = (load(folder / "sanderling.toml")[0].store or "").partition("search_path%3D")[2]
    with psycopg.connect(postgres.dsn) as db:
        db.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))
    ran = sanderling("crawl", "-d", folder)
    assert ran.code == 1
    assert "the crawl's database is empty" in ran.err
    assert stored_urls(folder) == stored


def test_a_namespace_belongs_to_one_folder(
    tmp_path: Path, web: ServedWeb, postgres: PostgresServer, sanderling: Run
) -> None:
    """Also while the first one runs, after a move, and against a copy of the folder."""
    named = f"{postgres.dsn}&options=-csearch_path%3Dmine"
    first, second = tmp_path / "first", tmp_path / "second"
    intruder = ("crawl", web.url, "-d", second, *FAST, "--store", named)
    web.hold(after=10)
    with started("crawl", web.url, "-d", first, *FAST, *PATIENT, "--store", named) as process:
        until(lambda: web.held)
        began = time.monotonic()
        refused = sanderling(*intruder)
        assert time.monotonic() - began < LOCK_PATIENCE
        web.release()
        assert process.wait(PATIENCE) == 0
    for ran in (refused, sanderling(*intruder)):
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1 and f"belongs to the folder {first}" in ran.err
    assert not second.exists()
    moved = first.rename(tmp_path / "moved")
    assert sanderling("crawl", "-d", moved).code == 0
    shutil.copytree(moved, second)
    copied = sanderling("crawl", "-d", second)
    assert (copied.code, f"belongs to the folder {moved}" in copied.err) == (2, True)
    assert Counter(stored_urls(moved)) == Counter(web.direct.reachable(0))


@pytest.mark.parametrize("what", ["namespace", "database"])
def test_what_is_dropped_in_mid_crawl_is_named(
    tmp_path: Path, postgres: PostgresServer, sanderling: Run, what: str
) -> None:
    folder, errors = tmp_path / "crawl", tmp_path / "errors"
    store = f"{postgres.dsn.replace('/postgres?', '/other?')}&options=-csearch_path%3Ddropped"
    with psycopg.connect(postgres.dsn, autocommit=True) as db:
        db.execute("CREATE DATABASE other")
    with SyntheticWeb(hosts=1, pages=300, seed=6).serve() as site, errors.open("wb") as file:
        site.hold(after=100)
        crawl = ("crawl", site.url, "-d", folder, *FAST, *PATIENT, "--store", store)
        with started(*crawl, stdout=subprocess.DEVNULL, stderr=file) as process:
            until(lambda: site.held)
            drop = "DROP SCHEMA dropped CASCADE" if what == "namespace" else "DROP DATABASE other WITH (FORCE)"
            where = store if what == "namespace" else postgres.dsn
            with psycopg.connect(where, autocommit=True) as db:
                until(lambda: is_done(db, drop))
            site.release()
            assert process.wait(PATIENCE) == 1
    said = errors.read_text()
    name = "namespace dropped" if what == "namespace" else "database other"
    assert said.splitlines()[-1].endswith("`sanderling recover` on the crawl's folder rebuilds it from the archives")
    assert f"the {name} at postgresql://postgres@/other was dropped" in said
    assert "Traceback" not in said
    stored = stored_urls(folder)
    if what == "database":
        with psycopg.connect(postgres.dsn, autocommit=True) as db:
            db.execute("CREATE DATABASE other")
    assert sanderling("recover", folder).code == 0
    assert {page["url"] for page in sanderling("pages", folder, "--json").lines} == set(stored) != set()
    with psycopg.connect(postgres.dsn, autocommit=True) as db:
        db.execute("DROP DATABASE other WITH (FORCE)")


def is_done(db: psycopg.Connection[Any], statement: str) -> bool:
    """Whether a statement was not interrupted by what the crawl wrote meanwhile."""
    try:
        db.execute(statement.encode())
    except psycopg.errors.DeadlockDetected:
        return False
    return True


def test_a_database_that_comes_back_older_is_not_written_to(postgres: PostgresServer) -> None:
    """What the server remembers is ahead of it: as after a restored backup, or another writer."""
    dsn = f"{postgres.dsn}&options=-csearch_path%3Dolder"
    store = PostgresStore(dsn, while_away=lambda reason: None)
    store.note("a", "1")
    with psycopg.connect(postgres.dsn, autocommit=True) as db:
        db.execute("UPDATE older.meta SET value = 'another' WHERE key = 'written'")
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    with pytest.raises(StoreLost, match="without the last commits"):
        store.note("a", "2")
    store.close()


def test_what_cannot_be_is_said_in_a_sentence(
    tmp_path: Path, web: ServedWeb, postgres: PostgresServer, sanderling: Run
) -> None:
    folder = tmp_path / "crawl"
    crawl = ("crawl", web.url, "-d", folder, *FAST, "--max-pages", 5)
    ran = sanderling(*crawl, "--store", "postgresql://me:secret@127.0.0.1:1/db")
    assert ran.code == 1
    assert "cannot be reached" in ran.err
    assert "secret" not in ran.err
    assert not folder.exists()
    assert sanderling(*crawl).code == 0
    elsewhere = sanderling(*crawl, "--store", postgres.dsn)
    assert elsewhere.code == 2
    assert "stays there" in elsewhere.err


def test_without_the_driver(tmp_path: Path, web: ServedWeb, sanderling: Run) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('No module named psycopg')")
    ran = sanderling(
        "crawl",
        web.url,
        "-d",
        tmp_path / "crawl",
        "--store",
        "postgresql:///x",
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
    )
    assert ran.code == 2
    assert "pip install 'sanderling[postgresql]'" in ran.err


@contextmanager
def start(folder: Path, site: ServedWeb, server: PostgresServer, errors: Path) -> Iterator["subprocess.Popen[str]"]:
    arguments = ("crawl", site.url, "-d", folder, *FAST, *PATIENT, "--clients", 2, "--store", server.dsn)
    with errors.open("ab") as file, started(*arguments, stdout=subprocess.DEVNULL, stderr=file) as process:
        yield process


def test_a_database_that_goes_away_is_waited_for(tmp_path: Path) -> None:
    """Restarted three times, once long enough for every client to run out of work."""
    folder, errors = tmp_path / "crawl", tmp_path / "errors"
    with PostgresServer() as server, SyntheticWeb(hosts=1, pages=1200, seed=6, latency=0.01).serve() as site:
        site.hold(after=150)
        with start(folder, site, server, errors) as process:
            for times, pause in enumerate((0.0, 2.0, 0.3), start=1):
                until(lambda: site.held)
                server.stop("fast" if pause else "immediate")
                site.hold(after=250)  # these pages wait for the database
                until(lambda times=times: errors.read_text().count("the database is not available") == times)
                time.sleep(pause)
                server.start()
                until(lambda times=times: errors.read_text().count("the database is back") == times)
            site.release()
            assert process.wait(PATIENCE) == 0
        expected = site.direct.reachable(0)
        requests = site.requests
    said = errors.read_text()
    assert "Traceback" not in said
    assert said.count("the database is not available") == said.count("the database is back") == 3
    assert Counter(stored_urls(folder)) == Counter(expected)
    assert max(count for url, count in requests.items() if not url.endswith("robots.txt")) == 1


def test_a_crawl_that_starts_waits_for_a_connection(tmp_path: Path) -> None:
    """At the limit of connections, and only there: an address that is wrong is said at once."""
    folder, errors = tmp_path / "crawl", tmp_path / "errors"
    with PostgresServer() as server, SyntheticWeb(hosts=1, pages=8, seed=6).serve() as site, ExitStack() as taken:
        with psycopg.connect(server.dsn, autocommit=True) as db:
            db.execute("ALTER SYSTEM SET max_connections = 6")
            db.execute("ALTER SYSTEM SET max_wal_senders = 0")
            db.execute("ALTER SYSTEM SET superuser_reserved_connections = 0")
        server.stop("fast")
        server.start()
        for _ in range(6):
            taken.enter_context(psycopg.connect(server.dsn))
        with start(folder, site, server, errors) as process:
            until(lambda: "the database is not available (sorry, too many clients already)" in errors.read_text())
            taken.close()
            assert process.wait(PATIENCE) == 0
        expected = site.direct.reachable(0)
        assert "the database is back" in errors.read_text() and Counter(stored_urls(folder)) == Counter(expected)
        server.stop()
        with start(tmp_path / "other", site, server, errors) as process:
            assert process.wait(PATIENCE) != 0
    assert "cannot be reached" in errors.read_text()


def test_stopping_while_the_database_is_away(tmp_path: Path) -> None:
    folder, errors = tmp_path / "crawl", tmp_path / "errors"
    with PostgresServer() as server, SyntheticWeb(hosts=1, pages=300, seed=6).serve() as site:
        site.hold(after=100)
        with start(folder, site, server, errors) as process:
            until(lambda: site.held)
            server.stop()
            site.hold(after=50)
            until(lambda: "the database is not available" in errors.read_text())
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 1
        assert "stopped while the database was away" in errors.read_text()
        server.start()
        site.release()
        with start(folder, site, server, errors) as process:
            assert process.wait(PATIENCE) == 0
        expected = site.direct.reachable(0)
    assert "Traceback" not in errors.read_text()
    assert Counter(stored_urls(folder)) == Counter(expected)


def test_killing_everything_loses_nothing(tmp_path: Path, postgres: PostgresServer) -> None:
    folder, errors = tmp_path / "crawl", tmp_path / "errors"
    chance = random.Random(5)
    with SyntheticWeb(hosts=1, pages=1500, seed=3, latency=0.03).serve() as site:
        expected = site.direct.reachable(0)
        for _ in range(8):
            site.hold(after=150)
            enough = sum(site.requests.values()) + chance.randrange(30, 150)
            with start(folder, site, postgres, errors) as process:
                until(lambda enough=enough: sum(site.requests.values()) >= enough)
                time.sleep(chance.random() * 0.4)
                os.killpg(process.pid, signal.SIGKILL)
            until(lambda: not site.in_flight)
        site.release()
        with start(folder, site, postgres, errors) as process:
            assert process.wait(PATIENCE) == 0
        requests = sum(site.requests.values())
    assert "Traceback" not in errors.read_text()
    assert Counter(stored_urls(folder)) == Counter(expected)
    # Two clients hold at most a full stock each.
    assert requests <= len(expected) + 8 * 2 * 200


def test_a_plan_waits_for_a_database_that_went_away(tmp_path: Path, web: ServedWeb, sanderling: Run) -> None:
    folder, result = tmp_path / "crawl", tmp_path / "plan"
    terms = msgspec.json.encode(Terms(Budget(10.0))).decode()
    with PostgresServer() as server:
        sanderling("crawl", web.url, "-d", folder, *FAST, "--store", server.dsn, "--max-pages", 5)
        server.stop("fast")
        words = [sys.executable, "-m", "sanderling.jobs.plan", str(folder), terms, str(result)]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as planning:
            assert planning.stderr is not None and "cannot be reached" in planning.stderr.readline()
            server.start()
            assert planning.wait(PATIENCE) == 0 and result.exists()
