"""Search applications that nobody here wrote, each with records that no link leads to: Datasette,
Roundup, Xapian Omega.

`python -m tests.applications` installs Omega, which is a Debian package, if it is not there, and
the light applications of the field trial.
"""

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from http.server import CGIHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from bench.field.registry import APPLICATIONS, LIGHT
from bench.places import BenchError
from tests.waiting import until

OMEGA = Path("/usr/lib/cgi-bin/omega/omega")
OMEGA_TEMPLATES = Path("/var/lib/xapian-omega/templates")

# Roundup's own server refuses to run as root, as which tests may run. Its WSGI application does
# not.
_ROUNDUP = """
import json, sys
from wsgiref.simple_server import WSGIRequestHandler, make_server
from roundup import instance, password
from roundup.cgi.wsgi_handler import RequestDispatcher

home, port = sys.argv[1], int(sys.argv[2])
tracker = instance.open(home)
tracker.init(password.Password("not-a-secret", config=tracker.config))
db = tracker.open("admin")
for number, text in enumerate(json.loads(sys.argv[3])):
    db.issue.create(title=text, priority=str(number % 5 + 1), status=str(number % 8 + 1))
db.commit()
db.close()

class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass

make_server("127.0.0.1", port, RequestDispatcher(home), handler_class=Quiet).serve_forever()
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextlib.contextmanager
def serving(command: Sequence[object], url: str, **options: object) -> Iterator[str]:
    process = subprocess.Popen(
        [str(each) for each in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
    )  # type: ignore[call-overload]
    try:
        until(lambda: process.poll() is not None or _answers(url))
        assert process.poll() is None, f"{command[0]} ended with {process.returncode}"
        yield url
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
        return True
    return False


@contextlib.contextmanager
def datasette(folder: Path, records: Sequence[str]) -> Iterator[str]:
    """Records are pages that only a canned query with full-text search links to: their table is not
    shown to anybody."""
    pages = folder / "pages"
    pages.mkdir(parents=True)
    port = free_port()
    home = f"http://127.0.0.1:{port}"
    with contextlib.closing(sqlite3.connect(folder / "shore.db")) as db:
        db.execute("CREATE TABLE sightings (id INTEGER PRIMARY KEY, place TEXT, link TEXT, text TEXT)")
        db.execute("CREATE VIRTUAL TABLE words USING fts5 (text, content=sightings, content_rowid=id)")
        for number, text in enumerate(records):
            (pages / f"{number}.html").write_text(f"<title>Sighting {number}</title><p>{text}</p>")
            row = (number, f"bay {number % 7}", f"{home}/pages/{number}.html", text)
            db.execute("INSERT INTO sightings VALUES (?, ?, ?, ?)", row)
        db.execute("INSERT INTO words (words) VALUES ('rebuild')")
        db.commit()
    sql = "SELECT link FROM words JOIN sightings ON id = words.rowid WHERE words MATCH '\"' || :words || '\"' ORDER BY rank LIMIT 20"
    place = "SELECT link FROM sightings WHERE place LIKE '%' || :place || '%' AND text LIKE '%' || :part || '%' LIMIT 5"
    hidden = {"allow": False}
    tables = ("sightings", "words", "words_data", "words_idx", "words_docsize", "words_config")
    queries = {"search": {"sql": sql, "title": "Search the shore"}, "two": {"sql": place}}
    about = {"tables": dict.fromkeys(tables, hidden), "queries": queries, "allow_sql": False}
    (folder / "metadata.json").write_text(json.dumps({"databases": {"shore": about}}))
    command = (
        sys.executable, "-m", "datasette", "serve", folder / "shore.db", "-p", port, "-m", folder / "metadata.json",
        "--static", f"pages:{pages}",
    )  # fmt: skip
    with serving(command, home + "/"):
        yield home + "/"


@contextlib.contextmanager
def roundup(folder: Path, records: Sequence[str]) -> Iterator[str]:
    """An issue tracker: many selects, a pager, and a login form on every page."""
    port = free_port()
    folder.mkdir(parents=True)
    home, url = folder / "tracker", f"http://127.0.0.1:{port}/"
    said = f"admin_email=a@example.org,mail_domain=example.org,mail_host=localhost,tracker_web={url},rdbms_name=x"
    install = [sys.executable, "-m", "roundup.scripts.roundup_admin", "-i", home, "install", "classic", "sqlite", said]
    subprocess.run([str(each) for each in install], check=True, stdout=subprocess.DEVNULL)
    with serving((sys.executable, "-W", "ignore", "-c", _ROUNDUP, home, port, json.dumps(records)), url):
        yield url


def omega_missing() -> str:
    """Why there is no Omega; empty if there is one."""
    if OMEGA.exists() and shutil.which("omindex"):
        return ""
    return "Xapian Omega is not installed: apt-get install xapian-omega"


@contextlib.contextmanager
def omega(folder: Path, records: Sequence[str]) -> Iterator[str]:
    """A search engine: a text field, a radio group, hidden fields, and a pager made of submit
    buttons."""
    pages = folder / "site" / "records"
    pages.mkdir(parents=True)
    for number, text in enumerate(records):
        (pages / f"{number}.html").write_text(f"<title>Record {number}</title><p>{text}</p>")
    (pages / "index.html").write_text("<p>Nothing is listed here.</p>")
    run = ["omindex", "--db", folder / "default", "--url", "/records/", pages]
    subprocess.run([str(each) for each in run], check=True, stdout=subprocess.DEVNULL)
    settings = folder / "omega.conf"
    settings.write_text(
        f"database_dir {folder}\ntemplate_dir {OMEGA_TEMPLATES}\nlog_dir {folder}\ncdb_dir {folder}\n", "utf-8"
    )
    os.environ["OMEGA_CONFIG_FILE"] = str(settings)
    scripts = folder / "site" / "cgi-bin"
    scripts.mkdir()
    (scripts / "omega").symlink_to(OMEGA)

    class Handler(CGIHTTPRequestHandler):
        have_fork = False

        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder / "site"))  # type: ignore[misc, arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/cgi-bin/omega"
        server.shutdown()


def fetch() -> None:
    """Installs what is missing if allowed. Without it, its test is skipped."""
    if omega_missing() and os.geteuid() == 0 and shutil.which("apt-get"):
        sys.stderr.write("fetching Xapian Omega for the tests of forms ...\n")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "xapian-omega"]):
            subprocess.run(["apt-get", *step], env=environment, stdout=subprocess.DEVNULL, check=False)
    if why := omega_missing():
        sys.stderr.write(f"its tests are skipped: {why}\n")
    for name in LIGHT:
        try:
            APPLICATIONS[name].install()
        except BenchError as missing:
            sys.stderr.write(f"the test of {name} is skipped: {missing}\n")


if __name__ == "__main__":
    fetch()
