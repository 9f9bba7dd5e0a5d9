"""Estimates of the freshness of crawls. Each is computed in a process of its own, because it can
take seconds, and kept."""

import subprocess
import threading
import time

import msgspec
from msgspec import Struct

from sanderling.processes import entry_points
from sanderling.repository.folder import Folder, in_use

# An estimate is renewed after SHORTEST seconds, or after TIMES as long as it took, whichever is
# longer.
SHORTEST, TIMES = 30.0, 50.0
LONGEST_WORK = 600.0


class DoubtAnswer(Struct, frozen=True):
    """A hint of a host that visits have contradicted too often."""

    host: str
    about: str
    why: str


class SourceAnswer(Struct, frozen=True):
    """How far a source that names pages of a host is believed."""

    host: str
    source: str
    heard: float  # last sign of life, in seconds since 1970
    named: int  # pages
    precision: float | None  # the share of its words that visits confirmed; null before there were any
    recall: float | None  # the share of changes it announces; null if it is not known yet
    heeded: bool  # what it names is visited at once
    young: int  # pages that need no visit now because it is silent about them
    a_day: float  # changes that it is expected to announce


class BudgetAnswer(Struct, frozen=True):
    """The long-run freshness with this many visits a day."""

    visits: float
    optimal: float
    uniform: float


class RateAnswer(Struct, frozen=True):
    """Changes a day by one estimator; in four of five cases the truth is between low and high."""

    rate: float
    low: float
    high: float | None  # null if no visits bound it
    of: str  # what it is learned from: page, pages, similar pages, or host


class HostRateAnswer(Struct, frozen=True, kw_only=True):
    """How often pages of a host change, on average."""

    host: str
    pages: int
    visited_again: int
    visits: int  # to known pages in the last half year
    changes: int  # that they found
    rate: float  # changes a day of a page, as visits are planned
    every: float  # seconds between two changes
    estimator: str
    eb: RateAnswer
    ep: RateAnswer | None  # null before a page of the host was visited twice


class PageRateAnswer(Struct, frozen=True, kw_only=True):
    """How often a page changes."""

    visits: int  # when it was known, in the last half year
    changes: int  # that they found
    days: float  # in which they were made
    rate: float  # changes a day, as visits are planned
    every: float  # seconds between two changes
    estimator: str
    eb: RateAnswer
    ep: RateAnswer | None  # null before any page of the host was visited twice


class Estimate(Struct, frozen=True, kw_only=True):
    """The estimated freshness of a crawl, as `sanderling freshness --json` prints it."""

    pages: int
    visited_again: int
    freshness: float
    weighted_freshness: float
    age_days: float
    changes_a_day: float
    changes_low: float = 0.0  # in four of five cases the changes a day are between these two
    changes_high: float = 0.0
    watched_days: float = 0.0  # mean time from the first to the last visit of pages that were visited again
    rates: dict[str, float] = {}
    paces: dict[str, int] = {}
    hosts: list[HostRateAnswer] = []  # at most a hundred, those with most pages
    doubts: list[DoubtAnswer] = []
    sources: list[SourceAnswer] = []
    budgets: list[BudgetAnswer] = []
    past: list[tuple[float, float]] = []  # time, and the estimated freshness at that time
    fading: list[tuple[float, float]] = []  # days from now, and the expected freshness then if nothing is visited


class Known(Struct, frozen=True):
    """The last estimate and the time when it was made, or the reason why there is none."""

    at: float = 0.0
    seconds: float = 0.0
    estimate: Estimate | None = None
    problem: str = ""
    renewing: bool = False  # a newer one is being computed


class Estimates:
    """Runs at most one process for each crawl. It is thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[str, Known] = {}
        self._working: set[str] = set()

    def of(self, folder: Folder) -> Known:
        """Returns the last estimate at once. If it is old or missing, starts to compute a new
        one."""
        key = str(folder.path)
        with self._guard:
            known = self._known.get(key, Known())
            if _is_outdated(folder, known):
                known = self._known[key] = Known()
            if key not in self._working and time.time() - known.at > max(SHORTEST, TIMES * known.seconds):
                self._working.add(key)
                threading.Thread(target=self._work, args=(key,), daemon=True).start()
            return msgspec.structs.replace(known, renewing=key in self._working)

    def _work(self, key: str) -> None:
        begin = time.time()
        try:
            ran = subprocess.run(
                entry_points.command("command", "freshness", key, "--json"),
                stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_WORK,
            )  # fmt: skip
            error_line = ran.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2].removeprefix("sanderling: ")
            found = msgspec.json.decode(ran.stdout, type=Estimate) if ran.returncode == 0 else None
        except (subprocess.TimeoutExpired, msgspec.MsgspecError, OSError) as error:
            found, error_line = None, str(error)
        with self._guard:
            self._known[key] = Known(time.time(), time.time() - begin, found, "" if found else error_line)
            self._working.discard(key)


def _is_outdated(folder: Folder, known: Known) -> bool:
    """Whether a crawl visited pages after the estimate and has ended. While it runs, the last
    estimate is still shown."""
    state = (folder.database, folder.database.with_name(folder.database.name + "-wal"))
    written = max((path.stat().st_mtime for path in state if path.exists()), default=0.0)
    return known.at > 0 and written > known.at - known.seconds and not in_use(folder)
