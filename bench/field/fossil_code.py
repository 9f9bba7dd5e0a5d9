"""Fossil of Debian: a repository of 30 files in 10 check-ins, 20 pages of a wiki and 15 tickets."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, quote_plus

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import Article, articles
from bench.places import need_debian

FILES, PAGES, TICKETS, CHECKINS = 30, 20, 15, 10
MANNERS = Manners(
    seed="index",
    lists=r"^/(index|home|dir[^&]*|timeline|wcontent|wiki|brlist|taglist|rptview/?\?rn=\d+|tree[^&]*|ticket|reportlist"
    r"|sitemap[^?]*|leaves|help[^/]*|wikihelp)?$",
)
# The names of its pages may be cut.
_LENGTHS = (10, 12, 16, 20, 40, 64)


def install() -> None:
    need_debian("fossil")


def fill(site: Site) -> None:
    _run(site, "init", "--date-override", "2023-01-01", "-A", "keeper", _repository(site), where=site.place)
    _work(site).mkdir()
    _run(site, "open", _repository(site))
    known = articles(FILES + PAGES + TICKETS)
    share = FILES // CHECKINS
    for number in range(CHECKINS):
        for article in known[number * share : (number + 1) * share]:
            path = _work(site) / _path(article)
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"# {article.title}\n\n" + "\n".join(article.paragraphs) + "\n")
        _run(site, "addremove")
        day = f"2023-02-{number + 1:02} 10:00:00"
        _run(site, "commit", "-m", f"Describe part {number} of the shore", "--date-override", day, "--no-warnings")
    for article in known[FILES : FILES + PAGES]:
        _run(
            site,
            "wiki",
            "create",
            article.title,
            "-M",
            "text/x-markdown",
            said=f"# {article.title}\n\n{article.text}\n",
        )
    for article in known[FILES + PAGES :]:
        _run(site, "ticket", "add", "title", article.title, "comment", article.text, "status", "Open")
    # Visitors get no links before they move the pointer, unless they may have them.
    _run(site, "user", "capabilities", "nobody", "gjorzh")


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    server = ["fossil", "server", _repository(site), "--port", site.port, "--localhost"]
    return [spawn(site, *server, environment=_environment(site))]


def truth(site: Site) -> list[Item]:
    """All files as they are now, check-ins, tickets and pages of the wiki."""
    words = {_path(article): article.word for article in articles(FILES)}
    with closing(sqlite3.connect(f"file:{_repository(site)}?mode=ro", uri=True)) as db:
        files = db.execute(
            "SELECT f.name, b.uuid FROM filename f JOIN mlink m ON m.fnid = f.fnid JOIN blob b ON b.rid = m.fid"
            " WHERE m.fid > 0 ORDER BY m.mid"
        ).fetchall()
        checkins = db.execute("SELECT uuid FROM blob JOIN event ON rid = objid WHERE type = 'ci' ORDER BY mtime DESC")
        ids = [id for (id,) in checkins]
        tickets = [id for (id,) in db.execute("SELECT tkt_uuid FROM ticket ORDER BY tkt_id")]
    shown = [Item(tuple(_file_urls(site, name, blob, ids[0])), words[name]) for name, blob in dict(files).items()]
    shown += [Item(tuple(f"{site.url}info/{id[:length]}" for length in _LENGTHS)) for id in ids]
    for id in tickets:
        shown.append(
            Item(tuple(f"{site.url}{view}/{id[:length]}" for length in _LENGTHS for view in ("tktview", "info")))
        )
    return shown + [
        Item((f"{site.url}wiki?name={quote_plus(a.title)}", f"{site.url}wiki/{quote(a.title)}"), a.word)
        for a in articles(FILES + PAGES)[FILES:]
    ]


def edit(site: Site) -> Edits:
    """Three pages of the wiki. What a check-in changes is shown at new addresses."""
    before = {item.word: item for item in truth(site)}
    known = articles(FILES + PAGES)[FILES : FILES + 3]
    for a in known:
        _run(
            site, "wiki", "commit", a.title, "-M", "text/x-markdown", said=f"# {a.title}\n\n{a.text}\n\nIt was seen.\n"
        )
    return Edits([before[a.word] for a in known])


def _file_urls(site: Site, name: str, blob: str, newest: str) -> list[str]:
    found = [f"{site.url}file/{name}", f"{site.url}file?name={name}", f"{site.url}doc/tip/{name}"]
    found += [f"{site.url}file?name={name}&ci={at}" for at in ("tip", "trunk", *(newest[:n] for n in _LENGTHS))]
    return found + [f"{site.url}{view}/{blob[:length]}" for length in _LENGTHS for view in ("artifact", "info")]


def _path(article: Article) -> str:
    return f"part{article.number % 6}/text-{article.number}.md"


def _repository(site: Site) -> Path:
    return site.place / "shore.fossil"


def _work(site: Site) -> Path:
    return site.place / "work"


def _environment(site: Site) -> dict[str, str]:
    return {**os.environ, "HOME": str(site.place), "FOSSIL_HOME": str(site.place), "USER": "keeper"}


def _run(site: Site, *arguments: object, said: str = "", where: Path | None = None) -> None:
    command = ["fossil", *map(str, arguments)]
    where = where or _work(site)
    subprocess.run(command, cwd=where, env=_environment(site), input=said, text=True, check=True, capture_output=True)
