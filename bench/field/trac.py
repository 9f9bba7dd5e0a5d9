"""Trac of PyPI: a wiki of 100 pages and 100 tickets, both with histories, and a search."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import articles
from bench.field.packages import python_with

PAGES, TICKETS, HIDDEN = 100, 100, 60
MANNERS = Manners(lists=r"^/(wiki(/(WikiStart|TitleIndex))?|report(/\d+)?|roadmap|milestone/[^?]*|query)?$")
# Runs in Trac's environment: pages and tickets come as JSON.
_FILL = """
import json, sys
from trac.env import open_environment
from trac.ticket.model import Ticket
from trac.wiki.model import WikiPage
env = open_environment(sys.argv[1])
for kind, name, text in json.load(sys.stdin):
    if kind == "gone":
        WikiPage(env, name).delete()
    elif kind == "wiki":
        page = WikiPage(env, name)
        page.text = text
        page.save("keeper", "")
    elif kind == "comment":
        ticket = Ticket(env, int(name))
        ticket.save_changes("keeper", text)
    else:
        ticket = Ticket(env)
        ticket.populate({"summary": name, "description": text, "reporter": "keeper", "status": "new",
                         "type": "defect", "priority": "major", "component": "component1"})
        ticket.insert()
"""


def install() -> None:
    _python()


def fill(site: Site) -> None:
    folder = site.place / "trac"
    admin = [str(_python()), "-m", "trac.admin.console", str(folder), "initenv", "Shore", "sqlite:db/trac.db"]
    subprocess.run(admin, check=True, stdout=subprocess.DEVNULL)
    known = articles(PAGES + TICKETS)
    pages, tickets = known[:PAGES], known[PAGES:]
    links = "".join(f" * [wiki:{_name(a.slug)}]\n" for a in pages)
    _run(site, [("wiki", "WikiStart", f"= Shore =\n{links}\n[/report/1 Tickets]\n")])
    _run(site, [("wiki", _name(a.slug), f"= {a.title} =\n\n{a.text}\n") for a in pages])
    _run(site, [("ticket", a.title, a.text) for a in tickets])


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    tracd = ["-m", "trac.web.standalone", "--hostname", "127.0.0.1", "--port", site.port, "-s", "--http11"]
    return [spawn(site, _python(), *tracd, site.place / "trac")]


def truth(site: Site) -> list[Item]:
    """The pages we wrote, the manual, which is stored beside them, and all tickets."""
    with closing(sqlite3.connect(f"file:{site.place}/trac/db/trac.db?mode=ro", uri=True)) as db:
        pages = db.execute(
            "SELECT DISTINCT name FROM wiki WHERE author = 'keeper' AND name LIKE 'Shore%' ORDER BY name"
        )
        manual = db.execute("SELECT DISTINCT name FROM wiki WHERE author = 'trac' AND name != 'WikiStart'").fetchall()
        tickets = db.execute("SELECT id, summary FROM ticket ORDER BY id").fetchall()
        shown = [
            Item((f"{site.url}wiki/{name}",), _word(name)) for (name,) in pages if not name.startswith("ShoreHidden")
        ]
    # Most of it is linked by the timeline only, which names the version.
    shown += [Item((f"{site.url}wiki/{name}", f"{site.url}wiki/{name}?version=1")) for (name,) in manual]
    return shown + [Item((f"{site.url}ticket/{id}",), _word(summary)) for id, summary in tickets]


def edit(site: Site) -> Edits:
    before = {item.word: item for item in truth(site)}
    known = articles(PAGES + TICKETS + 1)
    pages, tickets, new, gone = known[:4], known[PAGES : PAGES + 2], known[-1], known[9]
    changes = [("wiki", _name(a.slug), f"= {a.title} =\n\n{a.text}\n\nIt was seen twice more.\n") for a in pages]
    changes += [("comment", str(a.number - PAGES + 1), "It was seen once more.") for a in tickets]
    _run(site, [*changes, ("ticket", new.title, new.text), ("gone", _name(gone.slug), "")])
    after = {item.word: item for item in truth(site)}
    return Edits([before[a.word] for a in (*pages, *tickets)], [after[new.word]], [before[gone.word]])


def hide(site: Site) -> list[Item]:
    """Pages that no page links to, with neither index nor timeline."""
    with (site.place / "trac" / "conf" / "trac.ini").open("a") as settings:
        settings.write("[components]\ntrac.timeline.* = disabled\ntrac.wiki.macros.titleindexmacro = disabled\n"
                       "trac.wiki.macros.recentchangesmacro = disabled\n")  # fmt: skip
    hidden = articles(HIDDEN, first=1000)
    _run(site, [("wiki", f"ShoreHidden-{a.slug}", f"= {a.title} =\n\n{a.text}\n") for a in hidden])
    return [Item((f"{site.url}wiki/ShoreHidden-{a.slug}",), a.word) for a in hidden]


def _name(slug: str) -> str:
    return f"Shore-{slug}"


def _word(name: str) -> str:
    return name.replace("-", " ").split()[-1]


def _run(site: Site, what: Sequence[tuple[str, str, str]]) -> None:
    command = [str(_python()), "-c", _FILL, str(site.place / "trac")]
    subprocess.run(command, input=json.dumps(what), text=True, check=True, stdout=subprocess.DEVNULL)


def _python() -> Path:
    return python_with("trac", "Trac==1.6")
