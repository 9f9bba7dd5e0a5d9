"""A lost database is rebuilt from the archives, and newer archives are taken back into an older
one."""

import contextlib
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from sanderling.documents import native
from sanderling.repository.opening import reading
from sanderling.settings import load
from sanderling.testing import DAY, ServedWeb, SyntheticWeb
from sanderling.testing.postgres import PostgresServer
from tests.conftest import FAST, Run, started
from tests.servers import Answer, PageServer, redirect
from tests.servers import links as hrefs
from tests.test_kill import DEADLY

WEB = SyntheticWeb(hosts=2, pages=60, seed=11, change_rate=0.15)
# Facts of a page that do not depend on when it was committed.
FACTS = (
    "url",
    "status",
    "state",
    "changes",
    "digest",
    "title",
    "mime",
    "charset",
    "simhash",
    "size",
    "redirect",
)


@pytest.fixture
def site() -> Iterator[ServedWeb]:
    with WEB.serve() as served:
        yield served


def pages(sanderling: Run, folder: Path) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.get(name) for name in FACTS) for row in sanderling("pages", folder, "--json").lines)


def versions(folder: Path) -> list[tuple[Any, ...]]:
    with reading(folder) as (_, store):
        return sorted((row.url, row.digest, int(row.kinds), row.summary, row.news) for row in store.changes())


def links(sanderling: Run, folder: Path) -> list[str]:
    return sorted(sanderling("export", folder, "--format", "links", "-o", "-").out.splitlines())


def everything(sanderling: Run, folder: Path) -> tuple[object, ...]:
    return pages(sanderling, folder), versions(folder), links(sanderling, folder)


def crawl_twice(sanderling: Run, site: ServedWeb, folder: Path) -> None:
    assert sanderling("crawl", site.url, "-d", folder, *FAST).code == 0
    site.clock.advance(4 * DAY)
    assert sanderling("crawl", "-d", folder, "--again").code == 0


def sound(sanderling: Run, folder: Path) -> None:
    checked = sanderling("check", folder, "--deep")
    assert checked.code == 0, checked.out


def lose_database(folder: Path) -> None:
    for path in folder.glob("sanderling.db*"):
        path.unlink()


