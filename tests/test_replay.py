"""What a crawl archived, revisits included, replays in pywb: with its own index, and with the one that we export.

pywb has about 40 dependencies of its own, so it has an environment of its own: `make test` makes it (`.venv/replay`).
"""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer, links
from tests.waiting import PATIENCE, until

PYWB = Path(sys.prefix, "replay", "bin")
VALIDATED = (("ETag", '"one"'),)
# Paths whose keys in an index are easily got wrong.
ODD = ("/dir/", "/a//b", "/find?b=2&a=1", "/Upper/Case.HTML", "/~user/caf%C3%A9")


class Capture(NamedTuple):
    key: str
    at: str
    url: str


@pytest.fixture(scope="module")
def archive(sanderling: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[bytes]]]:
    """A folder of pywb with the archive of a crawl and our index of it, and what each URL has shown."""
    if not (PYWB / "wayback").exists():
        pytest.skip("pywb is not installed in .venv/replay: `make test` installs it")
    place = tmp_path_factory.mktemp("replay")
    validated, again = b"<h1>Validated</h1>", b"<h1>The same bytes</h1>"
    table = {
        **{path: f"<p>{path}</p>".encode() for path in ODD},
        "/validated": lambda n: Answer(validated if n == 1 else b"", status=200 if n == 1 else 304, headers=VALIDATED),
        "/again": again,
        "/changed": lambda n: b"<p>version %d</p>" % n,
        "/missing": Answer(b"<p>not here</p>", status=404),
    }
    table["/"] = b"<p>front</p>" + links(*table)
    with PageServer(table) as server:
        folder, collection = place / "crawl", place / "collections" / "all"
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
        # pywb tells captures apart by the second: the next crawl must not begin in the last second of this one.
        second = int(time.time())
        until(lambda: int(time.time()) > second)
        assert sanderling("crawl", "-d", folder, *FAST, "--again").code == 0
        assert [each.headers.get("if-none-match") for each in server.asked if each.url == "/validated"] == [
            None,
            '"one"',
        ]
        shown = {server.origin + path: [f"<p>{path}</p>".encode()] for path in ODD}
        shown |= {f"{server.origin}/validated": [validated], f"{server.origin}/again": [again]}
        shown |= {f"{server.origin}/changed": [b"<p>version 1</p>", b"<p>version 2</p>"]}
    (collection / "indexes").mkdir(parents=True)
    (collection / "archive").symlink_to(folder / "warc")
    index = collection / "indexes" / "index.cdxj"
    assert sanderling("export", folder, "--format", "cdxj", "-o", index).code == 0
    return place, shown


def test_every_capture_replays_in_pywb(archive: tuple[Path, dict[str, list[bytes]]]) -> None:
    place, shown = archive
    captures = exported(place)
    by_url = {url: [each for each in captures if each.url == url] for url in shown}
    # Each page was captured by both crawls; one was unchanged by 304, most by their bytes.
    assert {url: len(found) for url, found in by_url.items()} == dict.fromkeys(shown, 2)
    with pywb(place) as home:
        for url, bodies in shown.items():
            replayed = [fetched(f"{home}/all/{each.at}id_/{each.url}") for each in by_url[url]]
            assert replayed == [bodies[0], bodies[-1]], url


def test_the_exported_index_has_the_keys_of_pywb(archive: tuple[Path, dict[str, list[bytes]]]) -> None:
    place, shown = archive
    warcs = sorted((place / "crawl" / "warc").glob("*.warc.gz"))
    made = subprocess.run(
        [PYWB / "cdx-indexer", "--cdxj", "--sort", *warcs], capture_output=True, text=True, check=True
    ).stdout
    theirs = {each for each in map(capture, made.splitlines()) if each.url in shown}
    assert {each for each in exported(place) if each.url in shown} == theirs


def exported(place: Path) -> list[Capture]:
    return [*map(capture, (place / "collections" / "all" / "indexes" / "index.cdxj").read_text().splitlines())]


def capture(line: str) -> Capture:
    key, at, facts = line.split(" ", 2)
    return Capture(key, at, json.loads(facts)["url"])


@contextmanager
def pywb(place: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = (place / "pywb.log").open("wb")
    command = [PYWB / "wayback", "-b", "127.0.0.1", "-p", str(port), "-d", place, "-t", "2"]
    with log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            until(lambda: process.poll() is not None or answers(port))
            assert process.poll() is None, (place / "pywb.log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        found: bytes = answer.read()
    return found
