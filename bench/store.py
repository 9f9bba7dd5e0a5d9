"""Measures stores with thousands and millions of URLs: the cost of one more URL, and the time to
resume.

It writes the same data to a store as a server does, without a network: reports of a hundred pages,
each with twenty new links, so that one URL in twenty is visited. CPU time is that of the server's
process, user and system. PostgreSQL works in processes of its own, so its figures are wall time,
with fsync on. Identities are hashes, so rows arrive in random order; a B-tree larger than its cache
would be slow here. The checkpoint of SQLite's log is part of each measurement.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from bench.places import RESULTS, say

if TYPE_CHECKING:
    from sanderling.model import Commit, NewUrl
    from sanderling.repository.store import Store

SIZES = (10_000, 1_000_000)
LARGE = 10_000_000

PAGES_A_REPORT = 100
NEW_A_PAGE = 20
LINKS_A_PAGE = 83
NEW_A_REPORT = PAGES_A_REPORT * NEW_A_PAGE
# A report comes from one client, which has few hosts at a time. Most links stay on their host.
HOSTS_A_REPORT = 20
ON_THESE_HOSTS = 0.85
# The number of reports that are measured at each size, as one sum.
MEASURED = 25
LEASES = 400
A_LEASE = 50


@dataclass(frozen=True)
class Figures:
    """What things cost at one size."""

    store: str
    urls: int
    new_per_cpu: float
    new_per_second: float
    known_per_cpu: float
    lease_us: float
    report_us: float
    memory_mib: float

    def __str__(self) -> str:
        return (
            f"{self.store:10} {self.urls:12,} {self.new_per_cpu:12,.0f} {self.new_per_second:12,.0f} "
            f"{self.known_per_cpu:14,.0f} {self.lease_us:10.1f} {self.report_us:11.1f} {self.memory_mib:8.0f}"
        )


HEAD = (
    f"{'store':10} {'known URLs':>12} {'new/CPU s':>12} {'new/s':>12} {'known/CPU s':>14} {'lease us':>10} "
    f"{'report us':>11} {'MiB':>8}"
)


def store(kinds: list[str], large: bool, scattered: bool, hosts: int) -> int:
    sizes = (*SIZES, LARGE) if large else SIZES
    print(HEAD, flush=True)
    report: dict[str, list[dict[str, object]]] = {"figures": [], "resumed": []}
    for kind in kinds:
        with opened(kind) as (address, open_store):
            feed = Feed(open_store(), hosts, scattered, Path(address) if kind == "sqlite" else None)
            for size in sizes:
                feed.grow(size)
                figures = feed.measure(kind)
                print(figures, flush=True)
                report["figures"].append(asdict(figures))
                # In a process of its own, so that its memory is that of a server that has just
                # started.
                command = [sys.executable, "-m", "bench.store", "--resume", address]
                feed.store.close()
                resumed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                print(
                    f"{'':10} resumed in {resumed['seconds']:.2f} s ({resumed['cpu']:.2f} s CPU) "
                    f"with {resumed['memory_mib']:.0f} MiB{on_disk(address, size)}",
                    flush=True,
                )
                report["resumed"].append({"store": kind, "urls": size, **resumed})
                feed.store = open_store()
            feed.store.close()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "store.json").write_text(json.dumps(report, indent=2) + "\n")
    return 0


def on_disk(address: str, urls: int) -> str:
    """What a URL takes in SQLite, with the pages and links of one in twenty."""
    return "" if "://" in address else f"; {Path(address).stat().st_size / urls:.0f} bytes a URL on disk"


@contextlib.contextmanager
def opened(kind: str) -> Iterator[tuple[str, Callable[[], Store]]]:
    """An empty store: its name, and how to open it."""
    from sanderling.repository.address import located
    from sanderling.testing.postgres import PostgresServer

    with tempfile.TemporaryDirectory(prefix="bench-store-") as folder, contextlib.ExitStack() as undo:
        if kind == "sqlite":
            address = str(Path(folder, "sanderling.db"))
        else:
            say("starting a PostgreSQL server ...")
            address = located(undo.enter_context(PostgresServer(durable=True)).dsn, Path(folder)) or ""
        yield address, lambda: open_at(address)


def open_at(address: str) -> Store:
    from sanderling.repository.postgres import PostgresStore
    from sanderling.repository.sqlite import SqliteStore

    return PostgresStore(address) if "://" in address else SqliteStore(Path(address))


class Feed:
    """Fills a store with URLs that are computed from their numbers, so that none has to be stored
    here."""

    def __init__(self, store: Store, hosts: int, scattered: bool, file: Path | None = None) -> None:
        from sanderling.model import Counts, Host
        from sanderling.urls import identity

        self.store = store
        self._file = file
        self._origins = [f"http://host{number}.test" for number in range(hosts)]
        self._ids = [identity(origin) for origin in self._origins]
        self._scattered = scattered
        self._chance = random.Random(1)
        self._known = 0
        self._report = 0
        self._place = 0
        store.seed([], [], [Host(id, origin) for id, origin in zip(self._ids, self._origins, strict=True)], Counts())

    def grow(self, size: int) -> None:
        """Fills the store up to a size, in large commits. This part is not measured."""
        self.store.unknown({})
        while self._known < size:
            rows = self._rows(min(20_000, size - self._known))
            self.store.commit(self._commit(rows))
            self.store.commit(self._visits(len(rows) // NEW_A_PAGE))

    def measure(self, kind: str) -> Figures:
        at = self._known
        cpu = wall = 0.0
        self._work_in_log()
        for _ in range(MEASURED):
            rows = self._rows(NEW_A_REPORT)
            commit = self._commit(rows)
            texts = {row.id: row.url for row in rows}
            begin, begin_cpu = time.perf_counter(), time.process_time()
            assert len(self.store.unknown(texts)) == len(rows)
            self.store.commit(commit)
            cpu += time.process_time() - begin_cpu
            wall += time.perf_counter() - begin
        begin, begin_cpu = time.perf_counter(), time.process_time()
        self._work_in_log()
        cpu += time.process_time() - begin_cpu
        wall += time.perf_counter() - begin
        admitted = MEASURED * NEW_A_REPORT
        return Figures(
            kind, at, admitted / cpu, admitted / wall, self._time_known(), self._time_leases(), self._time_reports(),
            memory_mib(),
        )  # fmt: skip

    def _time_known(self) -> float:
        from sanderling.urls import identity

        spent = 0.0
        for _ in range(MEASURED):
            urls = [self._url(self._chance.randrange(self._known)) for _ in range(NEW_A_REPORT)]
            texts = {identity(url): url for url in urls}
            begin = time.process_time()
            assert not self.store.unknown(texts)
            spent += time.process_time() - begin
        return MEASURED * NEW_A_REPORT / spent

    def _time_leases(self) -> float:
        """Microseconds of CPU time for each URL of a lease."""
        taken, begin = 0, time.process_time()
        for number in self._chance.sample(range(len(self._ids)), min(LEASES, len(self._ids))):
            taken += len(self.store.take(self._ids[number], A_LEASE, set()))
        return (time.process_time() - begin) / max(1, taken) * 1e6

    def _time_reports(self) -> float:
        """Microseconds of CPU time for each visited page without new URLs. Pages are reported in
        the order of leases."""
        spent, visited = 0.0, 0
        for _ in range(MEASURED):
            done = self._visits(PAGES_A_REPORT)
            begin = time.process_time()
            self.store.commit(done)
            spent += time.process_time() - begin
            visited += len(done.visits)
        begin = time.process_time()
        self._work_in_log()
        return (spent + time.process_time() - begin) / visited * 1e6

    def _work_in_log(self) -> None:
        if self._file is not None:
            with contextlib.closing(sqlite3.connect(self._file)) as db:
                db.execute("PRAGMA wal_checkpoint")

    def _visits(self, pages: int) -> Commit:
        """A report of this many pages, with a few pages of each of some hosts."""
        from sanderling.model import Commit, Counts, Outcome, Settled, State, Stored, Visit

        of_each = PAGES_A_REPORT // HOSTS_A_REPORT
        hosts = self._chance.sample(self._ids, min(pages, len(self._ids)))
        leased = (task for host in hosts for task in self.store.take(host, of_each, set()))
        visits = []
        for task in islice(leased, pages):
            links = self._chance.randbytes(8 * LINKS_A_PAGE)
            self._place += 10_000
            visits.append(
                Visit(
                    id=task.id,
                    outcome=Outcome.PAGE,
                    status=200,
                    at=time.time(),
                    size=24_000,
                    mime="text/html",
                    charset="utf-8",
                    language="en",
                    title="A title of the usual length",
                    digest=self._chance.randbytes(16),
                    text_digest=self._chance.randbytes(16),
                    links=links,
                    stored=Stored("bench.warc.gz", self._place, 5_000),
                )
            )
        settled = [Settled(visit.id, State.FETCHED, 0, 0.0, "") for visit in visits]
        self._report += 1
        return Commit("bench", self._report, [], settled, visits, [], {"bench.warc.gz": self._place}, Counts())

    def _commit(self, rows: list[NewUrl]) -> Commit:
        from sanderling.model import Commit, Counts

        self._report += 1
        return Commit("bench", self._report, rows, [], [], [], {}, Counts(known=self._known))

    def _url(self, number: int) -> str:
        # The host is a hash of the number too, so that nothing has to be kept.
        return f"{self._origins[self._host(number)]}/section-{number % 97}/a-page-with-a-name-of-usual-length-{number}.html"

    def _host(self, number: int) -> int:
        hosts = len(self._ids)
        scattered = number * 0x9E3779B97F4A7C15 >> 20 & 0xFFFFFFFF
        if self._scattered or scattered % 1000 >= ON_THESE_HOSTS * 1000:
            return scattered % hosts
        first = (number // NEW_A_REPORT) * 0x9E3779B97F4A7C15 >> 20
        return (first + scattered % HOSTS_A_REPORT) % hosts

    def _rows(self, count: int) -> list[NewUrl]:
        from sanderling.model import NewUrl, State
        from sanderling.urls import identity

        rows = []
        for number in range(self._known, self._known + count):
            url = self._url(number)
            rank = -float(self._chance.randrange(2, 8))
            home = self._ids[self._host(number)]
            rows.append(NewUrl(identity(url), url, home, 3, State.QUEUED, rank, 1 << 60, 0, "an anchor text", ""))
        self._known += count
        return rows


def memory_mib() -> float:
    """Resident memory now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def resume(address: str) -> int:
    """What a server does with its store before it hands out the first lease."""
    begin = time.perf_counter()
    store = open_at(address)
    store.counts(), store.seeds(), store.homes(), store.warcs(), store.next_wake()
    waiting = len(store.waiting())
    store.unknown({})
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "cpu": time.process_time(), "memory_mib": memory_mib(), "hosts": waiting}))
    store.close()
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", choices=["sqlite", "postgresql", "both"], default="both", help="which (both)")
    parser.add_argument("--large", action="store_true", help="up to 10,000,000 URLs")
    parser.add_argument(
        "--scattered", action="store_true", help="every new URL on any host, the worst case for a queue"
    )
    parser.add_argument("--hosts", type=int, default=10_000, help="how many hosts (10,000)")


def run(chosen: argparse.Namespace) -> int:
    kinds = ["sqlite", "postgresql"] if chosen.store == "both" else [chosen.store]
    return store(kinds, chosen.large, chosen.scattered, chosen.hosts)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--resume"]:
        sys.exit(resume(sys.argv[2]))
    own = argparse.ArgumentParser(prog="python -m bench.store", description=__doc__)
    add_arguments(own)
    sys.exit(run(own.parse_args()))
