"""Namazu of Debian: a search engine of its own, as a CGI program, over a folder of documents. Most
of them are linked by its answers only."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from html import escape

from bench.field import lighttpd
from bench.field.application import Edits, Item, Manners, Site
from bench.field.content import Article, articles
from bench.places import need_debian

PAGES, HIDDEN = 20, 200
MANNERS = Manners(lists=r"^/$")
_SETTINGS = "Index {index}\nLang en\n"
_CGI = '$HTTP["url"] =~ "^/find/" {{ cgi.assign = ("namazu.cgi" => "") }}\nalias.url += ("/find/" => "{place}/find/")\n'


def install() -> None:
    need_debian("namazu2", "namazu2-index-tools", *lighttpd.PACKAGES)


def fill(site: Site) -> None:
    find = site.place / "find"
    for folder in ("files", "index", "find"):
        (site.place / folder).mkdir()
    shutil.copy("/usr/lib/cgi-bin/namazu.cgi", find)
    (find / ".namazurc").write_text(_SETTINGS.format(index=site.place / "index"))
    _write(site, articles(PAGES))
    _list(site, articles(PAGES))


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [lighttpd.serve(site, site.place / "files", _CGI.format(place=site.place))]


def truth(site: Site) -> list[Item]:
    return _items(site, [a for a in articles(PAGES + 1) if (site.place / "files" / f"{a.slug}.html").exists()])


def edit(site: Site) -> Edits:
    known, new = articles(PAGES), articles(PAGES + 1)[-1:]
    for article in known[:2]:
        _write(site, [article], "<p>It was seen twice more.</p>")
    _write(site, new)
    _list(site, [*known, *new])
    return Edits(_items(site, known[:2]), _items(site, new))


def hide(site: Site) -> list[Item]:
    """Documents that no list names."""
    hidden = articles(HIDDEN, first=1000)
    _write(site, hidden)
    return _items(site, hidden)


def _items(site: Site, known: Sequence[Article]) -> list[Item]:
    return [Item((f"{site.url}{article.slug}.html",), article.word) for article in known]


def _write(site: Site, known: Sequence[Article], more: str = "") -> None:
    """Writes documents, and makes the index again."""
    files = site.place / "files"
    for a in known:
        text = "".join(f"<p>{escape(each)}</p>" for each in a.paragraphs)
        (files / f"{a.slug}.html").write_text(
            f"<!doctype html><title>{a.title}</title><h1>{a.title}</h1>{text}{more}\n"
        )
    command = ["mknmz", "--quiet", "--output-dir", site.place / "index", f"--replace=s#^.*/files/#{site.url}#", files]
    subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _list(site: Site, known: Sequence[Article]) -> None:
    links = "".join(f'<li><a href="/{article.slug}.html">{article.title}</a>' for article in known)
    form = '<p><a href="/find/namazu.cgi">Search all notes</a>'
    (site.place / "files" / "index.html").write_text(
        f"<!doctype html><title>Shore</title><h1>Notes</h1><ul>{links}</ul>{form}\n"
    )
