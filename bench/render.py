"""What rendering a page costs: Sanderling, a bare loop over the DevTools protocol, Crawlee and
crawl4ai.

All render the same list of URLs with the same browser, and block the same kinds of files: a
generated application, and two applications of the npm registry (`bench/applications.py`). A revisit
of the unchanged application follows. Figures are CPU seconds of the whole process tree, browser
included.

`--static` compares `--render auto` with `never` on the static web of the race, and `--memory`
watches a long crawl.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.applications import documentation, interface
from bench.measure import Weight, measure
from bench.peers import HERE
from bench.places import CACHE, SANDERLING, BenchError, say
from bench.render_long import memory, static
from sanderling.browser.finding import find
from sanderling.testing import SyntheticWeb

PEERS = {"crawlee": "crawlee[playwright]==1.11.0", "crawl4ai": "crawl4ai==0.9.5"}
FLAGS = [
    "--render",
    "always",
    "--clients",
    "1",
    "--per-host",
    "2",
    "--render-tabs",
    "2",
    "--delay",
    "0",
    "--no-index",
    "--json",
]
NAMES = ("generated", "documentation", "interface")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=1000, help="routes of the generated application (1000)")
    parser.add_argument("--rounds", type=int, default=1, help="laps of each, in turns (1)")
    parser.add_argument("--only", nargs="+", default=list(NAMES), choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS, metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--browser", help="the program that all use (default: the one that Sanderling finds)")
    parser.add_argument("--static", action="store_true", help="`auto` against `never` on the static web of the race")
    parser.add_argument("--memory", action="store_true", help="the memory of a crawl of --pages pages, by its quarters")


def run(chosen: argparse.Namespace) -> int:
    browser = find(chosen.browser)
    if browser is None:
        raise BenchError("There is no browser: run `sanderling browser install`.")
    if chosen.static:
        return static(max(2, chosen.rounds), browser)
    if chosen.memory:
        with _generated(chosen.pages) as urls:
            return memory(urls, [*FLAGS, "--browser", str(browser)])
    for name in chosen.peers:
        _need(name)
    for name in chosen.only:
        rows: dict[str, list[tuple[int, Weight]]] = {}
        with (
            tempfile.TemporaryDirectory(prefix="bench-render-") as place,
            _application(name, chosen.pages, place) as urls,
        ):
            for number in range(chosen.rounds):
                _lap(urls, browser, chosen.peers, Path(place, str(number)), rows)
        _show(name, rows)
    return 0


@contextmanager
def _application(name: str, pages: int, place: str) -> Iterator[list[str]]:
    if name == "generated":
        with _generated(pages) as urls:
            yield urls
    else:
        with (documentation if name == "documentation" else interface)(Path(place)) as app:
            yield app.urls


@contextmanager
def _generated(pages: int) -> Iterator[list[str]]:
    web = SyntheticWeb(hosts=1, pages=pages, appear=0, vanish=0, change_rate=0)
    with web.serve(application=True) as site:
        yield sorted(site.direct.reachable(0))


def _lap(
    urls: list[str], browser: Path, peers: list[str], place: Path, rows: dict[str, list[tuple[int, Weight]]]
) -> None:
    place.mkdir()
    listed, folder = place / "urls", str(place / "crawl")
    listed.write_text("\n".join(urls))
    flags = [*FLAGS, "--browser", str(browser)]
    laps = {
        "sanderling": [str(SANDERLING), "crawl", "--seeds", str(listed), "-d", folder, "--max-depth", "0", *flags],
        "sanderling again": [str(SANDERLING), "crawl", "-d", folder, "--again", *flags],
        "bare loop": [sys.executable, str(HERE / "bare_browser.py"), str(browser), str(listed)],
    }
    for name in peers:
        laps[name] = [str(_python(name)), str(HERE / f"{name}_browser_peer.py"), str(browser), str(listed)]
    for title, command in laps.items():
        say(f"{title} ...")
        outcome = measure(command)
        pages = int(str(outcome.last_json()["pages"]))
        if pages < 0.98 * len(urls):
            say(f"{title}: {pages} of {len(urls)} pages only. {outcome.last_words}")
        rows.setdefault(title, []).append((pages, outcome.weight))


def _show(name: str, rows: dict[str, list[tuple[int, Weight]]]) -> None:
    best = {title: max(pages / weight.cpu for pages, weight in laps) for title, laps in rows.items()}
    print(f"{name}:")
    for title, laps in rows.items():
        pages, weight = max(laps, key=lambda lap: lap[0] / lap[1].cpu)
        ratio = best["sanderling"] / best[title]
        print(
            f"  {title:18} {pages:6,} pages  {weight.cpu:7.1f} CPU s  {best[title]:6.2f} pages/CPU s  "
            f"{weight.wall:6.1f} s  {weight.peak_mib:6,.0f} MiB   sanderling {ratio:.2f}x",
            flush=True,
        )


def _python(name: str) -> Path:
    return CACHE / f"render-{name}" / "bin" / "python"


def _need(name: str) -> None:
    """A peer has an environment of its own."""
    python = _python(name)
    if (
        python.exists()
        and not subprocess.run([python, "-c", f"import {name}, playwright"], capture_output=True).returncode
    ):
        return
    say(f"Installing {PEERS[name]} into an environment of its own (once) ...")
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(python.parent.parent)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEERS[name]], check=True)
    except subprocess.CalledProcessError as error:
        raise BenchError(f"{name} could not be installed: {error}") from error
