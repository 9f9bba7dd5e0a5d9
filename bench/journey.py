"""`python -m bench journey`: the way of one page through server, client and indexer, as measured.

A real crawl fetches one page of a local site, and every process of it is traced. A hop is a call
from one module of ours into another that carries the page: its URL or identity is among the
arguments, or in what is returned. Functions that are given only values compute, and are no hops.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import sanderling
from sanderling.urls import identity

PACKAGE = Path(sanderling.__file__).parent
TRACING = Path(__file__).parent / "tracing"
_PAGE = b"<!doctype html><title>One page</title><h1>One page</h1><p>It has a paragraph, and leads nowhere."
# The crawl is as plain as it can be.
PLAIN = ("--no-sitemaps", "--render", "never")
# Rooms of values: what they define is computed, wherever it is called.
VALUES = {"model", "urls", "errors", "clock", "header_values", "arrays", "settings", "documents", "change"}


class Hop(NamedTuple):
    """A call that carries the page."""

    process: str
    file: str
    function: str
    about: str

    @property
    def name(self) -> str:
        return self.function.rpartition(".")[2]

    @property
    def room(self) -> str:
        return self.file.partition("/")[0].removesuffix(".py")


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = _PAGE if self.path == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:
        pass


def journey() -> list[Hop]:
    """Crawls one page and returns its hops, in the order in which they happened first."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{site.server_address[1]}/"
    try:
        with tempfile.TemporaryDirectory() as place:
            _crawl(url, Path(place))
            return hops(_records(Path(place)))
    finally:
        site.shutdown()
        site.server_close()


def _crawl(url: str, place: Path) -> None:
    environment = {
        **os.environ, "PYTHONPATH": f"{TRACING}{os.pathsep}{PACKAGE.parent}", "JOURNEY_URL": url,
        "JOURNEY_ID": str(identity(url)), "JOURNEY_PACKAGE": str(PACKAGE), "JOURNEY_TO": str(place),
    }  # fmt: skip
    folder = str(place / "crawl")
    # A crawl of one page is over before its indexer has begun: the first search does that work.
    for command in (["crawl", url, "-d", folder, "--clients", "1", *PLAIN], ["search", folder, "paragraph"]):
        started = [sys.executable, "-m", "sanderling", *command]
        done = subprocess.run(started, env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise RuntimeError(f"sanderling {command[0]} failed: {done.stderr}")


def _records(place: Path) -> list[dict[str, object]]:
    found = [json.loads(line) for file in place.glob("*.json") for line in file.read_text().splitlines()]
    return sorted(found, key=lambda each: each["at"])


def hops(records: list[dict[str, object]]) -> list[Hop]:
    """The calls that count, each function once in a process: from the seed to the commit of the
    visit, and from there to the index."""
    first = {}
    for each in records:
        hop = Hop(str(each["process"]), str(each["file"]), str(each["function"]), str(each["about"]))
        if not each["pure"] and hop.room not in VALUES:
            first.setdefault((hop.process, hop.file, hop.name), hop)
    found = list(first.values())
    last = next(n for n, hop in enumerate(found) if hop.function.endswith("Writing.commit"))
    indexed = [hop for hop in found if hop.process == "search"]
    put = next(n for n, hop in enumerate(indexed) if hop.function.endswith(".put"))
    return [hop for hop in found[: last + 1] if hop.process in ("crawl", "client")] + indexed[: put + 1]


def changes_of_room(found: list[Hop]) -> int:
    return sum(a.room != b.room for a, b in pairwise(found))


def table(found: list[Hop]) -> str:
    """The journey as a table."""
    lines = ["| hop | file | function | what it does |", "|---|---|---|---|"]
    lines += [f"| {number} | `{hop.file}` | `{hop.name}` | {hop.about or '–'} |" for number, hop in enumerate(found, 1)]
    return "\n".join(lines)


def report() -> int:
    found = journey()
    print(table(found))
    print(f"\n{len(found)} hops, {changes_of_room(found)} changes of room")
    return 0
