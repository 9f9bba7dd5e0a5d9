"""Roundup of PyPI: a tracker with 200 issues, lists in any order, and a login form everywhere."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import articles

ISSUES, SMALL = 200, 20
MANNERS = Manners(lists=r"^/(msg\d+|issue(\?.*@startwith=\d+.*)?)?$")
# Its own server refuses to run as root. Its WSGI application does not.
_SERVE = """
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from roundup.cgi.wsgi_handler import RequestDispatcher

class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass

class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

application = RequestDispatcher(sys.argv[1])
make_server("127.0.0.1", int(sys.argv[2]), application, Server, Quiet).serve_forever()
"""
_FILL = """
import json, sys
from roundup import instance, password
tracker = instance.open(sys.argv[1])
if not tracker.exists():
    tracker.init(password.Password("not-a-secret", config=tracker.config))
db = tracker.open("admin")
for number, (kind, name, text) in enumerate(json.load(sys.stdin)):
    if kind == "gone":
        db.issue.retire(name)
        continue
    message = db.msg.create(author=db.getuid(), content=text, summary=text[:60])
    if kind == "comment":
        db.issue.set(name, messages=[*db.issue.get(name, "messages"), message])
    else:
        db.issue.create(title=name, messages=[message], priority=str(number % 5 + 1), status=str(number % 7 + 1))
db.commit()
db.close()
"""


def install() -> None:
    """It is among the packages of the tests."""


def fill(site: Site) -> None:
    said = f"admin_email=a@example.org,mail_domain=example.org,mail_host=localhost,tracker_web={site.url},rdbms_name=x"
    install = [sys.executable, "-m", "roundup.scripts.roundup_admin", "-i", str(site.place / "tracker")]
    subprocess.run([*install, "install", "classic", "sqlite", said], check=True, stdout=subprocess.DEVNULL)
    _run(site, [("issue", a.title, a.text) for a in articles(SMALL if site.small else ISSUES)])


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [spawn(site, sys.executable, "-W", "ignore", "-c", _SERVE, site.place / "tracker", site.port)]


def truth(site: Site) -> list[Item]:
    """All issues that are not retired."""
    with closing(sqlite3.connect(f"file:{site.place}/tracker/db/db?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT id, _title FROM _issue WHERE __retired__ = 0 ORDER BY id").fetchall()
    return [Item((f"{site.url}issue{id}",), title.split()[-1]) for id, title in rows]


def edit(site: Site) -> Edits:
    before = truth(site)
    new = articles(1, first=9000)[0]
    changes = [("comment", str(number), "It was seen twice more.") for number in range(1, 6)]
    _run(site, [*changes, ("issue", new.title, new.text), ("gone", "10", "")])
    return Edits(before[:5], [truth(site)[-1]])


def _run(site: Site, what: Sequence[tuple[str, str, str]]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _FILL, str(site.place / "tracker")]
    subprocess.run(command, input=json.dumps(what), text=True, check=True, stdout=subprocess.DEVNULL)
