"""Crawls with their state in PostgreSQL: in normal use, while the database restarts, and with all processes killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psycopg
from psycopg import sql

from sanderling.refreshing.terms import Budget, Terms
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
                until(lambda times=times: errors.read_text().count("the database went away") == times)
                time.sleep(pause)
                server.start()
                until(lambda times=times: errors.read_text().count("the database is back") == times)
            site.release()
            assert process.wait(PATIENCE) == 0
        expected = site.direct.reachable(0)
        requests = site.requests
    said = errors.read_text()
    assert "Traceback" not in said
    assert said.count("the database went away") == said.count("the database is back") == 3
    assert Counter(stored_urls(folder)) == Counter(expected)
    assert max(count for url, count in requests.items() if not url.endswith("robots.txt")) == 1


def test_stopping_while_the_database_is_away(tmp_path: Path) -> None:
    folder, errors = tmp_path / "crawl", tmp_path / "errors"
    with PostgresServer() as server, SyntheticWeb(hosts=1, pages=300, seed=6).serve() as site:
        site.hold(after=100)
        with start(folder, site, server, errors) as process:
            until(lambda: site.held)
            server.stop()
            site.hold(after=50)
            until(lambda: "the database went away" in errors.read_text())
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
