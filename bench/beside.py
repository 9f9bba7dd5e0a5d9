"""Measures how much a crawl slows down while the search index is updated beside it.

One crawl fetches the pages of the race, at many addresses, as fast as this machine can. The process
that updates the index is paused and resumed in the order off, on, on, off, so that other load on
the machine affects both cases. While it is paused it saves some of its allowed CPU time and uses it
later. So it takes more CPU time here than usual.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench import web
from bench.measure import TICK, descendants
from bench.places import RESULTS, SANDERLING, BenchError, say, working_folder

if TYPE_CHECKING:
    from sanderling.repository.store import Store

ADDRESSES = 20
WARM_UP = 10.0
FLAGS = ["--clients", "2", "--per-host", "32", "--delay", "0", "--ignore-robots", "--allow-private", "--no-index"]
ORDER = (False, True, True, False)


class Turn(NamedTuple):
    on: bool
    seconds: float
    pages: int
    crawl_cpu: float
    indexer_cpu: float

    @property
    def rate(self) -> float:
        return self.pages / self.seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=4, help="of four turns each (4)")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long a turn is (6)")
    parser.add_argument("--on", default=working_folder(), metavar="DIR", help="where the crawl is written (memory)")


def run(chosen: argparse.Namespace) -> int:
    with (
        web.serve(addresses=ADDRESSES) as site,
        tempfile.TemporaryDirectory(prefix="bench-beside-", dir=chosen.on) as name,
    ):
        folder = Path(name, "crawl")
        command = [str(SANDERLING), "crawl", *site.urls, "-d", str(folder), *FLAGS]
        crawl = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            turns = _watched(folder, crawl, chosen.rounds, chosen.seconds)
        finally:
            crawl.terminate()
            crawl.wait()
    off, on = ([turn for turn in turns if turn.on is which] for which in (False, True))
    kept = [statistics.mean(t.rate for t in some if t.on) / statistics.mean(t.rate for t in some if not t.on)
            for some in (turns[start : start + 4] for start in range(0, len(turns), 4))]  # fmt: skip
    share = sum(turn.indexer_cpu for turn in on) / sum(turn.seconds for turn in on)
    cost = [sum(turn.crawl_cpu for turn in some) / sum(turn.pages for turn in some) * 1e6 for some in (off, on)]
    say(
        f"with {share:.0%} of a core for the index, the crawl keeps {statistics.median(kept):.1%} of its pages a second"
    )
    say(
        f"  (by round: {', '.join(f'{each:.1%}' for each in kept)}); {cost[0]:,.0f} and {cost[1]:,.0f} us of CPU time a page"
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "beside.json").write_text(json.dumps({"turns": turns, "kept": kept, "share": share}, indent=2))
    return 0


def _watched(folder: Path, crawl: subprocess.Popen[bytes], rounds: int, seconds: float) -> list[Turn]:
    from sanderling.repository.folder import Folder
    from sanderling.repository.opening import open_store

    time.sleep(WARM_UP)
    turns = []
    with closing(open_store(Folder(folder), readonly=True)) as store:
        command = [sys.executable, "-m", "sanderling.jobs.index", str(folder)]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as indexer:
            time.sleep(WARM_UP)
            try:
                for on in ORDER * rounds:
                    indexer.send_signal(signal.SIGCONT if on else signal.SIGSTOP)
                    turns.append(_turn(on, store, crawl.pid, indexer.pid, seconds))
                    say(f"index {'on ' if on else 'off'} {turns[-1].rate:8,.0f} pages/s")
            finally:
                indexer.send_signal(signal.SIGCONT)
                indexer.communicate()  # closes its input
    if crawl.poll() is not None:
        raise BenchError("The crawl ended too early: there is nothing to compare.")
    return turns


def _turn(on: bool, store: Store, crawl: int, indexer: int, seconds: float) -> Turn:
    at, pages, spent = time.monotonic(), store.counts().fetched, _cpu(crawl)
    index = sum(_cpu(indexer).values())
    time.sleep(seconds)
    later, index = _cpu(crawl), sum(_cpu(indexer).values()) - index
    cpu = sum(later[pid] - before for pid, before in spent.items() if pid in later)
    return Turn(on, time.monotonic() - at, store.counts().fetched - pages, cpu, index)


def _cpu(process: int) -> dict[int, float]:
    """CPU seconds of a process and its children."""
    own = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    stats = {process: own, **descendants(process)}
    return {pid: (int(stat[11]) + int(stat[12])) / TICK for pid, stat in stats.items()}