def test_a_lost_database_is_rebuilt(sanderling: Run, site: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    crawl_twice(sanderling, site, folder)
    before, told = everything(sanderling, folder), sanderling("changes", folder, "--json").lines
    lose_database(folder)
    refused = sanderling("crawl", "-d", folder)
    assert refused.code == 1
    assert "sanderling recover" in refused.err
    ran = sanderling("recover", folder)
    assert ran.code == 0, ran.err
    assert everything(sanderling, folder) == before
    assert {row["url"] for row in sanderling("changes", folder, "--json").lines} == {row["url"] for row in told}
    sound(sanderling, folder)
    assert "nothing to take back" in sanderling("recover", folder).out
    assert everything(sanderling, folder) == before
    site.requests.clear()
    assert sanderling("crawl", "-d", folder).code == 0  # there is nothing left to do
    assert not site.requests
    assert sanderling("search", folder, before[0][0][6].split()[0]).code == 0  # type: ignore[index]


def test_without_settings_the_seeds_are_found(sanderling: Run, site: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", site.url, "-d", folder, *FAST).code == 0
    before = everything(sanderling, folder)
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.copytree(folder / "warc", bare / "warc")
    ran = sanderling("recover", bare)
    assert ran.code == 0, ran.err
    assert everything(sanderling, bare) == before
    assert site.url in (bare / "sanderling.toml").read_text()


def test_an_older_database_takes_newer_archives_back(sanderling: Run, site: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", site.url, "-d", folder, *FAST).code == 0
    with contextlib.closing(sqlite3.connect(folder / "sanderling.db")) as database:
        database.execute("VACUUM INTO ?", (str(tmp_path / "backup.db"),))
    site.clock.advance(4 * DAY)
    assert sanderling("crawl", "-d", folder, "--again").code == 0
    before = everything(sanderling, folder)
    lose_database(folder)
    shutil.copy(tmp_path / "backup.db", folder / "sanderling.db")
    assert sanderling("crawl", "-d", folder).code == 0
    orphans = list((folder / "warc" / "orphaned").iterdir())
    assert orphans
    ran = sanderling("recover", folder)
    assert ran.code == 0, ran.err
    assert everything(sanderling, folder) == before
    assert not list((folder / "warc" / "orphaned").iterdir())
    sound(sanderling, folder)
    # A copy of what the database knows stays where it is.
    for path in orphans:
        shutil.copy(folder / "warc" / path.name, path)
    again = sanderling("recover", folder)
    assert "nothing to take back" in again.out and "older" in again.out
    assert everything(sanderling, folder) == before
    assert all(path.exists() for path in orphans)


def test_a_namespace_that_was_dropped_is_rebuilt(
    sanderling: Run, site: ServedWeb, postgres: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", site.url, "-d", folder, *FAST, "--store", postgres.dsn).code == 0
    site.clock.advance(4 * DAY)
    assert sanderling("crawl", "-d", folder, "--again").code == 0
    before = everything(sanderling, folder)
    name = (load(folder / "sanderling.toml")[0].store or "").partition("search_path%3D")[2]
    with psycopg.connect(postgres.dsn) as db:
        db.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))
    ran = sanderling("recover", folder)
    assert ran.code == 0, ran.err
    assert everything(sanderling, folder) == before
    assert not (folder / "sanderling.db").exists()
    sound(sanderling, folder)


def test_redirects_errors_and_sitemaps_are_rebuilt(sanderling: Run, tmp_path: Path) -> None:
    """They are no pages, but they tell which URLs there are."""
    folder = tmp_path / "c"
    table = {
        "/": hrefs("/moved", "/lost", "/was"),
        "/moved": redirect("/page"),
        "/page": b"<title>A page</title>",
        "/was": lambda count: b"<title>Was there</title>" if count == 1 else Answer(b"gone", status=410),
        "/listed": b"<title>Only in the sitemap</title>",
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /private", "text/plain"),
    }
    with PageServer(table) as server:
        listed = f"<urlset><url><loc>{server.origin}/listed</loc></url></urlset>".encode()
        server.table["/sitemap.xml"] = Answer(listed, "application/xml")
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
        assert sanderling("crawl", "-d", folder, "--again", "--revisit-records").code == 0
    before = everything(sanderling, folder)
    status = sanderling("status", folder, "--json").json
    lose_database(folder)
    assert sanderling("recover", folder).code == 0
    assert everything(sanderling, folder) == before
    again = sanderling("status", folder, "--json").json
    same = ("pages", "versions", "fetched", "gone", "queued", "known", "redirects", "not_modified", "same")
    assert {name: again[name] for name in same} == {name: status[name] for name in same}
    sound(sanderling, folder)


def test_an_error_of_the_server_is_no_version(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    busy = Answer(b"later", status=503)
    with PageServer({"/": lambda count: busy if count in (1, 3) else b"<title>At last</title>"}) as server:
        assert sanderling("crawl", server.origin, "-d", folder, *FAST, "--retry-wait", "0.1s").code == 0
        assert sanderling("crawl", "-d", folder, "--again", "--retries", 0).code == 0
    before = versions(folder)
    lose_database(folder)
    assert sanderling("recover", folder).code == 0
    assert versions(folder) == before
    (row,) = sanderling("pages", folder, "--json").lines
    assert (row["state"], row["status"], row["title"]) == ("fetched", 200, "At last")


def test_what_a_crash_left_behind_the_last_commit_is_taken_back(
    sanderling: Run, site: ServedWeb, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", site.url, "-d", folder, *FAST, "--clients", 1, "--max-pages", 5).code == 0
    with contextlib.closing(sqlite3.connect(folder / "sanderling.db")) as database:
        database.execute("VACUUM INTO ?", (str(tmp_path / "backup.db"),))
    assert sanderling("crawl", "-d", folder, "--max-pages", "1000").code == 0
    before = everything(sanderling, folder)
    lose_database(folder)
    shutil.copy(tmp_path / "backup.db", folder / "sanderling.db")
    assert sanderling("recover", folder).code == 0
    assert everything(sanderling, folder) == before
    sound(sanderling, folder)


def test_a_recovery_that_is_killed_goes_on(sanderling: Run, site: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    crawl_twice(sanderling, site, folder)
    before = everything(sanderling, folder)
    lose_database(folder)
    killed = 0
    for _ in range(12):
        with started("recover", folder) as process:
            deadline = time.monotonic() + 30
            while process.poll() is None and not _some_pages(folder, 20 * (killed + 1)) and time.monotonic() < deadline:
                time.sleep(0.005)
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
    assert killed
    assert sanderling("recover", folder).code == 0
    assert everything(sanderling, folder) == before
    sound(sanderling, folder)


def _some_pages(folder: Path, least: int) -> bool:
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"file:{folder / 'sanderling.db'}?mode=ro", uri=True)) as database,
    ):
        return bool(database.execute("SELECT count(*) >= ? FROM versions", (least,)).fetchone()[0])
    return False


def test_recovery_refuses_a_folder_that_is_crawled(sanderling: Run, site: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with started("crawl", site.url, "-d", folder, "--delay", "1s", "--private-seeds") as crawl:
        deadline = time.monotonic() + 30
        while not list(folder.glob("warc/*.warc.gz")) and time.monotonic() < deadline:
            time.sleep(0.05)
        refused = sanderling("recover", folder)
        assert refused.code == 1
        assert "in use" in refused.err
        crawl.send_signal(signal.SIGTERM)
        crawl.wait()
    assert "holds no archives" in sanderling("recover", tmp_path).err


@pytest.mark.parametrize("how", [b"deadly", b"faulty"])
def test_a_page_that_crashes_a_parser_is_left_out_and_named(tmp_path: Path, sanderling: Run, how: bytes) -> None:
    folder = tmp_path / "crawl"
    with PageServer({"/": hrefs("/a", "/b"), "/a": b"a %b page" % how, "/b": b"another page"}) as server:
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
        (folder / "sanderling.db").unlink()
        (tmp_path / "sitecustomize.py").write_text(DEADLY)
        env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
        ran = sanderling("recover", folder, env=env)
        assert ran.code == 1
        assert f"could not be read and was left out; the next visit fetches it again: {server.origin}/a" in ran.err
        assert "taken back" in ran.out
        again = sanderling("recover", folder, env=env)
        assert (again.code, again.out[:20]) == (0, "nothing to take back")
        assert sanderling("crawl", "-d", folder, *FAST).code == 0
        urls = {row["url"] for row in sanderling("pages", folder, "--json").lines}
    assert urls == {f"{server.origin}{path}" for path in ("/", "/a", "/b")}


@pytest.mark.skipif(native.extension is None, reason="the same parser reads and indexes")
def test_a_page_that_crashes_a_parser_when_it_is_indexed_is_found_by_its_address(
    tmp_path: Path, sanderling: Run
) -> None:
    folder = tmp_path / "crawl"
    with PageServer({"/": hrefs("/marsh", "/b"), "/marsh": b"<p>a deadly page", "/b": b"<p>another page"}) as server:
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
    (folder / "sanderling.db").unlink()
    (tmp_path / "sitecustomize.py").write_text(DEADLY.rpartition("os.environ")[0])
    ran = sanderling(
        "recover", folder, env={"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    )
    assert ran.code == 1
    assert f"crashes a parser, and is found by its address only: {server.origin}/marsh" in ran.err
    assert ran.out.count("taken back") == 1
    for words, found in (("another", "/b"), ("url:marsh", "/marsh")):
        assert [hit["url"] for hit in sanderling("search", folder, words, "--json").lines] == [server.origin + found]


def test_a_lost_or_damaged_database_is_said_with_what_helps(crawled: Path, sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    (folder / "warc").mkdir(parents=True)
    for path in (crawled / "small" / "warc").glob("*.warc.gz"):
        shutil.copy(path, folder / "warc")
    assert f"`sanderling recover {folder}` makes one from its archives" in sanderling("status", folder).err
    shutil.copy(crawled / "small" / "sanderling.toml", folder)
    assert f"`sanderling recover {folder}` rebuilds it" in sanderling("status", folder).err
    (folder / "sanderling.db").write_bytes(b"no database" * 1000)
    for command in ("status", "recover"):
        said = sanderling(command, folder)
        assert said.code == 1 and "or move it away: then `sanderling recover" in said.err
    (folder / "warc" / "foreign.warc").write_bytes(b"")
    for path in (folder / "warc").glob("*.gz"):
        path.unlink()
    assert "`sanderling import" in sanderling("recover", folder).err
