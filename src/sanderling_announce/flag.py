"""The flag that keeps independent crawlers from doing the same work: one of them takes the site for
a while.

A crawler that is let in says how long it will take, and when others may come: after that time, or
as soon as a page changes. Whoever forgets to give the site back loses it by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal, NamedTuple, Optional

Reset = Literal["time", "change"]
# A crawler gets the site for an hour unless it asks for less, in seconds.
LONGEST = 3600.0


class Taken(NamedTuple):
    until: float = 0.0
    by: str = ""
    reset: Reset = "time"


class Flag:
    """Crawlers take it in the threads of the announcer's server; the announcer publishes it."""

    def __init__(
        self, taken: Taken, wake: Callable[[], None], longest: float = LONGEST, reset: Optional[Reset] = None
    ) -> None:
        """`reset` is what the site wants; without it, crawlers choose."""
        self._reset = reset
        self._taken = taken
        self._wake = wake
        self._longest = longest
        self._lock = threading.Lock()

    def begin(self, who: str, seconds: float, reset: Reset, now: float) -> tuple[bool, Taken]:
        """Takes the site, keeps it for longer, or gives it back (with 0 seconds). Two at once are
        not let in."""
        with self._lock:
            if self._taken.until > now and self._taken.by != who:
                return False, self._taken
            self._taken = Taken(
                now + min(seconds, self._longest) if seconds > 0 else 0.0,
                who if seconds > 0 else "",
                self._reset or reset,
            )
            taken = self._taken
        self._wake()
        return True, taken

    def page_changed(self) -> None:
        with self._lock:
            if self._taken.reset == "change":
                self._taken = Taken()

    def state(self, now: float) -> Taken:
        with self._lock:
            return self._taken if self._taken.until > now else Taken()
