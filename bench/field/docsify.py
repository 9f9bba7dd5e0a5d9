"""docsify of npm: Markdown files that a script shows, each at a fragment of one document."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from bench.field import npm
from bench.field.application import Edits, Item, Manners, Site
from bench.field.content import Article, articles

PAGES, SMALL = 24, 6
MANNERS = Manners(options=("--render", "auto"), lists=r"^/$")
_DOCUMENT = """<!doctype html><html><head><meta charset="utf-8"><title>Shore</title></head>
<body><div id="app">Please wait</div>
<script>window.$docsify = { name: "Shore", loadSidebar: true, homepage: "home.md" }</script>
<script src="/docsify.min.js"></script></body></html>"""


def install() -> None:
    npm.packages("docsify", "docsify@4.13.1")


def fill(site: Site) -> None:
    files = site.place / "files"
    files.mkdir()
    shutil.copy(npm.packages("docsify", "docsify@4.13.1") / "docsify" / "lib" / "docsify.min.js", files)
    (files / "index.html").write_text(_DOCUMENT)
    (files / "home.md").write_text("# Shore\n\nNotes of the shore, one page for each bird.\n")
    known = articles(SMALL if site.small else PAGES)
    for article in known:
        _write(site, article, article.text)
    _list(site, known)


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [npm.serve(site)]


def truth(site: Site) -> list[Item]:
    words = {a.slug: a.word for a in articles(PAGES + 1)}
    names = sorted(path.stem for path in (site.place / "files").glob("*.md"))
    return [Item((f"{site.url}#/{name}",), words[name]) for name in names if name in words]


def edit(site: Site) -> Edits:
    known = articles(SMALL if site.small else PAGES)
    before = {item.word: item for item in truth(site)}
    new = articles(PAGES + 1)[-1]
    for article in known[:2]:
        _write(site, article, f"{article.text}\n\nIt was seen twice more.")
    _write(site, new, new.text)
    _list(site, [*known, new])
    after = {item.word: item for item in truth(site)}
    return Edits([before[a.word] for a in known[:2]], [after[new.word]])


def _write(site: Site, article: Article, text: str) -> None:
    (site.place / "files" / f"{article.slug}.md").write_text(f"# {article.title}\n\n{text}\n")


def _list(site: Site, known: Sequence[Article]) -> None:
    lines = "".join(f"- [{article.title}]({article.slug}.md)\n" for article in known)
    (site.place / "files" / "_sidebar.md").write_text(lines)
