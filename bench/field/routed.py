"""What the builds with Svelte and React have in common: an application with hash routes, a list of
links, and a footer with a clock, whose pages come from one JSON file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from bench.field import npm
from bench.field.application import Edits, Item, Manners, Site
from bench.field.content import Article, articles

PAGES, SMALL = 62, 6
MANNERS = Manners(options=("--render", "auto"), lists=r"^/(#/)?$")
_DOCUMENT = """<!doctype html><html><head><meta charset="utf-8"><title>Shore</title></head>
<body><div id="app"></div><script src="/bundle.js"></script></body></html>"""


def begin(site: Site) -> None:
    """The folder that is served, without the bundle."""
    (site.place / "files").mkdir()
    (site.place / "files" / "index.html").write_text(_DOCUMENT)
    _write(site, [_page(article) for article in articles(SMALL if site.small else PAGES)])


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [npm.serve(site)]


def truth(site: Site) -> list[Item]:
    return [Item((f"{site.url}#/{each['slug']}",), each["slug"].split("-")[-1]) for each in _pages(site)]


def edit(site: Site) -> Edits:
    before, pages = truth(site), _pages(site)
    for page in pages[:2]:
        page["text"] += " It was seen twice more."
    _write(site, [*pages, _page(articles(1, first=9000)[0])])
    return Edits(before[:2], [truth(site)[-1]])


def _page(article: Article) -> dict[str, str]:
    return {"slug": article.slug, "title": article.title, "text": article.text}


def _pages(site: Site) -> list[dict[str, str]]:
    return list(json.loads((site.place / "files" / "pages.json").read_text()))


def _write(site: Site, pages: Sequence[dict[str, str]]) -> None:
    (site.place / "files" / "pages.json").write_text(json.dumps(pages))
