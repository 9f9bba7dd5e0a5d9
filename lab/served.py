"""Serves a synthetic site over HTTP and keeps it fresh with `sanderling refresh`, in accelerated
time."""

import json
import os
import subprocess
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from lab.keeping import Log, WebTruth, truth
from lab.simulation.replay import ReplayResult
from sanderling.errors import RunFailed
from sanderling.freshness.importance import importance
from sanderling.processes import entry_points
from sanderling.testing import DAY, ServedWeb, SyntheticWeb

# No sitemap, because its dates would announce every change. One client, because there is only one
# small host.
_SETTINGS = ("--per-host", "16", "--delay", "0", "--clients", "1", "--no-sitemaps", "--no-index")


class KeptSite:
    """A served site and its first crawl. Each run begins with a copy of that crawl."""

    def __init__(self, pages: int, seed: int, days: int, rounds: int) -> None:
        self.web = SyntheticWeb(pages=pages, seed=seed, appear=0.0, vanish=0.0)
        self._days, self._rounds = days, rounds

    def __enter__(self) -> "KeptSite":
        self._folder = TemporaryDirectory(prefix="sanderling-lab-")
        self._first = Path(self._folder.name) / "first"
        self._site: ServedWeb = self.web.serve()
        self._site.__enter__()
        self.truth: WebTruth = truth(self._site.direct, self._days)
        run_sanderling("crawl", self._site.url, "-d", self._first, *_SETTINGS)
        rows = {row["url"]: row for row in map(json.loads, run_sanderling("pages", self._first, "--json").splitlines())}
        self._weights = importance([rows[url]["importance"] for url in self.truth.urls], 0)
        return self

    def __exit__(self, *_: object) -> None:
        self._site.__exit__(None, None, None)
        self._folder.cleanup()

    def keep(self, policy: str, budget: float) -> ReplayResult:
        """Keeps the site fresh with a policy and a `budget` of visits a page a day.

        The policy `all` saves the budget until it is enough to visit all pages.
        """
        site, pages = self._site, len(self.truth.urls)
        folder = Path(self._folder.name) / f"{policy}-{budget:g}"
        copytree(self._first, folder, symlinks=True)
        number_of = {url: number for number, url in enumerate(self.truth.urls)}
        log = Log(self.truth, self._weights)
        saved = 0.0
        for number in range(1, self._rounds + 1):
            day = number * self._days / self._rounds
            saved += budget * pages * self._days / self._rounds
            if policy == "all" and saved < pages:
                continue
            site.clock.now = day * DAY
            site.requests.clear()
            amount = [] if policy == "all" else ["--budget", str(max(1, int(saved)))]
            summary = json.loads(
                run_sanderling("refresh", folder, "--no-reports", "--policy", policy, *amount, "--json", later=day)
            )
            saved -= sum(site.requests.values())
            visited = [number_of[url] for url in site.requests]
            log.round(visited, day, summary.get("freshness_before"), summary.get("freshness"))
        return log.result(policy, budget)


def run_sanderling(*arguments: object, later: float = 0.0) -> str:
    ran = subprocess.run(
        entry_points.command("command", *arguments), capture_output=True, text=True, check=False,
        env={**os.environ, "SANDERLING_AHEAD": str(later * DAY)},
    )  # fmt: skip
    if ran.returncode:
        raise RunFailed(f"`sanderling {arguments[0]}` failed: {ran.stderr.strip().rpartition(chr(10))[2]}")
    return ran.stdout
