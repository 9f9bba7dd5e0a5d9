"""Waits for a database that went away while a crawl runs."""

import math
import time
from collections.abc import Callable

from sanderling.errors import StoreAway

# How often a database that went away is looked for, in seconds.
PAUSE = 0.3
# A database that restarts gives several reasons in this time. Later, another reason is news.
RESTART = 10.0


class StoreAbsence:
    """Clients go on with what they hold meanwhile, and what they say is kept for later."""

    def __init__(self, notify: Callable[[str], None], is_ending: Callable[[], bool]) -> None:
        """`is_ending` says whether the run is to end without waiting."""
        self._notify = notify
        self._is_ending = is_ending
        self._away_since = 0.0
        self._reason = ""  # the last one that was said
        self.back_since = -math.inf  # by the monotonic clock

    def wait(self, reason: str) -> None:
        """Called before each try to reach the database, with the reason, and once with none when it
        is back."""
        now = time.monotonic()
        if not reason:
            self._notify(f"the database is back after {now - self._away_since:.1f} s; the crawl goes on")
            self._away_since, self.back_since = 0.0, now
            return
        if not self._away_since:
            self._away_since, self._reason = now, reason
            self._notify(f"the database is not available ({reason}); the crawl waits for it")
        elif reason != self._reason and now - self._away_since > RESTART:
            self._reason = reason
            self._notify(f"the database is still away ({reason})")
        if self._is_ending():
            raise StoreAway("stopped while the database was away; nothing committed is lost: run it again to go on")
        time.sleep(PAUSE)
