"""Revisits of a news site by several policies (experiment 5 of `sanderling lab watcher`).

The site is served over HTTP. On each day some of its pages change and some are added, the announcer
runs, and then each policy visits the site once with `sanderling refresh`.
"""

import argparse
import json
import random
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sanderling.announcements import (
    MANIFEST,
    Manifest,
    Position,
    ReportedChange,
    chain,
    file_of_report,
    read_delta,
    read_manifest,
    write_delta,
    write_manifest,
)
from sanderling.announcements.manifest import position
from sanderling.clock import DAY
from sanderling.lab.confidence import half_width, mean
from sanderling.lab.news_site import NewsServer, NewsSite
from sanderling.lab.served import run_sanderling
from sanderling.presenting.plot import plot, save_svg, table

CONNECTIONS = 5
_SETTINGS = ("--per-host", CONNECTIONS, "--delay", "0", "--clients", "1", "--no-sitemaps", "--no-index")
THRESHOLDS = (0.2, 0.3, 0.45)
LEVELS = (1, 2, 3)
# The announcer that dies does so after this share of the counted days.
DIES_AFTER = 0.4


class VisitOfDay(NamedTuple):
    visits: int
    seconds: float
    found: float  # of the updated pages, 0 to 1


Results = dict[str, list[VisitOfDay]]


def run(options: argparse.Namespace) -> int:
    with TemporaryDirectory(prefix="sanderling-lab-") as home:
        results = experiment(Path(home), options)
    if options.plot:
        save_svg(_series(results), "day", "share of updated pages found", options.plot)
    if options.json:
        sys.stdout.write(json.dumps({name: [day._asdict() for day in days] for name, days in results.items()}) + "\n")
        return 0
    chosen = {name: days for name, days in results.items() if name in _best(results)}
    sys.stdout.write(told(chosen) + "\n\n" + plot(_series(chosen), "day", "share of updated pages found") + "\n")
    return 0


def experiment(home: Path, options: argparse.Namespace) -> Results:
    """The visits of each policy on each day that counts."""
    root = home / "www"
    site = NewsSite(root, options.pages, options.daily, options.seed)
    with NewsServer(root, options.latency / 1000) as server:
        crawlers = _crawlers(home, server, options)
        run_sanderling("crawl", server.url, "-d", home / "first", *_SETTINGS)
        _announce(home, server, 0)
        for crawler in crawlers:
            crawler.begin(home / "first")
        for day in range(1, options.learning + options.days + 1):
            updated = site.day(day)
            _announce(home, server, day)
            _lie(root / "lies", server.url, day, site.pages, len(updated))
            if day <= options.learning + options.days * DIES_AFTER:
                _copy_report(root / "report", root / "dying")
            for crawler in crawlers:
                server.taken()
                crawler.visit(day)
                visited, seconds = server.taken()
                if day > options.learning:
                    crawler.days.append(VisitOfDay(len(visited), seconds, len(visited & updated) / len(updated)))
            sys.stderr.write(f"sanderling: day {day} of {options.learning + options.days}\n")
    return {crawler.name: crawler.days for crawler in crawlers}


class Refreshed:
    """A crawl that is refreshed by a policy once a day."""

    def __init__(self, name: str, folder: Path, *arguments: object) -> None:
        self.name = name
        self.days: list[VisitOfDay] = []
        self._folder = folder
        self._arguments = arguments

    def begin(self, first: Path) -> None:
        copytree(first, self._folder, symlinks=True)

    def visit(self, day: int) -> None:
        run_sanderling("refresh", self._folder, *self._arguments, later=day)


class PublishedWatcher:
    """The crawler of the published design: it fetches what the report names, best rank first."""

    name = "watcher, as published"

    def __init__(self, server: NewsServer) -> None:
        self.days: list[VisitOfDay] = []
        self._manifest = f"{server.url}report/{MANIFEST}"
        self._at: Position | None = None

    def begin(self, first: Path) -> None:
        self._at = position(self._read())

    def visit(self, day: int) -> None:
        manifest = self._read()
        assert self._at is not None
        steps = chain(manifest.deltas, self._at.cursor, manifest.cursor) or ()
        files = [(step, _get(file_of_report(self._manifest, step.name))) for step in steps]
        named = [
            each.url
            for step, file in files
            for each in read_delta(step, file, manifest.site, self._at.cursor)
            if each.what != "gone"
        ]
        self._at = position(manifest)
        with ThreadPoolExecutor(CONNECTIONS) as threads:
            list(threads.map(_get, named))

    def _read(self) -> Manifest:
        return read_manifest(_get(self._manifest), self._manifest, now=time.time() + 1000 * DAY).manifest


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        found: bytes = answer.read()
    return found


