"""How many clients a crawl wants, when the user gave a range: `--clients MIN..MAX`.

More clients do not help when hosts are asked as often as politeness allows, or when little waits.
So the number follows from what waits, from what the hosts with work allow, and from what a client
has been seen to do.
"""

import math
import time

from sanderling.repository.store import FrontierStore

# What a client does before anybody has seen one at work, in pages a second.
USUAL = 20.0
# What waits should be done within this many seconds.
WITHIN = 10.0
# So long fewer have to be enough before clients are sent home.
PATIENCE = 30.0
STEP = 1.0
# Under these names the store keeps how many the last run ended with, and what the best client did
# in a second.
NOTED, PACE = "clients", "client pace"
# What a client does is noted again when it has changed by this share.
MOVED = 0.25


def needed(waiting: int, allowed: float, of_one: float) -> int:
    """`allowed` is what the hosts with work allow, and `of_one` what one client does, both in pages
    a second.
    """
    return math.ceil(min(waiting / WITHIN, allowed) / of_one)


class Sizing:
    """Follows a crawl. A restart begins with what the last run ended with, and knows what a client
    did in it.
    """

    def __init__(self, least: int, most: int, store: FrontierStore) -> None:
        self._least, self._most = least, most
        self._store = store
        self._enough_since = self._stepped = time.monotonic()
        noted = store.noted(NOTED)
        pace = store.noted(PACE)
        self._pace = float(pace) if pace.isdigit() else 0.0
        self.size = self._within(int(noted) if noted.isdigit() else least)
        self.why = f"{self.size} of {least}..{most}: the crawl begins"

    def due(self) -> bool:
        return time.monotonic() - self._stepped >= STEP

    def step(self, waiting: int, hosts: int, allowed: float, of_one: float) -> int:
        """How many clients are wanted now. More are wanted at once, fewer after a while."""
        now = self._stepped = time.monotonic()
        of_one = self._usual(of_one)
        found = self._within(needed(waiting, allowed, of_one))
        if found >= self.size:
            self._enough_since = now
        if found > self.size or (found < self.size and now - self._enough_since > PATIENCE):
            self.size = found
            self._store.note(NOTED, str(found))
        self.why = (
            f"{self.size} of {self._least}..{self._most}: {waiting:,} wait on {hosts:,} hosts, which allow "
            f"{allowed:,.0f} pages/s; a client does {of_one:,.0f}/s"
        )
        return self.size

    def _usual(self, of_one: float) -> float:
        """What a client does, as seen now or by an earlier run."""
        if of_one > USUAL and abs(of_one - self._pace) > MOVED * self._pace:
            self._pace = of_one
            self._store.note(PACE, str(round(of_one)))
        return max(self._pace, USUAL)

    def _within(self, number: int) -> int:
        return max(self._least, min(self._most, number))
