"""The race: Sanderling and other crawlers on the same web, one after the other, in one table."""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from pathlib import Path

from bench import peers, web
from bench.measure import Outcome, measure
from bench.peers import Peer
from bench.places import RESULTS, SANDERLING, BenchError, say
from bench.standings import Lap, ratio_table, ratios, table
from bench.truth import Truth, check, crawled_pages, truth


def sanderling(clients: int) -> Peer:
    def command(url: str, folder: Path, limit: int) -> list[str]:
        crawl = [str(SANDERLING), "crawl", url, "-d", str(folder), "--clients", str(clients), "--json"]
        manners = ["--per-host", str(peers.CONNECTIONS), "--delay", "0", "--ignore-robots", "--allow-private"]
        # No other crawler makes a search index. Ours would be made in a process of its own, with
        # idle CPU time.
        return [*crawl, *manners, "--no-index"]

    def pages(outcome: Outcome, folder: Path) -> int:
        return sum(1 for url in crawled_pages(folder) if url.endswith((".html", "/")))

    return Peer(f"sanderling {clients}", command, pages, ours=True)


def race(rounds: int, quick: int, only: list[str], on: str | None) -> int:
    contestants = _contestants(only)
    laps: list[Lap] = []
    wrong: list[str] = []
    with web.serve() as site:
        expected = truth(site.root)
        say(f"{len(expected.html)} HTML pages of {len(expected.pages)} files at {site.url}")
        for turn in range(1, rounds + 1):
            for peer in contestants:
                lap, complaint = _run(peer, turn, site, expected, quick, on)
                say(str(lap))
                laps.append(lap)
                if complaint:
                    wrong.append(f"round {turn}, {peer.name}: {complaint}")
                _save(laps, expected, quick, wrong)
    print(table(laps))
    print(ratio_table(laps))
    for complaint in wrong:
        print(f"WRONG PAGES in {complaint}")
    return 1 if wrong else 0


def _contestants(only: list[str]) -> list[Peer]:
    everyone = [sanderling(1), sanderling(2), *peers.peers()]
    chosen = [peer for peer in everyone if not only or any(peer.name.startswith(name) for name in only)]
    if not chosen:
        names = ", ".join(peer.name for peer in everyone)
        raise BenchError(f"Nobody in the race has such a name; there are: {names}.")
    return chosen


def _run(peer: Peer, turn: int, site: web.Web, expected: Truth, quick: int, on: str | None) -> tuple[Lap, str]:
    """Runs one lap. For Sanderling, also returns what is wrong with the pages it found."""
    with tempfile.TemporaryDirectory(prefix="bench-race-", dir=on) as name:
        folder = Path(name)
        before, nginx = site.requests(), site.cpu()
        outcome = measure(peer.command(site.url, folder, quick))
        # The first reading is a request too.
        requests = site.requests() - before - 1
        nginx = site.cpu() - nginx
        weight = outcome.weight
        if weight.exit_code not in peer.accepted_exits:
            raise BenchError(f"{peer.name} ended with {weight.exit_code}: {outcome.last_words}")
        pages = peer.pages(outcome, folder)
        capacity = weight.wall * (os.cpu_count() or 1)
        others = (weight.machine_cpu - weight.cpu - nginx) / capacity
        lap = Lap(
            round=turn,
            name=peer.name,
            ours=peer.ours,
            pages=pages,
            requests=requests,
            wall=weight.wall,
            cpu=weight.cpu,
            peak_mib=weight.peak_mib,
            disturbance=max(0.0, others),
        )
        if not peer.ours:
            return lap, ""
        difference = check(expected.urls(site), folder)
        return lap, str(difference) if difference else ""


def _save(laps: list[Lap], expected: Truth, quick: int, wrong: list[str]) -> None:
    RESULTS.mkdir(exist_ok=True)
    report = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "kernel": platform.release(),
        },
        "web": {"html": len(expected.html), "pages": len(expected.pages), "packages": web.versions()},
        "quick": quick,
        "wrong": wrong,
        "ratios": ratios(laps),
        "laps": [lap.row() for lap in laps],
    }
    (RESULTS / "race.json").write_text(json.dumps(report, indent=2) + "\n")
