"""What an announcer costs the machine of a site (experiment 3 of `sanderling lab watcher`).

A site of some pages lies on the disk. The announcer scans it, is ended and started again, is left
alone, and is then told of changes. Sites were seen to change by 2 to 11.5 % of their pages a day;
the cost is stated for the highest.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sanderling.errors import RunFailed
from sanderling.processes import entry_points
from sanderling_announce.announcer import SITEMAP_TIMES
from sanderling_announce.folder import SCAN_WITH_EVENTS

SITE = "https://bench.example/"
DAILY = 0.115  # the highest share of pages that changed in a day
PUBLISHED = {10_000: 0.84, 100_000: 2.37, 1_000_000: 3.45}  # percent of a core
A_FOLDER = 100
# The small package, as it is started where nothing else is installed.
SMALL = [sys.executable, "-m", "sanderling_announce"]


def run(options: argparse.Namespace) -> int:
    sys.stdout.write(
        "| pages | first scan | its CPU | resumed scan CPU | idle | CPU a change | at 11.5 % a day | published | memory |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
    )
    for pages in options.sizes:
        with tempfile.TemporaryDirectory(prefix="sanderling-lab-", dir=options.on) as home:
            sys.stdout.write(row(Path(home), pages, options.seconds, options.small) + "\n")
            sys.stdout.flush()
    return 0


def row(home: Path, pages: int, seconds: int, small: bool) -> str:
    root = home / "www"
    make_site(root, pages)
    start = time.monotonic()
    first = Announced(home, small)
    first.wait_for_manifest()
    scan, scan_cpu = time.monotonic() - start, first.cpu()
    first.end()
    again = Announced(home, small)
    again.wait_for_manifest(again.started)
    again.rest()
    resumed = again.cpu()
    before = again.cpu()
    time.sleep(seconds)
    idle = (again.cpu() - before) / seconds
    # One a second, so that each is published by itself: the most expensive way. The first ones load
    # libraries.
    chance = random.Random(1)
    for number in range(-3, seconds):
        if number == 0:
            before = again.cpu()
        (root / path_of(chance.randrange(pages))).write_text(f"<p>changed {number}")
        time.sleep(1)
    change = (again.cpu() - before) / seconds - idle
    memory = again.memory()
    again.end()
    a_second = pages * DAILY / 86400
    daily = idle + a_second * max(change, 0.0) + upkeep(scan_cpu, resumed)
    shutil.rmtree(root)
    return (
        f"| {pages:,} | {scan:.1f} s | {scan_cpu:.1f} s | {resumed:.1f} s | {idle:.4%} | {change * 1000:.2f} ms | {daily:.3%} "
        f"| {PUBLISHED.get(pages, 0):.2f}% | {memory / 1024**2:.0f} MiB |"
    )


def upkeep(scan: float, resumed: float) -> float:
    """The share of a core for what is repeated: scans as fall-back, and the sitemap. Both are paced
    by what they cost."""
    least, times = SCAN_WITH_EVENTS
    return resumed / max(least, times * resumed) + 1 / SITEMAP_TIMES


def path_of(number: int) -> str:
    return f"{number // A_FOLDER // 100}/{number // A_FOLDER % 100}/page-{number}.html"


def make_site(root: Path, pages: int) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    for number in range(pages):
        path = root / path_of(number)
        if number % A_FOLDER == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<title>{number}</title><p>{number} {words}")
    (root / "index.html").write_text('<a href="/0/0/page-0.html">first</a>')
    time.sleep(1.5)  # what was written this moment is waited for


class Announced:
    """A running announcer."""

    def __init__(self, home: Path, small: bool) -> None:
        self.manifest = home / "www/.well-known/sanderling/manifest.jsonl"
        self.started = time.time()
        self._log = (home / "log").open("ab")
        options = (home / "www", "--site", SITE, "--state", home / "state")
        self._process = subprocess.Popen(
            [*(SMALL if small else entry_points.command("command", "announce")), *map(str, options)],
            stderr=self._log,
        )

    def wait_for_manifest(self, after: float = 0.0) -> None:
        while not self.manifest.exists() or self.manifest.stat().st_mtime < after:
            if self._process.poll() is not None:
                raise RunFailed("the announcer ended")
            time.sleep(0.1)

    def cpu(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def rest(self) -> None:
        """Waits until it does nothing for a while."""
        before = -1.0
        while before != self.cpu():
            before = self.cpu()
            time.sleep(5)

    def memory(self) -> int:
        """The peak of the resident set, in bytes."""
        for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
        return 0

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._log.close()
