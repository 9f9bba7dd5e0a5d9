"""How many URLs of each host are in which state: counted beside, where there are many, and remembered for a while.

Counters that a crawl keeps up would cost every page of it a write; one count goes through a million URLs in a second.
"""

import threading
import time
from contextlib import closing
from typing import NamedTuple, Protocol

from sanderling.errors import SanderlingError
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import HostStore, Totals

# So many URLs are counted while somebody waits: a matter of milliseconds.
AT_ONCE = 20_000
# A count is made anew when it is older than so many times the seconds it took, and than this.
SHORTEST, TIMES = 10.0, 50.0


class TallyStore(Totals, HostStore, Protocol):
    """What is tallied."""


class Tally(NamedTuple):
    states: dict[int, dict[int, int]]  # by host, then by state
    at: float = 0.0  # when it was counted; 0 before it was
    seconds: float = 0.0


class Tallies:
    """At most one thread a crawl; safe to use from many threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[str, Tally] = {}
        self._working: set[str] = set()

    def of(self, folder: Folder, store: TallyStore) -> Tally:
        """What is known, at once; begins to count anew when that is old or missing."""
        if store.counts().known <= AT_ONCE:
            return Tally(store.host_states(), time.time())
        key = str(folder.path)
        with self._guard:
            known = self._known.get(key, Tally({}))
            if key not in self._working and time.time() - known.at > max(SHORTEST, TIMES * known.seconds):
                self._working.add(key)
                threading.Thread(target=self._work, args=(key, folder), daemon=True).start()
            return known

    def _work(self, key: str, folder: Folder) -> None:
        begin, states = time.time(), None
        try:
            with closing(open_store(folder, readonly=True)) as store:
                states = store.host_states()
        except (SanderlingError, OSError):
            pass  # whoever asks for the page is told
        with self._guard:
            known = self._known.get(key, Tally({}))
            now = time.time()
            self._known[key] = Tally(states, now, now - begin) if states is not None else known
            self._working.discard(key)
