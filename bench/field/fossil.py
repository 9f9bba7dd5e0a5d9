"""Fossil of Debian: one program with a wiki, a list of everything that happened, and a search."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import Article, articles
from bench.places import need_debian

PAGES, HIDDEN = 60, 150
MANNERS = Manners(
    "home",
    lists=r"^/(home|wcontent)?$",
    # All lists of pages are left out, and what Fossil keeps beside pages.
    forms=(
        "--forms",
        "search",
        "--exclude",
        r"/(wcontent|timeline|artifact|info|whistory|wdiff|wikihelp|sitemap|finfo)",
    ),
)


def install() -> None:
    need_debian("fossil")


def fill(site: Site) -> None:
    _fossil(site, "init", str(_file(site)))
    # Without an account, everything may be read, and links are shown to robots.
    _sql(site, "UPDATE user SET cap = 'hjor' WHERE login IN ('nobody', 'anonymous')")
    for name, value in (("search-wiki", "1"), ("search-ci", "0"), ("auto-hyperlink", "0"), ("index-page", "/home")):
        _sql(site, f"REPLACE INTO config (name, value, mtime) VALUES ('{name}', '{value}', now())")
    _sql(site, "REPLACE INTO config (name, value, mtime) VALUES ('project-name', 'Shore', now())")
    known = articles(PAGES)
    _write(site, "Shore", "\n".join(f"  *  [{article.title}]" for article in known))
    for article in known:
        _write(site, article.title, article.text)
    _fossil(site, "fts-config", "index", "on", "-R", str(_file(site)))


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [spawn(site, "fossil", "server", "--port", site.port, "--localhost", _file(site), environment=_home(site))]


def truth(site: Site) -> list[Item]:
    with closing(sqlite3.connect(f"file:{_file(site)}?mode=ro", uri=True)) as db:
        names = {name[5:] for (name,) in db.execute("SELECT tagname FROM tag WHERE tagname GLOB 'wiki-*'")}
    return _items(site, [each for each in articles(PAGES + 1) if each.title in names])


def edit(site: Site) -> Edits:
    known, new = articles(PAGES), articles(PAGES + 1)[-1]
    for article in known[:5]:
        _write(site, article.title, f"{article.text}\n\nIt was seen twice more.", "commit")
    _write(site, new.title, new.text)
    _write(site, "Shore", "\n".join(f"  *  [{article.title}]" for article in [*known, new]), "commit")
    return Edits(_items(site, known[:5]), _items(site, [new]))


def hide(site: Site) -> list[Item]:
    """Pages that no page links to."""
    hidden = articles(HIDDEN, first=1000)
    for article in hidden:
        _write(site, article.title, article.text)
    return _items(site, hidden)


def _items(site: Site, known: Sequence[Article]) -> list[Item]:
    return [Item(_urls(site, article.title), article.word) for article in known]


def _urls(site: Site, title: str) -> tuple[str, ...]:
    names = (title.replace(" ", "+"), title)
    return tuple(f"{site.url}wiki?name={name}" for name in names) + tuple(f"{site.url}wiki/{name}" for name in names)


def _write(site: Site, title: str, text: str, deed: str = "create") -> None:
    _fossil(site, "wiki", deed, title, "-R", str(_file(site)), "-M", "text/x-fossil-wiki", given=text)


def _sql(site: Site, text: str) -> None:
    _fossil(site, "sql", "-R", str(_file(site)), text)


def _fossil(site: Site, *arguments: str, given: str = "") -> None:
    subprocess.run(["fossil", *arguments], input=given.encode(), check=True, stdout=subprocess.DEVNULL,
                   env=_home(site), cwd=site.place)  # fmt: skip


def _home(site: Site) -> dict[str, str]:
    return {**os.environ, "HOME": str(site.place), "USER": "keeper"}


def _file(site: Site) -> str:
    return str(site.place / "shore.fossil")