def _crawlers(home: Path, server: NewsServer, options: argparse.Namespace) -> list[Refreshed | PublishedWatcher]:
    budget = ("--policy", "optimal", "--budget", max(1, round(options.budget * options.pages)))
    alone = "--no-reports"

    def reported(name: str) -> tuple[object, ...]:
        return (*budget, "--report-at", f"{server.url}{name}/{MANIFEST}")

    return [
        Refreshed("uniform", home / "uniform", "--policy", "all", alone),
        *(
            Refreshed(f"by rank, above {limit}", home / f"rank-{limit}", "--policy", "by-rank", "--threshold", limit, "--budget", 10**6, alone)
            for limit in options.thresholds
        ),
        *(
            Refreshed(f"top {levels} levels", home / f"top-{levels}", "--policy", "top-levels", "--top-levels", levels, "--budget", 10**6, alone)
            for levels in options.levels
        ),
        PublishedWatcher(server),
        Refreshed("optimal", home / "optimal", *budget, alone),
        Refreshed("optimal, report", home / "reported", *reported("report")),
        Refreshed("optimal, report that lies", home / "lied", *reported("lies")),
        Refreshed("optimal, announcer that dies", home / "dying", *reported("dying")),
    ]  # fmt: skip


def _announce(home: Path, server: NewsServer, day: int) -> None:
    run_sanderling(
        "announce", home / "www", "--site", server.url, "--report", home / "www" / "report", "--state", home / "announcer",
        "--once", "--map", "lies/**=-", "--map", "dying/**=-", later=day,
    )  # fmt: skip


def _copy_report(report: Path, to: Path) -> None:
    rmtree(to, ignore_errors=True)
    copytree(report, to)


def _lie(folder: Path, site: str, day: int, pages: list[str], count: int) -> None:
    """A report that names as many pages as changed, but other ones, and says that it names all."""
    folder.mkdir(exist_ok=True)
    now = time.time() + day * DAY
    named = random.Random(day).sample(pages, min(count, len(pages)))
    delta, content = write_delta(day - 1, day, [ReportedChange(site + path, "changed", now, day) for path in named])
    (folder / delta.name).write_bytes(content)
    deltas = (delta,)
    manifest = Manifest("sanderling-announcement-1", site, "lies", day, now, now, True, len(pages), deltas=deltas)
    (folder / MANIFEST).write_bytes(write_manifest(manifest, bytes(32)))


def _best(results: Results) -> set[str]:
    """All but the thresholds and levels that found less than others of their kind; of equals, the
    fastest counts."""
    names = set(results)
    for kind in ("by rank", "top "):
        same = [name for name in results if name.startswith(kind)]
        best = max(same, key=lambda name: (round(_found(results[name]), 3), -_seconds(results[name])))
        names -= set(same) - {best}
    return names


def _found(days: list[VisitOfDay]) -> float:
    return mean([day.found for day in days])


def _seconds(days: list[VisitOfDay]) -> float:
    return mean([day.seconds for day in days])


def told(results: Results) -> str:
    uniform = _seconds(results["uniform"])
    ranked = next(_seconds(days) for name, days in results.items() if name.startswith("by rank"))
    rows = []
    for name, days in results.items():
        seconds, found = _seconds(days), [day.found * 100 for day in days]
        faster = f"{uniform / seconds:.1f}x, {ranked / seconds:.1f}x" if seconds else ""
        rows.append([
            name, f"{mean([day.visits for day in days]):.0f}", f"{seconds:.2f} ± {half_width([day.seconds for day in days]):.2f}", faster,
            f"{mean(found):.1f} ± {half_width(found):.1f} %",
        ])  # fmt: skip
    return table(rows, ["policy", "visits a day", "seconds", "faster than uniform, by rank", "updated pages found"])


def _series(results: Results) -> dict[str, list[tuple[float, float]]]:
    return {name: [(float(number), day.found) for number, day in enumerate(days, 1)] for name, days in results.items()}
