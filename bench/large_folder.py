"""Makes a crawl folder of any size without a network. All data goes through the store, as in a
crawl.

About one URL in ten is visited and four in ten are excluded. One in a hundred failed, one in a
hundred is gone, and the others are queued.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

from bench.places import say
from sanderling.client.warc_writer import WarcWriter
from sanderling.model import Change, ChangeKind, Commit, Counts, Exchange, Host, NewUrl, Outcome, Settled, State, Visit
from sanderling.model.reasons import reason
from sanderling.repository.address import located
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.urls import identity

# The numbers of pages, versions and so on are proportional to this.
URLS, PAGES, VERSIONS = 1_000_000, 80_000, 100_000
HOSTS = 1_000
LINKS = 83

_KNOWN_A_COMMIT = 20_000
_VISITS_A_COMMIT = 500
_UNVISITED = [State.EXCLUDED] * 40 + [State.FAILED] + [State.GONE] + [State.QUEUED] * 58
_REASONS = {State.EXCLUDED: reason("other-host"), State.FAILED: reason("unreachable")}


def make(folder: Path, urls: int, dsn: str = "") -> None:
    """Makes a folder with this many URLs. Its state is in SQLite, or in the database of the DSN."""
    say(f"making a folder with {urls:,} URLs ...")
    begin = time.monotonic()
    hosts = _prepare(folder, dsn)
    chance = random.Random(1)
    counts = Counts(known=urls)
    store = open_store(Folder(folder), readonly=False)
    store.seed([f"{hosts[0].origin}/0"], [], hosts, counts)
    store.unknown({})
    ids: list[int] = []
    report = 0
    for rows in _known(hosts, urls, chance):
        ids += [row.id for row in rows]
        report += 1
        store.commit(Commit("bench", report, rows, [], [], [], {}, counts))
    visited = [id for number, id in enumerate(ids) if _visited(number)][: int(urls * PAGES / URLS)]
    again = visited[: int(urls * (VERSIONS - PAGES) / URLS) - 200] + visited[:1] * 200
    archive = WarcWriter(folder / "warc", "bench")
    change = Change(ChangeKind.TEXT, 0.2, "minor", "Round 1.")
    for some, round in [(visited, 0), (again, 1)]:
        for batch in _batches(some):
            report += 1
            at = 1_790_000_000.0 + report + round * 86_400
            visits = [_visit(id, round, at, archive, ids, chance) for id in batch]
            settled = [Settled(id, State.FETCHED, 0, 0.0, "") for id in batch]
            changes = dict.fromkeys(batch, change) if round else {}
            store.commit(
                Commit("bench", report, [], settled, visits, [], archive.flush(), counts, changes=changes)
            )  # fmt: skip
    archive.close()
    store.close()
    seconds = time.monotonic() - begin
    say(f"made {len(ids):,} URLs, {len(visited):,} pages, {len(visited) + len(again):,} versions in {seconds:.0f} s")


def _prepare(folder: Path, dsn: str) -> list[Host]:
    """The empty folder, and the hosts of its crawl."""
    (folder / "warc").mkdir(parents=True)
    origins = [f"http://host{number}.test" for number in range(HOSTS)]
    state = f'store = "{located(dsn, folder)}"\n' if dsn else ""
    (folder / "sanderling.toml").write_text(f'seeds = ["{origins[0]}/0"]\nscope = "any"\n{state}')
    return [Host(identity(origin), origin) for origin in origins]


def _visited(number: int) -> bool:
    return number % 1000 < 1000 * PAGES / URLS


def _known(hosts: list[Host], urls: int, chance: random.Random) -> Iterator[list[NewUrl]]:
    """URLs in the order in which they are found, in parts. A few hosts have most of them."""
    root = 0
    for first in range(0, urls, _KNOWN_A_COMMIT):
        rows = []
        for number in range(first, min(first + _KNOWN_A_COMMIT, urls)):
            host = hosts[int(HOSTS * chance.random() ** 2)]
            url = f"{host.origin}/section-{number % 97}/page-{number}.html"
            id = identity(url)
            root = root or id
            state = State.QUEUED if _visited(number) else _UNVISITED[number % 100]
            why = _REASONS.get(state, "")
            rows.append(NewUrl(id, url, host.id, number % 9, state, chance.random(), root, 0, "a link", why))
        yield rows


def _batches(ids: list[int]) -> Iterator[list[int]]:
    """Visits in reports. A second visit to the same page is in another report."""
    for first in range(0, len(ids), _VISITS_A_COMMIT):
        part = ids[first : first + _VISITS_A_COMMIT]
        yield from [part] if len(set(part)) == len(part) else [[id] for id in part]


def _visit(id: int, round: int, at: float, archive: WarcWriter, ids: list[int], chance: random.Random) -> Visit:
    paragraphs = "".join(f"<p>Paragraph {n} of {id} says something about sandpipers.</p>" for n in range(12))
    text = f"<html><title>Page {id}</title><body><h1>{id}</h1>{paragraphs}<p>Round {round}.</p></body></html>"
    body = text.encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    place = archive.add(Exchange(f"http://x.test/{id}", at, b"", head, body, "text/html", "", False, "", b""))
    links = b"".join(chance.choice(ids).to_bytes(8, "little", signed=True) for _ in range(LINKS))
    return Visit(
        id=id, outcome=Outcome.PAGE, status=200, at=at, size=len(body), mime="text/html", charset="utf-8",
        language="en", title=f"Page {id}", digest=chance.randbytes(16), text_digest=chance.randbytes(16),
        links=links, stored=place,
    )  # fmt: skip
