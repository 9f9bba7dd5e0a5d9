"""Apache's lists of folders: 300 texts in folders, and every list in eight orders."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import Article, articles
from bench.places import need_debian

FILES, SMALL, FOLDERS = 300, 24, 12
MODULES = Path("/usr/lib/apache2/modules")
MANNERS = Manners(lists=r"^/(shelf\d+/)?$")
_SETTINGS = """
ServerRoot "{place}"
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile "{place}/pid"
ErrorLog "{place}/log"
User {user}
Group {group}
{modules}
TypesConfig /etc/mime.types
DocumentRoot "{place}/files"
<Directory "{place}/files">
Options +Indexes
IndexOptions FancyIndexing
Require all granted
</Directory>
"""
_NEEDED = ("mpm_event", "authz_core", "autoindex", "mime", "dir")


def install() -> None:
    need_debian("apache2-bin", "media-types")


def fill(site: Site) -> None:
    for article in articles(_count(site)):
        _write(site, article, article.text)
    (site.place / "files").chmod(0o755)


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in _NEEDED)
    settings = site.place / "apache.conf"
    settings.write_text(
        _SETTINGS.format(place=site.place, port=site.port, modules=modules, user="www-data", group="www-data")
    )
    return [spawn(site, "/usr/sbin/apache2", "-X", "-f", settings)]


def truth(site: Site) -> list[Item]:
    words = {_name(article): article.word for article in articles(_count(site) + 1)}
    root = site.place / "files"
    found = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.txt"))
    return [Item((site.url + name,), words[name]) for name in found]


def edit(site: Site) -> Edits:
    known = articles(_count(site) + 1)
    before = {item.word: item for item in truth(site)}
    for article in known[:5]:
        _write(site, article, f"{article.text}\n\nIt was seen twice more.")
    new, gone = known[-1], known[9]
    _write(site, new, new.text)
    (site.place / "files" / _name(gone)).unlink()
    after = {item.word: item for item in truth(site)}
    return Edits([before[a.word] for a in known[:5]], [after[new.word]], [before[gone.word]])


def _count(site: Site) -> int:
    return SMALL if site.small else FILES


def _name(article: Article) -> str:
    return f"shelf{article.number % FOLDERS}/{article.slug}.txt"


def _write(site: Site, article: Article, text: str) -> None:
    path = site.place / "files" / _name(article)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{article.title}\n\n{text}\n")
