"""Counts the URLs of each host by state. For a large crawl, a thread counts them, and the result is
kept for a while.

Stored counters would cost one write for every page. A count of a million URLs takes a second.
"""

import threading
import time
from contextlib import closing
from typing import NamedTuple, Protocol

from sanderling.errors import SanderlingError
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import HostStore, Totals

# Up to this many URLs are counted during the request, in milliseconds.
AT_ONCE = 20_000
# A count is renewed after SHORTEST seconds, or after TIMES as long as it took, whichever is longer.
SHORTEST, TIMES = 10.0, 50.0


class TallyStore(Totals, HostStore, Protocol):
    """The parts of a store that a count reads."""


class Tally(NamedTuple):
    states: dict[int, dict[int, int]]  # by host, then by state
    at: float = 0.0  # when it was counted; 0 before that
    seconds: float = 0.0


class Tallies:
    """Runs at most one thread for each crawl. It is thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[str, Tally] = {}
        self._working: set[str] = set()

    def of(self, folder: Folder, store: TallyStore) -> Tally:
        """Returns the last count at once. If it is old or missing, starts a new one."""
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
            pass  # the page itself reports the error
        with self._guard:
            known = self._known.get(key, Tally({}))
            now = time.time()
            self._known[key] = Tally(states, now, now - begin) if states is not None else known
            self._working.discard(key)
