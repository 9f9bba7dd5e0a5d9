"""MediaWiki of Debian, on SQLite: 150 pages with histories, special pages and a search."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from xml.sax.saxutils import escape

from bench.field import php
from bench.field.application import Edits, Item, Manners, Site
from bench.field.content import Article, articles
from bench.places import need_debian

PAGES, HIDDEN = 150, 60
PROGRAM = Path("/usr/share/mediawiki")
MANNERS = Manners("index.php/Main_Page", lists=r"^/(index\.php(/(Main_Page|Special:AllPages|Category:[^?]*))?)?$")
_QUIET = "\nerror_reporting(0);\n$wgShowExceptionDetails = false;\n$wgJobRunRate = 0;\n$wgMainCacheType = CACHE_NONE;\n$wgCacheDirectory = __DIR__ . '/../cache';\n"
_ROOT = """<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$file = __DIR__ . '/program' . $path;
if (preg_match('#^/(resources|skins|extensions|images)/#', $path) && is_file($file)) { return false; }
if (preg_match('#^/load\\.php#', $path)) { $script = 'load.php'; }
elseif (preg_match('#^/(api|rest|opensearch_desc)\\.php#', $path, $found)) { $script = $found[1] . '.php'; }
else { $script = 'index.php'; }
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/' . $script;
$_SERVER['SCRIPT_FILENAME'] = __DIR__ . '/program/' . $script;
$_SERVER['PATH_INFO'] = substr($path, strlen('/' . $script)) ?: '';
chdir(__DIR__ . '/program');
require $_SERVER['SCRIPT_FILENAME'];
"""


def install() -> None:
    need_debian("mediawiki", *php.PACKAGES)


def fill(site: Site) -> None:
    program = site.place / "program"
    shutil.copytree(PROGRAM, program, symlinks=False, ignore=shutil.ignore_patterns("LocalSettings.php", "mw-config"))
    (site.place / "data").mkdir()
    (site.place / "cache").mkdir()  # for its messages; pages are made at every request
    _run(site, "install.php", "--dbtype=sqlite", f"--dbpath={site.place}/data", "--dbname=wiki", "--scriptpath=",
         f"--server=http://127.0.0.1:{site.port}", "--pass=not-a-secret-1", "--skins=Vector", "Shore", "Keeper")  # fmt: skip
    with (program / "LocalSettings.php").open("a") as settings:
        settings.write(_QUIET)
    (site.place / "router.php").write_text(_ROOT)
    known = articles(PAGES)
    links = "\n".join(f"* [[{article.title}]]" for article in known)
    _import(site, [("Main Page", links), *((a.title, _text(a)) for a in known)])


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [php.serve(site, site.place / "program", site.place / "router.php")]


def truth(site: Site) -> list[Item]:
    """The pages we wrote, by its database."""
    words = {a.title.replace(" ", "_"): a.word for a in articles(PAGES + 1)}
    with closing(sqlite3.connect(f"file:{site.place}/data/wiki.sqlite?mode=ro", uri=True)) as db:
        titles = [title for (title,) in db.execute("SELECT page_title FROM page WHERE page_namespace = 0")]
    titles = [title.decode() if isinstance(title, bytes) else title for title in titles]
    return [Item((f"{site.url}index.php/{t}",), words[t]) for t in sorted(titles) if t in words]


def edit(site: Site) -> Edits:
    known = articles(PAGES + 1)
    before = {item.word: item for item in truth(site)}
    new, gone = known[-1], known[9]
    links = "\n".join(f"* [[{article.title}]]" for article in known if article is not gone)
    edited = [(a.title, f"{_text(a)}\n\nIt was seen twice more.") for a in known[:5]]
    _import(site, [*edited, (new.title, _text(new)), ("Main Page", links)], later=True)
    _run(site, "deleteBatch.php", given=gone.title + "\n")
    after = {item.word: item for item in truth(site)}
    return Edits([before[a.word] for a in known[:5]], [after[new.word]], [before[gone.word]])


def hide(site: Site) -> list[Item]:
    """Pages that no page links to, in a wiki without lists of its pages."""
    with (site.place / "program" / "LocalSettings.php").open("a") as settings:
        settings.write(
            "$wgHooks['SpecialPage_initList'][] = function (&$list) { foreach (array_keys($list) as $name) {"
            " if (!in_array($name, ['Search', 'Userlogin', 'Badtitle', 'Blankpage'])) unset($list[$name]); } };\n"
        )
    hidden = articles(HIDDEN, first=1000)
    _import(site, [(a.title, _text(a)) for a in hidden])
    return [Item((f"{site.url}index.php/{a.title.replace(' ', '_')}",), a.word) for a in hidden]


def _text(article: Article) -> str:
    return f"{article.text}\n"


def _import(site: Site, pages: Iterable[tuple[str, str]], later: bool = False) -> None:
    # Newer than what the installation wrote a moment ago, such as its own main page.
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + (3600 if later else 60)))
    written = "".join(
        f"<page><title>{escape(title)}</title><ns>0</ns><revision><timestamp>{when}</timestamp>"
        f"<contributor><username>Keeper</username></contributor><model>wikitext</model><format>text/x-wiki</format>"
        f'<text xml:space="preserve">{escape(text)}</text></revision></page>'
        for title, text in pages
    )
    xml = site.place / "pages.xml"
    xml.write_text(f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">{written}</mediawiki>')  # fmt: skip
    _run(site, "importDump.php", "--quiet", str(xml))
    _run(site, "rebuildtextindex.php")
    _run(site, "runJobs.php")


def _run(site: Site, script: str, *arguments: str, given: str = "") -> None:
    program = site.place / "program"
    command = ["php", "-d", "error_reporting=0", str(program / "maintenance" / script), *arguments]
    if (program / "LocalSettings.php").exists():
        command.append(f"--conf={program}/LocalSettings.php")
    with Path(site.place, "log").open("ab") as log:
        subprocess.run(command, input=given.encode(), check=True, stdout=log, stderr=log, cwd=program,
                       env={**os.environ, "MW_INSTALL_PATH": str(program)})  # fmt: skip
