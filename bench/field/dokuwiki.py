"""DokuWiki of Debian: 160 pages in namespaces, whose only true list is its own page folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.field import php
from bench.field.application import Edits, Item, Manners, Site
from bench.field.content import Article, articles
from bench.places import need_debian

PAGES, HIDDEN = 160, 60
PROGRAM = Path("/usr/share/dokuwiki")
MANNERS = Manners("doku.php?id=start", lists=r"^/(doku\.php(\?(idx=[^&]*|do=index|id=start)(&.*)?)?)?$")
_LOCAL = "<?php\n$conf['title'] = 'Shore notes';\n$conf['lang'] = 'en';\n$conf['savedir'] = '{savedir}';\n$conf['useacl'] = 0;\n$conf['indexdelay'] = 0;\n"
# The folders that the program expects below its data.
_FOLDERS = ["attic", "cache", "index", "locks", "log", "media", "media_attic", "media_meta", "meta", "pages", "tmp"]


def install() -> None:
    need_debian("dokuwiki", *php.PACKAGES)


def fill(site: Site) -> None:
    program = site.place / "program"
    shutil.copytree(PROGRAM, program, ignore=shutil.ignore_patterns("install.php", ".htaccess*"))
    settings, data = site.place / "settings", site.place / "data"
    shutil.copytree("/etc/dokuwiki", settings, ignore=shutil.ignore_patterns("*.auth.php", "local.php"))
    (settings / "local.php").write_text(_LOCAL.format(savedir=data))
    # Debian's own file names the folders of the machine.
    (program / "inc" / "preload.php").write_text(f"<?php\ndefine('DOKU_CONF', '{settings}/');\n")
    for name in _FOLDERS:
        (data / name).mkdir(parents=True)
    _write(site, "start", "Start", "".join(f"  * [[birds:n{n}:start]]\n" for n in range(8)))
    known = articles(PAGES)
    for namespace in range(8):
        mine = known[namespace::8]
        _write(site, f"birds:n{namespace}:start", f"Birds {namespace}", "".join(f"  * [[.:{_id(a)}]]\n" for a in mine))
        for at, article in enumerate(mine):
            _write(site, _path(article), article.title, f"{article.text}\n\nNext: [[.:{_id(mine[at - 1])}]]\n")
    _index(site)


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [php.serve(site, site.place / "program")]


def truth(site: Site) -> list[Item]:
    pages = site.place / "data" / "pages" / "birds"
    words = {_path(article): article.word for article in articles(PAGES + 1)}
    found = []
    for path in sorted(pages.rglob("*.txt")):
        id = "birds:" + path.relative_to(pages).with_suffix("").as_posix().replace("/", ":")
        if id in words:
            found.append(Item((f"{site.url}doku.php?id={id}",), words[id]))
    return found


def edit(site: Site) -> Edits:
    known = articles(PAGES + 1)
    before = {item.word: item for item in truth(site)}
    for article in known[:5]:
        _write(site, _path(article), article.title, f"{article.text}\n\nSince then the bird was seen twice more.\n")
    mine = [a for a in known[:PAGES] if a.number % 8 == 0]
    gone, new = known[9], known[PAGES]
    _write(site, _path(new), new.title, new.text)
    _write(site, "birds:n0:start", "Birds 0", "".join(f"  * [[.:{_id(a)}]]\n" for a in [*mine, new]))
    (site.place / "data" / "pages" / (_path(gone).replace(":", "/") + ".txt")).unlink()
    _index(site)
    after = {item.word: item for item in truth(site)}
    return Edits([before[a.word] for a in known[:5]], [after[new.word]], [before[gone.word]])


def hide(site: Site) -> list[Item]:
    """Pages that no page links to; neither the list of all pages nor recent changes are offered."""
    with (site.place / "settings" / "local.php").open("a") as settings:
        settings.write("$conf['disableactions'] = 'index,recent';\n")
    hidden = articles(HIDDEN, first=1000)
    for article in hidden:
        _write(site, f"hidden:{_id(article)}", article.title, article.text)
    _index(site)
    return [Item((f"{site.url}doku.php?id=hidden:{_id(a)}",), a.word) for a in hidden]


def _id(article: Article) -> str:
    return article.slug.replace("-", "_")


def _path(article: Article) -> str:
    return f"birds:n{article.number % 8}:{_id(article)}"


def _write(site: Site, id: str, title: str, text: str) -> None:
    path = site.place / "data" / "pages" / (id.replace(":", "/") + ".txt")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"====== {title} ======\n\n{text}\n")


def _index(site: Site) -> None:
    """Its search knows only pages that were indexed."""
    command = ["php", "-d", "error_reporting=0", str(site.place / "program" / "bin" / "indexer.php"), "-q"]
    quiet = subprocess.DEVNULL
    subprocess.run(command, check=True, stdout=quiet, stderr=quiet, env={**os.environ, "HOME": str(site.place)})
