"""Folders of the previous version, in both kinds of store, are upgraded and resumed."""

import random
import re
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sanderling.model import State
from sanderling.model.reasons import SENTENCES, code_of
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.testing.postgres import PostgresServer
from tests.conftest import Run
from tests.servers import Answer, PageServer, Table

SCHEMA_8 = Path(__file__).parent / "schema-8"
HOME = "http://old.test"
# Ten days after those folders were crawled, whatever the clock of this machine says.
NOW = 1_795_744_626.0

WORDS = [
    "crawl",
    "page",
    "link",
    "text",
    "change",
    "visit",
    "host",
    "server",
    "client",
    "queue",
    "archive",
    "index",
    "search",
    "version",
    "rank",
]
LINKS = {
    "/": [
        "/a", "/b", "/c", "/private/x", "/403", "/gone", "/self", "/big.bin", "/skip-me", "/cal?day=1", "/500",
        "http://other.test/", "/p?sid=1", "/p?sid=2",
    ],
    "/a": ["/b", "/a1", "/a2", "/a3"],
    "/b": ["/c", "/b1", "/b2"],
}  # fmt: skip

# What the version before showed as the reason of each URL that has one.
SENTENCES_BEFORE = {
    "/private/x": "disallowed by robots.txt",
    "/403": "answered 403",
    "/500": "answered 500",
    "/self": "redirects to itself",
    "/big.bin": "skips type video/mp4",
    "/skip-me": "matches an exclude pattern",
    "http://other.test/": "scope: another host",
}


def prose(seed: int, words: int = 60) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(words))


def page(path: str, news: int) -> bytes:
    seed = sum(map(ord, path))
    more = f"<p>News of round {news}: {prose(seed + 1000 * news, 20)}</p>" if path in ("/a", "/b1") else ""
    links = "".join(f'<a href="{link}">{link}</a> ' for link in LINKS.get(path, ["/"]))
    return f"<title>Page {path}</title><h1>Page {path}</h1><p>{prose(seed)}</p>{more}{links}".encode()


def calendar(day: int) -> bytes:
    days = "".join(f'<a href="/cal?day={day + later}">day</a>' for later in range(1, 8))
    return f"<title>Calendar</title><p>Nothing on day {day}.</p>{days}".encode()


