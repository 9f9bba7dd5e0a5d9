"""Millions of known URLs: does admitting one more stay cheap?

Feeds the embedded store what intake would (which of these are known? then one commit of the new ones)
without any network, and prints speed, file size and memory as the table grows. Identities are hashes, so rows
arrive in random order: this is where a B-tree larger than its cache would show.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.places import RESULTS

if TYPE_CHECKING:
    from sanderling.model import NewUrl
    from sanderling.repository.sqlite import SqliteStore

# A report of a hundred pages in a crawl of the open web, where most links of a page are new to the crawl.
NEW_A_COMMIT = 2000
KNOWN_A_COMMIT = 2000
TAKES = 200
# Known URLs are asked about again from among the latest; a longer memory would be this bench's own weight.
MOST_REMEMBERED = 100_000


@dataclass(frozen=True)
class Step:
    urls: int
    per_second: float
    slowest_commit: float
    file_mib: float
    peak_mib: float

    def __str__(self) -> str:
        return (
            f"{self.urls:12,} URLs {self.per_second:10,.0f} /s"
            f"   slowest commit {self.slowest_commit * 1000:6.0f} ms"
            f"   file {self.file_mib:8,.0f} MiB   memory {self.peak_mib:6,.0f} MiB"
        )


def many_urls(urls: int, hosts: int) -> int:
    # Imported late: the race must run even where only the peers do.
    from sanderling.repository.sqlite import SqliteStore

    with tempfile.TemporaryDirectory(prefix="bench-urls-") as folder:
        path = Path(folder, "sanderling.db")
        store = SqliteStore(path)
        steps = []
        for step in _fill(store, path, urls, hosts):
            print(step, flush=True)
            steps.append(step)
        take = _time_takes(store, hosts)
        store.close()
        begin = time.perf_counter()
        reopened = SqliteStore(path)
        waiting = len(reopened.waiting())
        resume = time.perf_counter() - begin
        reopened.close()
    print(f"take 50 URLs of a host: {take * 1000:.2f} ms; open again and list {waiting:,} hosts: {resume:.2f} s")
    RESULTS.mkdir(exist_ok=True)
    report = {"steps": [asdict(step) for step in steps], "take": take, "resume": resume}
    (RESULTS / "many_urls.json").write_text(json.dumps(report, indent=2) + "\n")
    return 0


def _fill(store: SqliteStore, path: Path, urls: int, hosts: int) -> Iterator[Step]:
    from sanderling.model import Commit, Counts, Host
    from sanderling.urls import identity

    origins = [f"http://host{number}.test" for number in range(hosts)]
    store.seed([], [], [Host(identity(origin), origin) for origin in origins], Counts())
    every = max(NEW_A_COMMIT, urls // 10)
    chance = random.Random(1)
    admitted, number = 0, 0
    seen: list[tuple[int, str]] = []
    while admitted < urls:
        begin, before, slowest = time.perf_counter(), admitted, 0.0
        making = 0.0
        while admitted - before < every and admitted < urls:
            prepare = time.perf_counter()
            rows = _rows(origins, admitted, chance)
            new = [(row.id, row.url) for row in rows]
            asked = dict(new + chance.sample(seen, min(len(seen), KNOWN_A_COMMIT)))
            seen = seen[-MOST_REMEMBERED:] + new
            start = time.perf_counter()
            making += start - prepare
            unknown = set(store.unknown(asked))
            number += 1
            fresh = [row for row in rows if row.id in unknown]
            store.commit(Commit("bench", number, fresh, [], [], [], {}, Counts(known=admitted)))
            slowest = max(slowest, time.perf_counter() - start)
            admitted += len(rows)
        spent = time.perf_counter() - begin - making
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = sum(file.stat().st_size for file in path.parent.iterdir()) / 2**20
        yield Step(admitted, (admitted - before) / spent, slowest, size, memory)


def _rows(origins: list[str], first: int, chance: random.Random) -> list[NewUrl]:
    from sanderling.model import NewUrl, State
    from sanderling.urls import identity

    rows = []
    for number in range(first, first + NEW_A_COMMIT):
        origin = chance.choice(origins)
        url = f"{origin}/section-{number % 97}/a-page-with-a-name-of-usual-length-{number}.html"
        rank = chance.random()
        rows.append(NewUrl(identity(url), url, identity(origin), 3, State.QUEUED, rank, 0, 0, "an anchor text", ""))
    return rows


def _time_takes(store: SqliteStore, hosts: int) -> float:
    from sanderling.urls import identity

    times = []
    for number in range(min(hosts, TAKES)):
        begin = time.perf_counter()
        store.take(identity(f"http://host{number}.test"), 50, set())
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
