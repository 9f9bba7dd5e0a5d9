"""Starts, watches and ends the process that reads the reports of sites beside a refresh
(`jobs/listen.py`)."""

import time
from collections.abc import Iterable

import msgspec

from sanderling.announcements import in_robots
from sanderling.model import Host
from sanderling.processes import entry_points
from sanderling.processes.child import Child
from sanderling.repository.folder import Folder
from sanderling.settings import Settings, revealed

# What the process says when every known report was read once.
READ_ALL = "read all reports"
# The first plan waits so long for that.
LONGEST_WAIT = 30.0
RESTART_SECONDS = 30.0
# How long it may take at the end to end reservations of sites.
GIVE_BACK_SECONDS = 5.0


class ReportWatch:
    """Runs that process, for a refresh that goes on for ever or that knows of a report."""

    def __init__(self, folder: Folder, settings: Settings, homes: Iterable[Host], forever: bool) -> None:
        announced = any(any(in_robots(home.robots.text)) for home in homes if home.robots is not None)
        self._settings = settings
        named = announced or bool(settings.report_at or settings.take_at)
        self._wanted = settings.reports and (forever or named)
        self._command = entry_points.command("listen", folder.path, "" if forever else "once")
        self._forever = forever
        self._child: Child | None = None
        self._not_before = 0.0
        self._deadline = time.monotonic() + LONGEST_WAIT
        self.reading = self._wanted and named  # a plan made now would be too early

    def step(self) -> list[str]:
        """To be called now and then. Returns messages for the user."""
        if not self._wanted:
            return []
        said = self._child.told() if self._child is not None else []
        if READ_ALL in said or time.monotonic() > self._deadline:
            self.reading = False
        if self._child is None and time.monotonic() >= self._not_before:
            self._child = Child(self._command, lifeline=True, tells=True, complains=False)
            self._child.send(msgspec.json.encode(revealed(self._settings)))
        elif self._child is not None and self._child.code is not None:
            self.close()
            self._wanted = self._forever
            self.reading = False
            self._not_before = time.monotonic() + RESTART_SECONDS
        return [line for line in said if line != READ_ALL]

    def close(self) -> None:
        if self._child is not None:
            self._child.end(GIVE_BACK_SECONDS if self._settings.take_at else 0.0)
            self._child.close()
            self._child = None
