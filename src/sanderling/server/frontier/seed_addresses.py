"""The private addresses at which seeds may be: those that their names had when the user named them.

Whoever owns a name can point it anywhere later. A name is therefore looked up once, in the run that
sees it as a seed for the first time, and the answer is kept. With `--allow-private` nothing is
looked up, because nothing is refused.
"""

import threading
import time
from collections import deque
from collections.abc import Iterable

import msgspec

from sanderling.network import addresses_of, is_public
from sanderling.repository.named_addresses import NOTE, recorded
from sanderling.repository.store import FrontierStore
from sanderling.urls import hostname

# This many hosts are looked up before the first lease, within this many seconds.
FIRST, PATIENCE = 50, 5.0
THREADS = 16


class SeedAddresses:
    """Looks names up beside the crawl, and keeps the answers in the store."""

    def __init__(self, store: FrontierStore, origins: Iterable[str]) -> None:
        self._store = store
        self._known = recorded(store)
        self._kept = len(self._known)
        self._wanted = deque(name for name in dict.fromkeys(map(hostname, origins)) if name not in self._known)
        self._first = set(list(self._wanted)[:FIRST])
        for _ in range(min(THREADS, len(self._wanted))):
            threading.Thread(target=self._look_up, daemon=True).start()
        deadline = time.monotonic() + PATIENCE
        while self._first and time.monotonic() < deadline:
            time.sleep(0.001)

    def of(self, name: str) -> list[str]:
        """The private addresses that a seed's name had: none if it was public, or has no answer
        yet."""
        return self._known.get(name, [])

    def keep(self) -> None:
        """Writes down what was found. A name without an answer is looked up again by the next
        run."""
        known = dict(self._known)
        if len(known) > self._kept:
            self._kept = len(known)
            self._store.note(NOTE, msgspec.json.encode(known).decode())

    def _look_up(self) -> None:
        while self._wanted:
            try:
                name = self._wanted.popleft()
            except IndexError:  # another thread was faster
                return
            found = addresses_of(name)
            if found:
                self._known[name] = [address for address in found if not is_public(address)]
            self._first.discard(name)
