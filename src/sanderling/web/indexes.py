"""The search indexes of all crawls. They are kept open, and a search starts to index missing
versions."""

import threading
import time
from pathlib import Path

from sanderling.errors import IndexInUse, SanderlingError
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.search.searching import KeptIndex, Searcher, open_search


class Indexes:
    """One open index for each crawl, and at most one thread that writes to it. It is
    thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: dict[Path, tuple[float, KeptIndex]] = {}
        self._busy: set[Path] = set()
        self._troubles: dict[Path, str] = {}

    def searcher(self, folder: Folder, store: Store) -> Searcher:
        """A searcher for a crawl. The caller closes the store."""
        with self._guard:
            index = self._kept[folder.path][1] if folder.path in self._kept else KeptIndex(folder)
            self._kept[folder.path] = time.monotonic(), index
        return Searcher(folder, store, index)

    def close_idle(self, seconds: float) -> None:
        """Closes indexes that were not used for a while."""
        since = time.monotonic() - seconds
        with self._guard:
            self._kept = {path: each for path, each in self._kept.items() if each[0] > since}

    def catch_up(self, folder: Folder, semantic: bool = False) -> str:
        """Starts to index missing versions, unless that is running; with `semantic`, also by
        meaning. Returns the error of the last
        time, if any."""
        with self._guard:
            if folder.path not in self._busy:
                self._busy.add(folder.path)
                threading.Thread(target=self._work, args=(folder, semantic), daemon=True).start()
            return self._troubles.get(folder.path, "")

    def _work(self, folder: Folder, semantic: bool) -> None:
        trouble = ""
        try:
            with open_search(folder) as search:
                search.catch_up()
                if semantic:
                    search.catch_up_meaning()
        except IndexInUse:
            pass  # another process is already doing the same
        except (SanderlingError, OSError) as error:
            trouble = str(error)
        with self._guard:
            self._busy.discard(folder.path)
            if trouble:
                self._troubles[folder.path] = trouble
            else:
                self._troubles.pop(folder.path, None)
