"""Measures PageRank of a million pages with eighty million links: time and memory.

It fills a store with a web whose in-degrees follow Zipf's law. Then it measures the process that a
crawl starts beside itself (`sanderling.jobs.rank`). Filling the store is not counted. It also
measures the search for pages that link to one URL.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.places import RESULTS, say

QUEUED_SHARE = 0.1
LIMIT_SECONDS, LIMIT_MIB = 60.0, 4096.0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.pagerank", description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=80, help="mean links a page")
    parser.add_argument("--skew", type=float, default=0.65, help="the k-th page is linked to in proportion to k**-skew")
    parser.add_argument("--orders", nargs="+", default=["pagerank", "backlinks", "opic", "pvalue"])
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="bench-pagerank-") as name:
        folder = Path(name)
        say(f"Filling a store with {options.pages:,} pages and {options.pages * options.links:,} links ...")
        best = fill(folder, options.pages, options.links, options.skew)
        runs = {order: measured(folder, order) for order in options.orders}
        looks = look_up(folder, best)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 2**20
    for order, run in runs.items():
        print(f"{order:14} {run['seconds']:6.1f} s   CPU {run['cpu']:6.1f} s   memory {run['mib']:6,.0f} MiB")
    for kind, seconds in looks.items():
        print(f"links to {kind:22} {seconds:6.2f} s")
    RESULTS.mkdir(exist_ok=True)
    report = {"pages": options.pages, "links": options.pages * options.links, "store_mib": round(size)}
    (RESULTS / "pagerank.json").write_text(json.dumps({**report, "orders": runs, "links_to": looks}, indent=2) + "\n")
    full = options.pages * options.links >= 80_000_000 and "pagerank" in runs
    return int(full and (runs["pagerank"]["seconds"] > LIMIT_SECONDS or runs["pagerank"]["mib"] > LIMIT_MIB))


def fill(folder: Path, pages: int, mean: int, skew: float) -> int:
    """Fills a store with visited pages and some queued URLs. Returns the id of the page with the
    most links to it."""
    import numpy as np

    from sanderling.model import Counts, Host
    from sanderling.repository.sqlite import SqliteStore
    from sanderling.urls import identity

    store = SqliteStore(folder / "sanderling.db")
    (folder / "sanderling.toml").touch()
    store.seed([], [], [Host(identity("http://zipf.test"), "http://zipf.test")], Counts())
    store.close()
    urls = [f"http://zipf.test/{n % 97}/page-{n}.html" for n in range(pages + int(pages * QUEUED_SHARE))]
    ids = np.fromiter(map(identity, urls), np.int64, len(urls))
    chance = np.random.default_rng(1)
    db = sqlite3.connect(folder / "sanderling.db", isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    rows = (
        (n + 1, id, url, min(n, 1) + n % 7, 3 if n < pages else 1, n + 1 if n < pages else 0)
        for n, (id, url) in enumerate(zip(ids.tolist(), urls, strict=True))
    )
    insert(db, "urls", ["number", "id", "url", "depth", "state", "page"], rows)

    def packed() -> Iterator[tuple[int, bytes]]:
        power = 1 / (1 - skew)
        for first in range(0, pages, 10_000):
            some = range(first, min(first + 10_000, pages))
            degree = chance.geometric(1 / mean, len(some))
            targets = ids[(len(ids) * chance.random(int(degree.sum())) ** power).astype(np.int64)]
            for page, links in zip(some, np.split(targets, np.cumsum(degree)[:-1]), strict=True):
                yield page + 1, links.tobytes()

    insert(db, "links", ["page", "targets"], packed())
    insert(db, "pages", ["number", "url", "fetched_at"], ((n, n, float(n)) for n in range(1, pages + 1)))
    db.execute("COMMIT")
    db.close()
    return int(ids[0])


def insert(db: sqlite3.Connection, table: str, columns: list[str], rows: Iterator[tuple[object, ...]]) -> None:
    """Inserts rows. Missing values are empty, 0 or numbered."""
    nothing = {"TEXT": "''", "BLOB": "x''"}
    about = db.execute(f"PRAGMA table_info({table})").fetchall()
    kinds = {name: kind for _, name, kind, _, _, key in about if name not in columns and not key}
    names = ", ".join([*columns, *kinds])
    values = ", ".join([*("?" for _ in columns), *(nothing.get(kind, "0") for kind in kinds.values())])
    db.executemany(f"INSERT INTO {table} ({names}) VALUES ({values})", rows)


def measured(folder: Path, order: str) -> dict[str, float]:
    """Runs the process once. Returns seconds, CPU seconds and peak memory."""
    command = [sys.executable, "-m", "sanderling.jobs.rank", str(folder), order, str(folder / "ranks")]
    begin = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the process ended with {process.returncode}")
    return {
        "seconds": round(time.perf_counter() - begin, 2),
        "cpu": round(usage.ru_utime + usage.ru_stime, 2),
        "mib": round(usage.ru_maxrss / 1024),
    }


def look_up(folder: Path, best: int) -> dict[str, float]:
    """Seconds to find the pages that link to the page with the most links and to a queued URL."""
    from sanderling.repository.sqlite import SqliteStore

    store = SqliteStore(folder / "sanderling.db", readonly=True)
    queued = next(fact.id for fact in store.url_facts() if fact.state == 1)
    found = {}
    for kind, id in (("the best known page", best), ("a queued URL", queued)):
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            store.linking(id)
            times.append(time.perf_counter() - begin)
        found[kind] = round(statistics.median(times), 3)
    store.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
