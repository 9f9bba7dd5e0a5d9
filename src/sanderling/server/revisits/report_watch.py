"""Starts, watches and ends the process that reads the reports of sites beside a refresh
(`jobs/listen.py`)."""

import time

import msgspec

from sanderling.processes import entry_points
from sanderling.processes.child import Child
from sanderling.repository.folder import Folder
from sanderling.settings import Settings, revealed

# What the process says when every known report was read once.
READ_ALL = "read all reports"
# The first plan waits so long for that: less when nobody knows whether there are reports.
LONGEST_WAIT, SHORT_WAIT = 30.0, 10.0
RESTART_SECONDS = 30.0
# How long it may take at the end to end reservations of sites.
GIVE_BACK_SECONDS = 5.0


class ReportWatch:
    """Runs that process beside a refresh. One that goes on for ever plans without waiting for it
    unless it is known that there are reports."""

    def __init__(self, folder: Folder, settings: Settings, known: bool, forever: bool) -> None:
        self._settings = settings
        named = known or bool(settings.report_at or settings.take_at)
        self._wanted = settings.reports
        self._command = entry_points.command("listen", folder.path, "" if forever else "once")
        self._forever = forever
        self._child: Child | None = None
        self._not_before = 0.0
        self._deadline = time.monotonic() + (LONGEST_WAIT if named else SHORT_WAIT)
        self.reading = self._wanted and (named or not forever)  # a plan made now would be too early

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
