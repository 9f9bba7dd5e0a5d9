"""The search indexes of the crawls on the shelf: kept open, and brought up to date when somebody searches."""

import threading
import time
from pathlib import Path

from sanderling.errors import IndexInUse, SanderlingError
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.search.searching import KeptIndex, Searcher, open_search


class Indexes:
    """One open index a crawl, and at most one thread that writes to it; safe to use from many threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: dict[Path, tuple[float, KeptIndex]] = {}
        self._busy: set[Path] = set()
        self._troubles: dict[Path, str] = {}

    def searcher(self, folder: Folder, store: Store) -> Searcher:
        """Answers questions about a crawl whose store somebody else closes."""
        with self._guard:
            index = self._kept[folder.path][1] if folder.path in self._kept else KeptIndex(folder)
            self._kept[folder.path] = time.monotonic(), index
        return Searcher(folder, store, index)

    def close_idle(self, seconds: float) -> None:
        """Lets go of what nobody has searched for a while."""
        since = time.monotonic() - seconds
        with self._guard:
            self._kept = {path: each for path, each in self._kept.items() if each[0] > since}

    def catch_up(self, folder: Folder) -> str:
        """Begins to index what is missing, unless that is under way; returns why it could not be done last time."""
        with self._guard:
            if folder.path not in self._busy:
                self._busy.add(folder.path)
                threading.Thread(target=self._work, args=(folder,), daemon=True).start()
            return self._troubles.get(folder.path, "")

    def _work(self, folder: Folder) -> None:
        trouble = ""
        try:
            with open_search(folder) as search:
                search.catch_up()
        except IndexInUse:
            pass  # whoever is at it does the same
        except (SanderlingError, OSError) as error:
            trouble = str(error)
        with self._guard:
            self._busy.discard(folder.path)
            if trouble:
                self._troubles[folder.path] = trouble
            else:
                self._troubles.pop(folder.path, None)