def site(news: int) -> Table:
    """The site of those folders, with other news on two pages."""
    pages = ["/", "/a", "/b", "/c", "/a1", "/a2", "/a3", "/b1", "/b2", "/p", "/p?sid=1", "/p?sid=2"]
    robots = b"User-agent: *\nDisallow: /private/\nSitemap: http://old.test/sitemap.xml\n"
    sitemap = b"<urlset><url><loc>http://old.test/a1</loc><lastmod>2026-11-01</lastmod></url></urlset>"
    table: dict[str, bytes | Answer] = {
        "/robots.txt": Answer(robots, "text/plain"),
        "/sitemap.xml": Answer(sitemap, "application/xml"),
        "/403": Answer(b"no", status=403),
        "/500": Answer(b"broken", status=500),
        "/self": Answer(status=302, headers=(("Location", f"{HOME}/self"),)),
        "/big.bin": Answer(b"x" * 1000, "video/mp4"),
        **{path: page(path, news) for path in pages},
        **{f"/cal?day={day}": calendar(day) for day in range(1, 200)},
    }
    return {HOME + path: answer for path, answer in table.items()}


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder of the version before."""
    folder = tmp_path / "old"
    shutil.copytree(SCHEMA_8 / request.param, folder)
    dump = (folder / "sanderling.sql").read_text()
    (folder / "sanderling.sql").unlink()
    if request.param == "sqlite":
        with closing(sqlite3.connect(folder / "sanderling.db")) as db:
            db.executescript(dump)
        yield folder
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    settings = folder / "sanderling.toml"
    settings.write_text(settings.read_text().replace("postgresql://postgres@/postgres?host=/nowhere", server.dsn))
    with psycopg.connect(server.dsn, autocommit=True) as db:
        # Without what only psql, or only a newer server than this one, understands.
        db.execute(re.sub(r"^(\\|SET transaction_timeout).*$", "", dump, flags=re.MULTILINE))  # type: ignore[call-overload]
    yield folder
    with psycopg.connect(server.dsn, autocommit=True) as db:
        db.execute("DROP SCHEMA IF EXISTS old CASCADE; DROP SCHEMA IF EXISTS old_schema_4 CASCADE")


def counted(folder: Path) -> dict[str, int]:
    """Counts the pages in each state, one by one."""
    store = open_store(Folder(folder), readonly=True)
    with closing(store):
        found = Counter(State(row[0]) for row in store.select("SELECT state FROM urls WHERE kind = 0"))
        versions = store.select("SELECT count(*) FROM versions")[0][0]
    states = ("queued", "fetched", "failed", "gone", "excluded")
    return {name: found[State[name.upper()]] for name in states} | {
        "held": found[State.KNOWN], "known": sum(found.values()), "versions": versions,
    }  # fmt: skip


def codes(folder: Path) -> set[str]:
    """The codes of all stored reasons."""
    with closing(open_store(Folder(folder), readonly=True)) as store:
        return {code_of(row[0]) for row in store.select("SELECT reason FROM urls WHERE reason <> ''")}


def totals(folder: Path) -> dict[str, int]:
    with closing(open_store(Folder(folder), readonly=True)) as store:
        counts = store.counts()
    names = ("queued", "fetched", "failed", "gone", "excluded", "held", "known", "versions")
    return {name: getattr(counts, name) for name in names}


def rows(sanderling: Run, folder: Path) -> dict[str, dict[str, Any]]:
    states = ("failed", "excluded", "queued")
    listed = sanderling("pages", folder, "--json").lines
    for state in states:
        listed += sanderling("pages", folder, "--json", "--state", state).lines
    return {row["url"].removeprefix(HOME): row for row in listed}


def test_a_folder_of_the_version_before_is_upgraded_and_goes_on(old: Path, sanderling: Run) -> None:
    refused = sanderling("pages", old)
    assert refused.code == 2 and "older Sanderling" in refused.err

    store = open_store(Folder(old), readonly=False)  # nothing is crawled
    (message,) = store.messages
    assert "sanderling.db.schema-8.backup" in message or "old_schema_4" in message
    (robots,) = [host.robots.reason for host in store.hosts() if host.robots]
    store.close()
    assert robots == "robots-read:200"
    assert codes(old) <= SENTENCES.keys()
    assert totals(old) == counted(old)
    assert counted(old)["known"] == 37
    before = rows(sanderling, old)
    assert {path: row["reason"] for path, row in before.items() if row["reason"]} == SENTENCES_BEFORE
    assert (before["/403"]["reason_code"], before["/private/x"]["reason_code"]) == ("status:403", "robots")

    ahead = {"SANDERLING_AHEAD": str(NOW - time.time())}
    with PageServer(site(news=3)) as served:
        proxy = ("--proxy", served.origin)
        crawled = sanderling("crawl", "-d", old, *proxy, "--max-pages", 30, env=ahead)
        assert crawled.code == 0, crawled.err
        assert totals(old) == counted(old)
        more = rows(sanderling, old)
        assert totals(old)["fetched"] == 30
        assert totals(old)["queued"] + totals(old)["held"] >= 7
        assert {path: more[path]["reason"] for path in SENTENCES_BEFORE} == SENTENCES_BEFORE

        refreshed = sanderling("refresh", old, *proxy, "--budget", 40, "--max-time", "30s", env=ahead)
        assert refreshed.code == 0, refreshed.err
        assert totals(old) == counted(old)
    changed = sanderling("history", old, f"{HOME}/a", "--json")
    assert changed.code == 0, changed.err
    assert changed.lines[-1]["kinds"] == ["text"]
    assert codes(old) <= SENTENCES.keys()


def test_the_backup_of_a_folder_is_what_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    shutil.copytree(SCHEMA_8 / "sqlite", folder)
    dump = (folder / "sanderling.sql").read_text()
    with closing(sqlite3.connect(folder / "sanderling.db")) as db:
        db.executescript(dump)
    open_store(Folder(folder), readonly=False).close()
    with closing(sqlite3.connect(folder / "sanderling.db.schema-8.backup")) as db:
        assert "\n".join(db.iterdump()) + "\n" == dump
