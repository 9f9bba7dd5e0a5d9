"""Revisits of a news site by several policies (experiment 5 of `sanderling lab watcher`).

The site is served over HTTP. On each day some of its pages change and some are added, the announcer
runs, and then each policy visits the site once with `sanderling refresh`. Before that, all pages
are visited on each of some days. So every policy begins with the same knowledge: by rank needs to
know how often pages change, and optimal how far the report can be trusted.
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

from lab.confidence import half_width, mean
from lab.news_site import NewsServer, NewsSite
from lab.served import run_sanderling
from sanderling.announcements import (
    MANIFEST,
    Manifest,
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
from sanderling.presenting.plot import plot, save_svg, table

CONNECTIONS = 5
_SETTINGS = ("--per-host", CONNECTIONS, "--delay", "0", "--clients", "1", "--no-sitemaps", "--no-index")
# All pages, and the reports; `--policy all` would not read these.
_NO_LIMIT = ("--budget", 10**6)
_EVERYTHING = ("uniform", *_NO_LIMIT)
# Articles of this site have a rank of 0.4 or, further down, 0.3 until they change. So the first
# threshold leaves out articles further down that have not changed yet, the second one all that have
# not changed, and the third one most.
THRESHOLDS = (0.35, 0.42, 0.5)
LEVELS = (2, 4, 6)
# A threshold with which more of the pages are visited makes a policy uniform.
_MOST_VISITED = 0.9
_BY_RANK, _TOP_LEVELS = "by rank", "top levels"
_REPORT, _LIES, _DYING = "report", "lies", "dying"
_SECONDS, _FOUND = "seconds of a revisit", "share of updated pages found"
# The announcer that dies does so after this share of the counted days.
DIES_AFTER = 0.4


class VisitOfDay(NamedTuple):
    visits: int
    seconds: float
    updates: int  # updated pages that were visited
    found: float  # their share of the updated pages, 0 to 1


Results = dict[str, list[VisitOfDay]]


def run(options: argparse.Namespace) -> int:
    with TemporaryDirectory(prefix="sanderling-lab-") as home:
        results = experiment(Path(home), options)
    if options.plot:
        save_svg(_curves(results), _SECONDS, _FOUND, options.plot)
    if options.json:
        sys.stdout.write(json.dumps({name: [day._asdict() for day in days] for name, days in results.items()}) + "\n")
        return 0
    sys.stdout.write(told(results) + "\n\n" + plot(_curves(results), _SECONDS, _FOUND) + "\n")
    return 0


def experiment(home: Path, options: argparse.Namespace) -> Results:
    """The visits of each policy on each day that counts."""
    root, last = home / "www", options.learning + options.days
    site = NewsSite(root, options.pages, options.daily, options.seed)
    with NewsServer(root, options.latency / 1000) as server:

        def morning(day: int) -> set[str]:
            """The pages that were updated, when the reports of the day are there."""
            updated = site.day(day)
            _announce(home, server, day)
            _lie(root / _LIES, server.url, day, site.pages, len(updated))
            if day <= options.learning + options.days * DIES_AFTER:
                _copy_report(root / _REPORT, root / _DYING)
            sys.stderr.write(f"sanderling: day {day} of {last}\n")
            return updated

        run_sanderling("crawl", server.url, "-d", home / "first", *_SETTINGS)
        _announce(home, server, 0)
        alone = History(home / "first", home / "alone", "--no-reports")
        told = History(home / "first", home / "told", "--report-at", f"{server.url}{_REPORT}/{MANIFEST}")
        for day in range(1, options.learning + 1):
            morning(day)
            alone.visit_all(day)
            told.visit_all(day)
        crawlers = _crawlers(alone, told, root, server.url, options)
        for day in range(options.learning + 1, last + 1):
            updated = morning(day)
            for crawler in crawlers:
                server.taken()
                crawler.visit(day)
                visited, seconds = server.taken()
                updates = len(visited & updated)
                crawler.days.append(VisitOfDay(len(visited), seconds, updates, updates / len(updated)))
    return {crawler.name: crawler.days for crawler in crawlers}


class History:
    """A crawl of which all pages are visited every day, with one report or none."""

    def __init__(self, first: Path, folder: Path, *reading: object) -> None:
        self.folder = copytree(first, folder, symlinks=True)
        self.reading = reading

    def visit_all(self, day: int) -> None:
        run_sanderling("refresh", self.folder, "--policy", *_EVERYTHING, *self.reading, later=day)


class Refreshed:
    """A crawl with a history that is refreshed by a policy once a day."""

    def __init__(self, name: str, history: History, *policy: object) -> None:
        self.name = name
        self.days: list[VisitOfDay] = []
        self._folder = copytree(history.folder, history.folder.parent / name, symlinks=True)
        self._arguments = ("--policy", *policy, *history.reading)

    def visit(self, day: int) -> None:
        run_sanderling("refresh", self._folder, *self._arguments, later=day)


class Bereaved(Refreshed):
    """A crawl that sees only what an announcer wrote that is dead."""

    def __init__(self, name: str, history: History, root: Path, *policy: object) -> None:
        super().__init__(name, history, *policy)
        self._root = root

    def visit(self, day: int) -> None:
        alive = (self._root / _REPORT).rename(self._root / ".alive")
        (self._root / _DYING).rename(self._root / _REPORT)
        super().visit(day)
        (self._root / _REPORT).rename(self._root / _DYING)
        alive.rename(self._root / _REPORT)


class PublishedWatcher:
    """The crawler of the published design: it fetches what the report names, best rank first."""

    name = "watcher, as published"

    def __init__(self, site: str) -> None:
        self.days: list[VisitOfDay] = []
        self._manifest = f"{site}{_REPORT}/{MANIFEST}"
        self._at = position(self._read())

    def visit(self, day: int) -> None:
        manifest = self._read()
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


def _crawlers(
    alone: History, told: History, root: Path, site: str, options: argparse.Namespace
) -> list[Refreshed | PublishedWatcher]:
    optimal = ("optimal", "--budget", max(1, round(options.budget * options.pages)))
    lies = ("--report-at", f"{site}{_LIES}/{MANIFEST}")
    return [
        Refreshed("uniform", alone, *_EVERYTHING),
        *(Refreshed(f"by rank, from {limit}", alone, "by-rank", "--threshold", limit, *_NO_LIMIT) for limit in options.thresholds),
        *(Refreshed(f"top levels, {levels}", alone, "top-levels", "--top-levels", levels, *_NO_LIMIT) for levels in options.levels),
        PublishedWatcher(site),
        Refreshed("optimal", alone, *optimal),
        Refreshed("optimal, report", told, *optimal),
        Refreshed("optimal, report that lies", History(alone.folder, alone.folder.parent / "lied", *lies), *optimal),
        Bereaved("optimal, announcer that dies", told, root, *optimal),
    ]  # fmt: skip


def _announce(home: Path, server: NewsServer, day: int) -> None:
    run_sanderling(
        "announce", home / "www", "--site", server.url, "--report", home / "www" / _REPORT, "--state", home / "announcer",
        "--once", "--map", f"{_LIES}/**=-", "--map", f"{_DYING}/**=-", later=day,
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


def _best(results: Results) -> str:
    """The threshold of by rank that finds the most, as in the published experiment; of equals, the
    fastest. One with which nearly all pages are visited does not count."""
    most = _MOST_VISITED * _visits(results["uniform"])
    ranked = [name for name in results if name.startswith(_BY_RANK)]
    limited = [name for name in ranked if _visits(results[name]) <= most] or ranked
    return max(limited, key=lambda name: (round(_found(results[name]), 3), -_seconds(results[name])))


def _visits(days: list[VisitOfDay]) -> float:
    return mean([day.visits for day in days])


def _found(days: list[VisitOfDay]) -> float:
    return mean([day.found for day in days])


def _seconds(days: list[VisitOfDay]) -> float:
    return mean([day.seconds for day in days])


def told(results: Results) -> str:
    best = _best(results)
    uniform, ranked = _seconds(results["uniform"]), _seconds(results[best])
    rows = []
    for name, days in results.items():
        seconds, found = _seconds(days), [day.found * 100 for day in days]
        faster = f"{uniform / seconds:.1f}x, {ranked / seconds:.1f}x" if seconds else ""
        updates = sum(day.updates for day in days)
        rows.append([
            f"{name} (best)" if name == best else name, f"{_visits(days):.0f}",
            f"{seconds:.2f} ± {half_width([day.seconds for day in days]):.2f}", faster,
            f"{mean(found):.1f} ± {half_width(found):.1f} %",
            f"{1000 * seconds * len(days) / updates:.0f} ms" if updates else "",
        ])  # fmt: skip
    header = [
        "policy",
        "visits a day",
        "seconds",
        "faster than uniform, by rank",
        "updated pages found",
        "time for each",
    ]
    return table(rows, header)


def _curves(results: Results) -> dict[str, list[tuple[float, float]]]:
    """Seconds and share found: a line for a policy with several limits, and a point for each
    other."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, days in results.items():
        kind = next((kind for kind in (_BY_RANK, _TOP_LEVELS) if name.startswith(kind)), name)
        curves.setdefault(kind, []).append((_seconds(days), _found(days)))
    return {kind: sorted(points) for kind, points in curves.items()}
