"""Measures the pages of the dashboard and the API on a large folder: a million URLs, a hundred
thousand versions.

The folder is made without a network (`bench.large_folder`). Then every page and every path of the
API is requested, one after the other, each time with another page, host or part of a list. The
server is a process of its own. On a busy machine, use its CPU time: the wall time includes the load
of others.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import large_folder
from bench.places import RESULTS, working_folder

ROUNDS = 40
BAR_MS = 50.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--urls", type=int, default=large_folder.URLS, help=f"how many ({large_folder.URLS:,})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"requests of each kind ({ROUNDS})")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the folder here, or use the one that is here")
    parser.add_argument("--postgres", action="store_true", help="the state in PostgreSQL instead of SQLite")
    parser.add_argument("--search", action="store_true", help="index the texts, too: minutes")


def run(chosen: argparse.Namespace) -> int:
    from sanderling.testing.postgres import PostgresServer

    with (
        tempfile.TemporaryDirectory(prefix="bench-dashboard-", dir=working_folder()) as temporary,
        contextlib.ExitStack() as undo,
    ):
        home = chosen.keep or Path(temporary)
        dsn = undo.enter_context(PostgresServer()).dsn if chosen.postgres else ""
        if not (home / "large").exists():
            large_folder.make(home / "large", chosen.urls, dsn)
        if chosen.search:
            subprocess.run([sys.executable, "-m", "sanderling", "reindex", str(home / "large")], check=True)
        figures = measure(home, chosen.rounds, chosen.search)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "dashboard.json").write_text(json.dumps(figures, indent=2) + "\n")
    return 0 if all(each["p95_ms"] < BAR_MS for each in figures) else 1


@contextmanager
def served(home: Path) -> Iterator[tuple[str, int]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "sanderling", "serve", str(home), "--port", "0", "--archive-port", "0"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    found = re.search(r"http://[^/ ]+", process.stdout.readline())
    try:
        assert found
        yield found[0], process.pid
    finally:
        process.terminate()
        process.wait()


def asked(
    chance: random.Random, items: list[dict[str, object]], newest: int, urls: int, search: bool
) -> dict[str, str]:
    """One URL of every kind."""
    page = chance.choice(items)["id"]
    often = items[0]["id"]  # the one with 200 versions
    after, before, host = (
        chance.randrange(urls),
        chance.randrange(2, newest),
        f"http://host{chance.randrange(large_folder.HOSTS)}.test",
    )
    ui, api = "/crawls/large", "/api/v1/crawls/large"
    paths = {
        "page: all crawls": "/", "page: crawl": ui, "page: live": f"{ui}/live", "page: pages": f"{ui}/pages?after={after}",
        "page: pages, failed": f"{ui}/pages?state=failed", "page: pages, gone": f"{ui}/pages?state=gone&after={after}",
        "page: pages, excluded": f"{ui}/pages?state=excluded&after={after}", "page: pages of a host": f"{ui}/pages?host={host}",
        "page: one page": f"{ui}/pages/{page}", "page: 200 versions": f"{ui}/pages/{often}",
        "page: diff": f"{ui}/pages/{often}/diff", "page: paragraphs": f"{ui}/pages/{often}/paragraphs",
        "page: links": f"{ui}/pages/{page}/links", "page: links in": f"{ui}/pages/{page}/links?incoming=0",
        "page: changes": f"{ui}/changes", "page: changes of a kind": f"{ui}/changes?kind=text&before={before}",
        "page: changes of a host": f"{ui}/changes?host={host}", "page: hosts": f"{ui}/hosts", "page: forms": f"{ui}/forms", "page: feed": f"{ui}/changes.atom",
        "api: crawls": "/api/v1/crawls", "api: crawl": api, "api: pages": f"{api}/pages?after={after}&limit=100",
        "api: 500 pages": f"{api}/pages?after={after}&limit=500", "api: pages, failed": f"{api}/pages?state=failed&after={after}",
        "api: pages, excluded": f"{api}/pages?state=excluded&after={after}", "api: pages of a host": f"{api}/pages?host={host}&after={after}",
        "api: pages by prefix": f"{api}/pages?prefix={host}/section-7/", "api: one page": f"{api}/pages/{page}",
        "api: versions": f"{api}/pages/{often}/versions", "api: links out": f"{api}/pages/{page}/links/out",
        "api: links in": f"{api}/pages/{page}/links/in", "api: blame": f"{api}/pages/{page}/blame",
        "api: diff": f"{api}/pages/{often}/diff", "api: version": f"{api}/versions/{before}",
        "api: changes": f"{api}/changes?after={before}", "api: changes, text": f"{api}/changes?kind=text",
        "api: changes, none": f"{api}/changes?kind=image&after={before}", "api: hosts": f"{api}/hosts", "api: settings": f"{api}/settings",
        "api: feed": f"{api}/feed.atom", "metrics": "/metrics",
    }  # fmt: skip
    if search:
        paths |= {
            "page: search": f"{ui}/search?q=sandpipers+{before}",
            "api: search": f"{api}/search?q=paragraph+{before}",
        }
    return paths


def cpu_ms(pid: int) -> float:
    """CPU time of all threads of a process."""
    spent = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it ended
            spent += int((task / "schedstat").read_text().split()[0])
    return spent / 1e6


def measure(home: Path, rounds: int, search: bool) -> list[dict[str, object]]:
    import httpx

    chance = random.Random(2)
    times: dict[str, list[float]] = {}
    work: dict[str, list[float]] = {}
    with served(home) as (address, pid), httpx.Client(base_url=address, timeout=60) as http:
        items = http.get("/api/v1/crawls/large/pages?state=fetched&limit=500").json()["items"]
        newest = http.get("/api/v1/crawls/large/changes?limit=1").json()["items"][0]["number"]
        urls = http.get("/api/v1/crawls/large").json()["counts"]["known"]
        for _ in range(rounds):
            for name, path in asked(chance, items, newest, urls, search).items():
                spent, begin = cpu_ms(pid), time.perf_counter()
                answer = http.get(path, headers={"accept": "text/html"})
                times.setdefault(name, []).append((time.perf_counter() - begin) * 1000)
                work.setdefault(name, []).append(cpu_ms(pid) - spent)
                assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"
    figures: list[dict[str, object]] = []
    print(f"{'what':28} {'median ms':>10} {'p95 ms':>10} {'worst ms':>10} {'CPU ms':>10} {'p95':>8}")
    for name, found in times.items():
        (middle, p95, worst), (cpu, cpu_95, _) = _spread(found), _spread(work[name])
        figures.append(
            {"what": name, "median_ms": middle, "p95_ms": p95, "worst_ms": worst, "cpu_ms": cpu, "cpu_p95_ms": cpu_95}
        )
        print(f"{name:28} {middle:10.1f} {p95:10.1f} {worst:10.1f} {cpu:10.1f} {cpu_95:8.1f}{'  *' * (p95 >= BAR_MS)}")
    return figures


def _spread(found: list[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(found)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], ordered[-1]
