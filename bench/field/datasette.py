"""Datasette of PyPI: a table of 3,000 rows with facets, orders, formats and a full-text search."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import Article, articles

ROWS, SMALL = 3000, 40
MANNERS = Manners(
    lists=r"^/(shore(/sightings(\?_next=\d+)?)?)?$",
    # What is not reached without the search: all rows but those of the first page. The answers
    # themselves carry `_sort=id`.
    forms=(
        "--forms",
        "search",
        "--exclude",
        r"sightings_fts|_show_hidden|sql=|sightings\?(_next|_sort=\w+$|_sort_desc|_facet|place)",
    ),
)
_PLACES = 40


def install() -> None:
    """It is among the packages of the tests."""


def fill(site: Site) -> None:
    with closing(_open(site)) as db:
        db.execute("CREATE TABLE sightings (id INTEGER PRIMARY KEY, title TEXT, place TEXT, text TEXT)")
        db.executemany("INSERT INTO sightings VALUES (?, ?, ?, ?)", map(_row, articles(SMALL if site.small else ROWS)))
        db.execute('CREATE VIRTUAL TABLE sightings_fts USING fts5 (title, text, content="sightings", content_rowid=id)')
        _index(db)


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    served = ["-p", site.port, "--setting", "default_page_size", 50, "--setting", "force_https_urls", "off"]
    return [spawn(site, sys.executable, "-m", "datasette", "serve", site.place / "shore.db", *served)]


def truth(site: Site) -> list[Item]:
    with closing(_open(site)) as db:
        rows = db.execute("SELECT id, title FROM sightings ORDER BY id").fetchall()
    return [Item((f"{site.url}shore/sightings/{id}",), title.split()[-1]) for id, title in rows]


def edit(site: Site) -> Edits:
    before = truth(site)
    new = articles(1, first=9000)[0]
    with closing(_open(site)) as db:
        db.execute("UPDATE sightings SET text = text || ' It was seen twice more.' WHERE id <= 5")
        db.execute("DELETE FROM sightings WHERE id = 10")
        db.execute("INSERT INTO sightings VALUES (?, ?, ?, ?)", _row(new))
        _index(db)
    return Edits(before[:5], [truth(site)[-1]], [before[9]])


def hide(site: Site) -> list[Item]:
    """Rows behind the first page: the crawl is told not to turn it."""
    return truth(site)[50:]


def _row(article: Article) -> tuple[int, str, str, str]:
    return article.number + 1, article.title, f"bay {article.number % _PLACES}", article.text


def _open(site: Site) -> sqlite3.Connection:
    return sqlite3.connect(site.place / "shore.db")


def _index(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO sightings_fts (sightings_fts) VALUES ('rebuild')")
    db.commit()
