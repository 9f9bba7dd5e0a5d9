"""Sites that are made from a database, a command's output or a git repository."""

import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sanderling_announce import listing
from tests.announcer.sites import SITE, WatchedSite


@pytest.fixture
def database(tmp_path: Path) -> Any:
    with sqlite3.connect(tmp_path / "shop.db", isolation_level=None) as made:
        made.execute("CREATE TABLE pages (url, updated)")
        made.execute(
            "INSERT INTO pages VALUES ('/a', '2026-01-01T00:00:00Z'), ('/b?id=1', 7), (?, NULL)", (f"{SITE}c",)
        )
        yield made
    made.close()


def test_a_query_lists_pages_and_versions(database: sqlite3.Connection, tmp_path: Path) -> None:
    site = WatchedSite(tmp_path, sql="SELECT url, updated FROM pages", database=str(tmp_path / "shop.db"))
    site.settle()
    site.reader.news()
    assert site.reader.listed() == {f"{SITE}a": 1767225600.0, f"{SITE}b?id=1": 0.0, f"{SITE}c": 0.0}
    database.execute("UPDATE pages SET updated = 8 WHERE url = '/b?id=1'")
    database.execute("DELETE FROM pages WHERE url = '/a'")
    database.execute("INSERT INTO pages VALUES ('/d', 1)")
    site.settle()
    assert site.reader.told() == {("b?id=1", "changed"), ("a", "gone"), ("d", "new")}
    site.restart()
    site.settle()
    assert site.reader.told() == set()
    # A list that cannot be had, or names nothing, is no list: nothing is gone.
    database.execute("DELETE FROM pages")
    database.execute("INSERT INTO pages VALUES ('https://elsewhere.example/', 1)")
    source: Any = site.announcer.source
    source._next = 0.0
    site.announcer.step(0.1)
    assert f"names no page below {SITE}" in site.said[-1]
    database.execute("DROP TABLE pages")
    source._next = 0.0
    site.announcer.step(0.1)
    assert "no such table" in site.said[-1]
    assert site.reader.told() == set()
    site.finish()


@pytest.mark.parametrize(
    ("lister", "complaint"),
    [
        (listing.SqlLister("nowhere.db", "SELECT 1, 2"), "unable to open"),
        (listing.SqlLister(":memory:", "SELECT 1"), "unable to open"),
        (listing.CommandLister("echo /a 1; exit 3"), "ended with 3"),
        (listing.GitLister("/", "HEAD"), "not a git repository"),
    ],
)
def test_what_cannot_be_listed_is_said(lister: listing.Lister, complaint: str) -> None:
    with pytest.raises(listing.CannotList, match=complaint):
        lister.changed()
        list(lister.pages())


def test_a_query_may_not_write(database: sqlite3.Connection, tmp_path: Path) -> None:
    with pytest.raises(listing.CannotList, match="readonly"):
        list(listing.SqlLister(str(tmp_path / "shop.db"), "DELETE FROM pages RETURNING 1, 2").pages())
    with pytest.raises(listing.CannotList, match="columns"):
        list(listing.SqlLister(str(tmp_path / "shop.db"), "SELECT 1, 2, 3, 4").pages())


def test_a_command_lists_pages(tmp_path: Path) -> None:
    listed = tmp_path / "listed"
    listed.write_text("/b\t1\n\n/a 1\nhttps://elsewhere.example/ 1\n")
    site = WatchedSite(tmp_path, command=f"cat {listed}")
    site.settle()
    assert site.reader.told() == set()
    listed.write_text("/a 2\n/b\t1\n")
    site.settle()
    assert site.reader.told() == {("a", "changed")}
    site.finish()


def test_the_files_of_a_git_branch(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(tmp_path / "www"), *identity, *arguments], check=True, capture_output=True)

    (tmp_path / "www").mkdir()
    git("init", "-q", "-b", "main")
    for name in ("index.html", "ä/b.html", "style.css"):
        (tmp_path / "www" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "www" / name).write_text(name)
    git("add", ".")
    git("commit", "-qm", "first")
    site = WatchedSite(tmp_path, git="main", report=tmp_path / "report")
    site.settle()
    site.reader.news()
    assert set(site.reader.listed()) == {SITE, f"{SITE}%C3%A4/b.html"}
    (tmp_path / "www" / "index.html").write_text("not committed")
    site.settle()
    assert site.reader.told() == set()
    git("commit", "-qam", "second")
    site.settle()
    assert site.reader.told() == {("", "changed")}
    site.finish()
