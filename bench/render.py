"""What rendering a page costs: Sanderling, a bare loop over the DevTools protocol, and Crawlee's PlaywrightCrawler.

All render the same single-page application with the same browser and block the same files. A revisit of the unchanged
application follows. Figures are CPU seconds of the whole process tree, browser included.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import Weight, measure
from bench.peers import HERE
from bench.places import CACHE, SANDERLING, BenchError, say
from sanderling.browser.finding import find
from sanderling.testing import SyntheticWeb

ENVIRONMENT = CACHE / "render-peers"
FLAGS = ["--render", "always", "--clients", "1", "--per-host", "2", "--delay", "0", "--no-index", "--json"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=100, help="routes of the application (100)")
    parser.add_argument("--rounds", type=int, default=1, help="laps of each, in turns (1)")
    parser.add_argument("--without-crawlee", action="store_true", help="do not install or run Crawlee")


def run(chosen: argparse.Namespace) -> int:
    browser = find(None)
    if browser is None:
        raise BenchError("There is no browser: run `sanderling browser install`.")
    if not chosen.without_crawlee:
        _need_crawlee()
    rows: dict[str, list[tuple[int, Weight]]] = {}
    for _ in range(chosen.rounds):
        web = SyntheticWeb(hosts=1, pages=chosen.pages, appear=0, vanish=0, change_rate=0)
        with web.serve(application=True) as site, tempfile.TemporaryDirectory(prefix="bench-render-") as name:
            urls = Path(name, "urls")
            urls.write_text("\n".join(sorted(site.direct.reachable(0))))
            folder = str(Path(name, "crawl"))
            laps = {
                "sanderling": [str(SANDERLING), "crawl", site.url, "-d", folder, *FLAGS],
                "sanderling again": [str(SANDERLING), "crawl", "-d", folder, "--again", *FLAGS],
                "bare loop": [sys.executable, str(HERE / "bare_browser.py"), str(browser), str(urls)],
            }
            if not chosen.without_crawlee:
                python = str(ENVIRONMENT / "bin" / "python")
                laps["crawlee"] = [python, str(HERE / "crawlee_browser_peer.py"), site.url, str(browser)]
            for title, command in laps.items():
                say(f"{title} ...")
                outcome = measure(command)
                pages = int(str(outcome.last_json()["pages"]))
                rows.setdefault(title, []).append((pages, outcome.weight))
    _show(rows)
    return 0


def _show(rows: dict[str, list[tuple[int, Weight]]]) -> None:
    best = {title: max(pages / weight.cpu for pages, weight in laps) for title, laps in rows.items()}
    for title, laps in rows.items():
        pages, weight = max(laps, key=lambda lap: lap[0] / lap[1].cpu)
        ratio = best["sanderling"] / best[title]
        print(
            f"{title:18} {pages:6,} pages  {weight.cpu:7.1f} CPU s  {best[title]:6.2f} pages/CPU s  "
            f"{weight.wall:6.1f} s  {weight.peak_mib:6,.0f} MiB   sanderling {ratio:.2f}x"
        )


def _need_crawlee() -> None:
    """Crawlee with Playwright has an environment of its own."""
    python = ENVIRONMENT / "bin" / "python"
    if python.exists() and subprocess.run([python, "-c", "import crawlee, playwright"], check=False).returncode == 0:
        return
    say("Installing Crawlee with Playwright into an environment of its own (once) ...")
    pinned = (HERE / "requirements.txt").read_text().splitlines()
    wanted = next(line for line in pinned if line.startswith("crawlee"))
    version = wanted.partition("==")[2]
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"crawlee[playwright]=={version}"], check=True)
    except subprocess.CalledProcessError as error:
        raise BenchError(f"Crawlee could not be installed: {error}") from error
