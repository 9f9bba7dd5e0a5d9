"""`sanderling lab updated`: how many pages of a site are updated on a day?

It computes  Average % = 1/7 sum N(D) / M x 100  over the last seven whole days (--days), where N(D)
is the number of pages that were new or changed on day D, and M the number of all pages. The
interval is that of the mean of the days, at 95 %. Each FOLDER may be

  a site that `sanderling announce` watches: exact counts from its report
  a git repository: the files in the commits of each day
  the folder of a crawl: the changes that visits found on each day
  any other folder: the dates of its files; only the last change counts

--published shows the arithmetic with the counts that were published for seven sites.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from lab.confidence import half_width
from sanderling import clock
from sanderling.announcements import MANIFEST, WELL_KNOWN, Manifest
from sanderling.clock import DAY
from sanderling.errors import RunFailed, UsageError
from sanderling.presenting.arguments import pathname, positive
from sanderling.presenting.plot import table
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.telling.baseline import baseline

# M and N(1) to N(7), as published.
PUBLISHED = {
    "cmpe.emu.edu.tr": (591, (74, 70, 60, 77, 65, 63, 62)),
    "ahu.edu.jo/colleges/engineering": (402, (43, 44, 40, 50, 35, 39, 34)),
    "global.nytimes.com": (15_090, (1346, 1403, 1321, 1297, 1273, 1432, 1357)),
    "garanti.com.tr/en": (153, (10, 8, 11, 10, 7, 9, 8)),
    "picosoftengineering.com": (35, (2, 1, 2, 2, 4, 3, 2)),
    "Sarayanews.com": (3377, (80, 110, 89, 120, 81, 94, 85)),
    "Kooora.com": (9320, (200, 150, 170, 220, 190, 175, 195)),
}
_PAGES = (".html", ".htm", ".xhtml", ".pdf")


class Updated(NamedTuple):
    """A site: its pages, and how many were updated on each day."""

    name: str
    pages: int
    days: tuple[int, ...]
    source: str

    @property
    def average(self) -> float:
        return sum(self.days) / len(self.days) / max(self.pages, 1) * 100

    @property
    def interval(self) -> float:
        """Half the width of the interval of the average, at 95 %."""
        return half_width(self.days) / max(self.pages, 1) * 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="*", type=pathname, metavar="FOLDER", help="sites, repositories, crawls, folders"
    )
    parser.add_argument("--days", type=positive, default=7, help="how many days, before today (default: 7)")
    parser.add_argument("--published", action="store_true", help="the published counts of seven sites")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(options: argparse.Namespace) -> int:
    found = (
        [Updated(name, pages, days, "published") for name, (pages, days) in PUBLISHED.items()]
        if options.published
        else []
    )
    found += [updated(folder, options.days) for folder in options.folder]
    if not found:
        raise UsageError("name a folder, or use --published")
    if options.json:
        for each in found:
            sys.stdout.write(json.dumps({**each._asdict(), "average": each.average, "interval": each.interval}) + "\n")
        return 0
    sys.stdout.write(told(found) + "\n")
    return 0


def told(found: list[Updated]) -> str:
    rows = [
        [
            each.name,
            each.pages,
            " ".join(map(str, each.days)),
            f"{each.average:.1f} ± {each.interval:.1f} %",
            each.source,
        ]
        for each in found
    ]
    return table(rows, ["site", "pages", "updated on each day", "average a day", "counted by"])


def updated(folder: Path, days: int, now: float | None = None) -> Updated:
    """Counts what was updated in a folder on each of the last days before `now` (today), the oldest
    first."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    today = int((clock.now() if now is None else now) // DAY)
    for read in (_announced, _crawled, _committed, _dated):
        if (read_as := read(folder)) is not None:
            pages, counts, source = read_as
            return Updated(
                folder.resolve().name, pages, tuple(counts[day] for day in range(today - days, today)), source
            )
    raise RunFailed(f"{folder} has no pages")


_Counted = tuple[int, Counter[int], str]


def _announced(folder: Path) -> _Counted | None:
    for path in (folder / MANIFEST, folder / WELL_KNOWN / MANIFEST):
        if path.exists():
            try:
                manifest = msgspec.json.decode(path.read_bytes().partition(b"\n")[0], type=Manifest)
            except msgspec.MsgspecError:
                raise RunFailed(f"{path} is no manifest of an announcer") from None
            return manifest.pages, Counter(dict(manifest.updated)), "its announcer"
    return None


def _crawled(folder: Path) -> _Counted | None:
    if not Folder(folder).settings.exists():
        return None
    counts: Counter[int] = Counter()
    with reading(folder) as (_, store):
        pages = store.counts().pages
        first = baseline(store).number
        seen: set[tuple[str, int]] = set()
        for version in store.changes():
            day = int(version.at // DAY)
            if version.number <= first:
                break
            if version.news and version.status < 400 and (version.url, day) not in seen:
                seen.add((version.url, day))
                counts[day] += 1
    return pages, counts, "visits"


def _committed(folder: Path) -> _Counted | None:
    if not (folder / ".git").exists():
        return None
    listed = _git(folder, "ls-files", "-z").split("\0")
    pages = sum(name.endswith(_PAGES) for name in listed)
    counts: Counter[int] = Counter()
    seen: set[tuple[str, int]] = set()
    day = 0
    for line in (
        _git(folder, "log", "--format=%ct", "--name-only", "--diff-filter=AMR", "-z").replace("\n", "\0").split("\0")
    ):
        if line.isdecimal():
            day = int(int(line) // DAY)
        elif line.endswith(_PAGES) and (line, day) not in seen:
            seen.add((line, day))
            counts[day] += 1
    return pages, counts, "commits"


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise RunFailed(f"git cannot read {folder}") from None
    return done.stdout.decode("utf-8", "replace")


def _dated(folder: Path) -> _Counted | None:
    counts = Counter(int(path.stat().st_mtime // DAY) for path in _files(folder))
    return (counts.total(), counts, "dates of files") if counts else None


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if path.suffix.lower() in _PAGES and path.is_file() and not any(name.startswith(".") for name in inside.parts):
            yield path
