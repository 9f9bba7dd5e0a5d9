"""What sources cost and how fast they are heard: 10,000 pages in one message, and a file that
changes on a site."""

from __future__ import annotations

import contextlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec

from sanderling import clock
from sanderling.model import Commit, NamedPage, NewUrl, Outcome, Settled, State, Told, Visit
from sanderling.processes import garbage
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.assembly import Purpose, assemble
from sanderling.settings import Settings
from sanderling.testing.prose import sentences
from sanderling.urls import identity

MANY = 10_000
HOME = "http://example.org"


def report(changes: int) -> int:
    """Prints both tables."""
    garbage.collect_rarely()  # as the server does
    with tempfile.TemporaryDirectory() as place:
        for name, times in cost(Path(place)):
            print(f"{name:34} {statistics.median(times) * 1000:6.1f} ms CPU (best {min(times) * 1000:.1f})")
    with tempfile.TemporaryDirectory() as place:
        for name, seconds in latency(Path(place), changes):
            ordered = sorted(seconds)
            print(
                f"{name:34} median {statistics.median(ordered):5.2f} s, "
                f"90 % within {ordered[int(len(ordered) * 0.9)]:5.2f} s ({len(ordered)} changes)"
            )
    return 0


def cost(place: Path, rounds: int = 5) -> list[tuple[str, list[float]]]:
    """CPU seconds of the server for a message of 10,000 pages: decoding it, deciding and
    committing."""
    store = SqliteStore(place / "sanderling.db")
    parts = assemble(store, Settings(delay=0), [f"{HOME}/"], Folder(place), place, 1, Purpose())
    known = _pages(0)
    rows = [NewUrl(page.id, page.url, identity(HOME), 1, State.QUEUED, 0.0, 0, 0, "", "") for page in known]
    parts.ledger.admitted(rows)
    parts.ledger.moved((State.QUEUED, State.FETCHED) for _ in rows)
    settled = [Settled(page.id, State.FETCHED, 0, 0.0, "") for page in known]
    visits = [Visit(id=page.id, outcome=Outcome.PAGE, status=200, at=9.0) for page in known]
    store.commit(Commit("c", 1, rows, settled, visits, [], {}, parts.ledger.counts))
    kinds = (("10,000 known pages are named", lambda n: 0), ("10,000 new pages are named", lambda n: n))
    found = []
    for name, which in kinds:
        times = []
        for number in range(1, rounds + 1):
            message = msgspec.msgpack.encode(Told("indexnow", HOME, _pages(which(number))))
            began = time.process_time()
            assert parts.change_hints.take_in(msgspec.msgpack.decode(message, type=Told)) == ""
            times.append(time.process_time() - began)
        found.append((name, times))
    store.close()
    return found


def _pages(series: int) -> list[NamedPage]:
    urls = (f"{HOME}/part-{number % 100}/page-{series}-{number}.html" for number in range(MANY))
    return [NamedPage(identity(url), url, "changed", clock.now()) for url in urls]


def latency(place: Path, changes: int) -> list[tuple[str, list[float]]]:
    """Seconds from the write of a file to the committed version, with push and with a report that
    is read every second."""
    found = []
    for name, by_push in (("from file to version, by push", True), ("by reading the report every 1 s", False)):
        home = place / ("push" if by_push else "report")
        (home / "site").mkdir(parents=True)
        for number in range(changes):
            _write(home / "site", number, 0)
        links = "".join(f'<a href="/p{number}.html">{number}</a> ' for number in range(changes))
        (home / "site" / "index.html").write_text(links)
        with contextlib.ExitStack() as running:
            site = running.enter_context(_served(home / "site"))
            _run(
                "crawl", f"{site}/", "-d", home / "crawl", "--delay", 0, "--per-host", 4, "--no-index", "--no-sitemaps"
            )
            announce = ["announce", home / "site", "--site", f"{site}/", "--state", home / "announcer"]
            if by_push:
                server = running.enter_context(
                    _started("serve", home / "crawl", "--port", 0, "--archive-port", 0, "--indexnow")
                )
                assert server.stdout is not None
                url = next(word for word in server.stdout.readline().split() if word.startswith("http"))
                announce += ["--push", f"{url}indexnow"]
            running.enter_context(_started(*announce))
            reading = ["--no-reports"] if by_push else ["--report-interval", "1s"]
            # Nothing but the seed is visited by plan.
            limits = ["--policy", "top-levels", "--top-levels", 0, "--budget", "20/s", "--no-index"]
            running.enter_context(_started("refresh", home / "crawl", "--forever", *limits, *reading))
            while not (home / "site" / ".well-known" / "sanderling" / "manifest.jsonl").exists():
                time.sleep(0.1)
            time.sleep(10)  # until the refresh has made its first plan
            found.append((name, [_change(home, site, number) for number in range(changes)]))
    return found


def _change(home: Path, site: str, number: int) -> float:
    page = identity(f"{site}/p{number}.html")
    began = time.monotonic()
    _write(home / "site", number, 1)
    while time.monotonic() - began < 60:
        with contextlib.closing(open_store(Folder(home / "crawl"), readonly=True)) as store:
            if len(store.versions(page)) > 1:
                break
        time.sleep(0.05)
    return time.monotonic() - began


def _write(folder: Path, number: int, version: int) -> None:
    words = " ".join(random.Random(2 * number + version).sample(sentences(0), 5))
    beside = folder / f".p{number}.part"
    beside.write_text(f"<title>{number}</title><p>{words}</p>")
    beside.replace(folder / f"p{number}.html")


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def _run(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "sanderling", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def _started(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "sanderling", *map(str, arguments)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()
