"""Rendering over a whole crawl: what `--render auto` costs a static web, and the memory of a long
crawl.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bench import web
from bench.measure import descendants, measure, proportional_kib
from bench.places import SANDERLING, say, working_folder

STATIC_PAGES = 4000


def static(rounds: int, browser: Path) -> int:
    """CPU seconds of crawls that may render and of crawls that never do, in turns."""
    spent: dict[str, list[float]] = {"never": [], "auto": []}
    with web.serve(0) as site:
        for number in range(rounds):
            for how in ("never", "auto") if number % 2 else ("auto", "never"):
                with tempfile.TemporaryDirectory(prefix="bench-static-", dir=working_folder()) as place:
                    say(f"--render {how} ...")
                    command = [
                        str(SANDERLING), "crawl", site.url, "-d", f"{place}/crawl", "--render", how, "--browser", str(browser),
                        "--max-pages", str(STATIC_PAGES), "--clients", "1", "--per-host", "16", "--delay", "0", "--no-index", "--json",
                    ]  # fmt: skip
                    spent[how].append(measure(command).weight.cpu)
    for how, each in spent.items():
        print(
            f"{how:6} {min(each):6.2f} CPU s at best, {statistics.median(each):6.2f} median: {[round(s, 2) for s in each]}"
        )
    print(f"auto has {min(spent['never']) / min(spent['auto']):.3f}x the pages per CPU second of never")
    return 0


def memory(urls: list[str], flags: list[str]) -> int:
    """The largest memory of the process tree in each quarter of a crawl."""
    samples = []
    with tempfile.TemporaryDirectory(prefix="bench-memory-") as place:
        listed = Path(place, "urls")
        listed.write_text("\n".join(urls))
        command = [str(SANDERLING), "crawl", "--seeds", str(listed), "-d", f"{place}/crawl", "--max-depth", "0", *flags]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as crawl:
            while crawl.poll() is None:
                samples.append(sum(map(proportional_kib, [crawl.pid, *descendants(crawl.pid)])) / 1024)
                time.sleep(1)
    quarter = max(1, len(samples) // 4)
    parts = [samples[start : start + quarter] for start in range(0, 4 * quarter, quarter)]
    for number, part in enumerate(parts, 1):
        print(f"quarter {number}: {statistics.median(part):6,.0f} MiB median, {max(part):6,.0f} MiB at most")
    print(
        f"{len(urls):,} pages; the last quarter has {statistics.median(parts[3]) / statistics.median(parts[1]):.2f}x the memory of the second"
    )
    return 0
