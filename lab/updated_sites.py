"""The share of pages updated on a day, counted by the announcer (experiment 1 of `sanderling lab
watcher`).

Each of seven sites is made with as many pages as published, and on each of seven days as many of
them change as published. The announcer runs at the end of every day. What it counts is compared
with what was published.
"""

import argparse
import os
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.served import run_sanderling
from lab.updated import PUBLISHED, Updated, told, updated
from sanderling.clock import DAY


def run(options: argparse.Namespace) -> int:
    found = []
    for name, (pages, days) in PUBLISHED.items():
        with TemporaryDirectory(prefix="sanderling-lab-", dir=options.on) as home:
            found.append(counted(Path(home), name, pages, days, options.seed))
        sys.stderr.write(f"sanderling: {name}\n")
    sys.stdout.write(told(found) + "\n")
    return 0


def counted(home: Path, name: str, pages: int, days: tuple[int, ...], seed: int) -> Updated:
    """What the announcer counts on a site of so many pages, of which so many change on each day."""
    chance, now = random.Random(seed), time.time()
    root = home / "www"
    for page in range(pages):
        _write(root, page, 0, now)
    _announce(home, 0)
    for day, count in enumerate(days, 1):
        for page in chance.sample(range(pages), count):
            _write(root, page, day, now)
        _announce(home, day)
    return updated(root, len(days), now + (len(days) + 1) * DAY)._replace(name=name)


def _write(root: Path, page: int, day: int, now: float) -> None:
    path = root / str(page // 100) / f"{page}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<title>{page}</title><p>as on day {day}")
    os.utime(path, (now + (day - 1) * DAY,) * 2)  # what was written this moment would be waited for


def _announce(home: Path, day: int) -> None:
    run_sanderling(
        "announce", home / "www", "--site", "https://lab.example/", "--state", home / "state", "--once", later=day
    )
