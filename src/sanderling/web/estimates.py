"""How fresh crawls are believed to be: reckoned beside the server, since a large collection takes seconds, and remembered."""

import subprocess
import threading
import time

import msgspec
from msgspec import Struct

from sanderling.processes import entry_points
from sanderling.repository.folder import Folder, in_use

# A figure is reckoned anew when it is older than so many times the seconds it took, and than this.
SHORTEST, TIMES = 30.0, 50.0
LONGEST_WORK = 600.0


class DoubtAnswer(Struct, frozen=True):
    """Something a host says that is not believed."""

    host: str
    about: str
    why: str


class BudgetAnswer(Struct, frozen=True):
    """What so many visits a day keep fresh in the long run."""

    visits: float
    optimal: float
    uniform: float


class Estimate(Struct, frozen=True, kw_only=True):
    """How fresh a copy is believed to be, as `sanderling freshness --json` says it."""

    pages: int
    visited_again: int
    freshness: float
    weighted_freshness: float
    age_days: float
    changes_a_day: float
    rates: dict[str, float] = {}
    paces: dict[str, int] = {}
    doubts: list[DoubtAnswer] = []
    budgets: list[BudgetAnswer] = []
    past: list[tuple[float, float]] = []  # when, and how fresh the copy was believed to be then
    fading: list[tuple[float, float]] = []  # days from now, and how fresh the copy is then when nothing is visited


class Known(Struct, frozen=True):
    """The last estimate, when it was made, and why there is none."""

    at: float = 0.0
    seconds: float = 0.0
    estimate: Estimate | None = None
    problem: str = ""


class Estimates:
    """At most one process a crawl; safe to use from many threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[str, Known] = {}
        self._working: set[str] = set()

    def of(self, folder: Folder) -> Known:
        """What is known, at once; begins to reckon anew when that is old or missing."""
        key = str(folder.path)
        with self._guard:
            known = self._known.get(key, Known())
            if _is_past(folder, known):
                known = self._known[key] = Known()
            if key not in self._working and time.time() - known.at > max(SHORTEST, TIMES * known.seconds):
                self._working.add(key)
                threading.Thread(target=self._work, args=(key,), daemon=True).start()
            return known

    def _work(self, key: str) -> None:
        begin = time.time()
        try:
            ran = subprocess.run(
                entry_points.command("command", "freshness", key, "--json"),
                stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_WORK,
            )  # fmt: skip
            said = ran.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2].removeprefix("sanderling: ")
            found = msgspec.json.decode(ran.stdout, type=Estimate) if ran.returncode == 0 else None
        except (subprocess.TimeoutExpired, msgspec.MsgspecError, OSError) as error:
            found, said = None, str(error)
        with self._guard:
            self._known[key] = Known(time.time(), time.time() - begin, found, "" if found else said)
            self._working.discard(key)


def _is_past(folder: Folder, known: Known) -> bool:
    """Whether pages were visited since: nobody wants to know how fresh they were before. While they are, the last figures do."""
    state = (folder.database, folder.database.with_name(folder.database.name + "-wal"))
    written = max((path.stat().st_mtime for path in state if path.exists()), default=0.0)
    return known.at > 0 and written > known.at - known.seconds and not in_use(folder)
