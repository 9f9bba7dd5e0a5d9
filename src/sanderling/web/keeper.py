"""Keeps the folders of a server fresh: visits their watches at their intervals, and refreshes those
with a budget.

A folder gets a turn when something of it is due. A turn is a process of its own with its clients
and its browser, which end with it: between turns there are none. One turn for watches and one for a
refresh run at a time, so that a long refresh delays no watch.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Literal

from sanderling import clock
from sanderling.errors import SanderlingError
from sanderling.processes import entry_points
from sanderling.repository.folder import Folder, in_use
from sanderling.server.requests.watch_list import last_visits
from sanderling.server.revisits.terms import read_budget
from sanderling.settings import Settings, is_quiet, load
from sanderling.web.running import LOG, STOP_SECONDS
from sanderling.web.shelf import Shelf

Lane = Literal["watch", "refresh"]
LANES: tuple[Lane, ...] = ("watch", "refresh")
# A page that could not be visited is tried again after this time, or after its interval.
TRY_AGAIN = 60.0
# A refresh spends the budget of this time, or as much as one visit needs.
REFRESH_EVERY = 600.0
LONGEST_PAUSE = 3600.0  # after turns that failed
# A folder that waits for so long, or failed so often in a row, makes the service unhealthy.
LATE, FAILED = 900.0, 3
STEP_SECONDS = 1.0


class Kept:
    """One folder in one lane: when its next turn is due, and how the last ones went."""

    def __init__(self, folder: Folder, lane: Lane) -> None:
        self.folder, self.lane = folder, lane
        self.next_at = 0.0  # 0 until it is known
        self.began_at = 0.0
        self.last_at = 0.0  # when the last turn ended
        self.runs = 0
        self.failures = 0  # in a row
        self.read: tuple[int, Settings] | None = None  # the settings, and when their file was written

    def settings(self) -> Settings:
        written = self.folder.settings.stat().st_mtime_ns
        if self.read is None or self.read[0] != written:
            self.read = written, load(self.folder.settings)[0]
            self.next_at = 0.0
        return self.read[1]


class Keeper:
    """Gives folders their turns."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._kept: dict[tuple[Path, Lane], Kept] = {}
        self._turns: dict[Lane, tuple[Kept, subprocess.Popen[bytes]]] = {}
        self._guard = threading.Lock()
        self._closed = False

    def kept(self) -> list[Kept]:
        with self._guard:
            return list(self._kept.values())

    def problem(self) -> str:
        """Why the service is not healthy; empty if it is."""
        now = clock.now()
        for each in self.kept():
            name = each.folder.path.name
            if each.failures >= FAILED:
                return f"the last {each.failures} turns of {name} failed"
            busy = any(kept is each for kept, _ in self._turns.values())
            if each.next_at and now - each.next_at > LATE and not busy and not self._rests(each, now):
                return f"{name} has waited {(now - each.next_at) / 60:.0f} min for its turn"
        return ""

    def step(self) -> None:
        """Ends turns that are over, and begins those that are due. To be called now and then."""
        with self._guard:
            if self._closed:
                return
            for lane, (kept, process) in [*self._turns.items()]:
                if (code := process.poll()) is not None:
                    del self._turns[lane]
                    self._over(kept, code)
            self._look()
            now = clock.now()
            for lane in LANES:
                waiting = [each for (_, kind), each in self._kept.items() if kind == lane and 0 < each.next_at <= now]
                for each in sorted(waiting, key=lambda kept: kept.next_at):
                    if lane not in self._turns and not in_use(each.folder) and not self._rests(each, now):
                        self._begin(each, now)

    def close(self) -> None:
        """Ends the turns."""
        with self._guard:
            self._closed = True
            for _, process in self._turns.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGTERM)
            deadline = time.monotonic() + STOP_SECONDS
            for _, process in self._turns.values():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.1, deadline - time.monotonic()))

    def _look(self) -> None:
        """Finds the folders that are to be kept fresh, and when they are due."""
        wanted: set[tuple[Path, Lane]] = set()
        for folder in self._shelf.folders().values():
            for lane in LANES:
                key = folder.path, lane
                kept = self._kept.get(key) or Kept(folder, lane)
                try:
                    settings = kept.settings()
                    if not (settings.keep_fresh if lane == "refresh" else any(not w.paused for w in settings.watch)):
                        continue
                    self._kept[key] = kept
                    kept.next_at = kept.next_at or (self._due(kept, settings) if lane == "watch" else clock.now())
                except (SanderlingError, OSError):  # its own commands say what is wrong with it
                    continue
                wanted.add(key)
        for key in self._kept.keys() - wanted:
            del self._kept[key]

    def _due(self, kept: Kept, settings: Settings) -> float:
        """When the first watch is due. What was due in the last turn and was not visited is tried
        again."""
        visited: dict[str, float] = {}
        if kept.folder.database.exists() or settings.store:
            with self._shelf.opened(kept.folder) as store:
                visited = last_visits(store, settings.watch)
        found = []
        for watch in settings.watch:
            if not watch.paused:
                at = visited.get(watch.url, 0.0) + watch.every
                missed = at <= kept.began_at
                found.append(kept.last_at + min(watch.every, TRY_AGAIN) if missed else at)
        return max(1.0, min(found))

    def _rests(self, kept: Kept, now: float) -> bool:
        return kept.read is not None and is_quiet(kept.read[1].quiet, now)

    def _begin(self, kept: Kept, now: float) -> None:
        place = str(kept.folder.path)
        command = ["watch", "run", "--once", "-d", place]
        if kept.lane == "refresh":
            assert kept.read is not None
            command = ["refresh", place, f"--budget={_part(kept.read[1].keep_fresh)[0]}"]
        with (kept.folder.path / LOG).open("ab") as log:
            process = subprocess.Popen(
                entry_points.command("command", *command),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        kept.began_at = now
        self._turns[kept.lane] = kept, process

    def _over(self, kept: Kept, code: int) -> None:
        kept.last_at = clock.now()
        kept.runs += 1
        kept.failures = kept.failures + 1 if code else 0
        kept.next_at = 0.0
        if code:
            kept.next_at = kept.last_at + min(LONGEST_PAUSE, TRY_AGAIN * 2 ** min(kept.failures, 10))
        elif kept.lane == "refresh" and kept.read is not None and kept.read[1].keep_fresh:
            kept.next_at = kept.began_at + _part(kept.read[1].keep_fresh)[1]


def _part(budget: str) -> tuple[str, float]:
    """The budget of one turn of a refresh, and the seconds until the next one."""
    whole = read_budget(budget)
    every = max(REFRESH_EVERY, whole.period / whole.amount)
    amount = max(1, int(whole.amount * every / whole.period))
    return f"{amount}{'B' if whole.unit == 'bytes' else ''}", every
