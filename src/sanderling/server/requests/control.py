"""What can be done to a crawl while it runs: pause it, stop it, change its limits, its scope and
its order.

A pause holds leases back, and recalls those that no client has begun: only what is on its way is
finished. It ends with the process: whoever starts a crawl wants it to run. Changed settings are
written into the folder's settings, so that a resume keeps them; leases made by the old ones are
recalled, too.
"""

import time
from pathlib import Path
from typing import Any

from sanderling.errors import BadSetting, SanderlingError
from sanderling.files import PRIVATE, write_whole
from sanderling.model import Command
from sanderling.server.frontier.frontier import Frontier
from sanderling.server.frontier.scope import Scope
from sanderling.settings import Settings, amend, with_changes

# The settings that take effect while a crawl runs.
LIMITS = ("max_pages", "max_depth", "max_time", "max_bytes")
SCOPE = ("scope", "include", "exclude", "order")


class Control:
    """The switches of one running crawl."""

    def __init__(self, settings: Settings, place: Path, frontier: Frontier) -> None:
        self.settings = settings
        self._place = place
        self._frontier = frontier
        self._started = time.monotonic()
        self._paused_at: float | None = None
        self._pauses = 0.0
        self.told_to_stop = False

    @property
    def paused(self) -> bool:
        return self._paused_at is not None

    @property
    def seconds(self) -> float:
        """How long the crawl has been running, pauses included."""
        return time.monotonic() - self._started

    @property
    def time_left(self) -> float | None:
        """Until the limit of time is met; pauses do not count."""
        if self.settings.max_time is None:
            return None
        pauses = self._pauses + (time.monotonic() - self._paused_at if self._paused_at is not None else 0.0)
        return max(0.0, self.settings.max_time - self.seconds + pauses)

    def follow(self, command: Command) -> str:
        """Does as it is told; returns why not, when it cannot."""
        try:
            if command.action == "pause":
                self._paused_at = self._paused_at or time.monotonic()
            elif command.action == "resume" and self._paused_at is not None:
                self._pauses += time.monotonic() - self._paused_at
                self._paused_at = None
            elif command.action == "stop":
                self.told_to_stop = True
            elif command.action == "change":
                self._change(command.changes)
        except SanderlingError as error:
            return str(error)
        return ""

    def _change(self, changes: dict[str, Any]) -> None:
        settings = checked(self.settings, changes)
        amend_file(self._place, changes)
        self.settings = settings
        self._frontier.change(settings)


def checked(settings: Settings, changes: dict[str, Any]) -> Settings:
    """Settings with changes that may be made while a crawl runs; says which may not, or do not
    fit."""
    for name in changes:
        if name not in LIMITS and name not in SCOPE:
            raise BadSetting(f"{name!r} cannot be changed while a crawl runs: only {', '.join(LIMITS + SCOPE)}")
    found = with_changes(settings, changes)
    Scope([], found)  # a bad pattern is said before anything is changed
    return found


def amend_file(place: Path, changes: dict[str, Any]) -> None:
    """Writes changes into a `sanderling.toml`, complete or not at all."""
    before, mode = "", PRIVATE
    if place.exists():
        before, mode = place.read_text("utf-8-sig"), place.stat().st_mode & 0o777
    write_whole(place, amend(before, changes).encode(), mode=mode)
