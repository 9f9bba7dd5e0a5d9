"""Brings search indexes up to date in the background, when somebody searches and something is missing."""

import threading

from sanderling.errors import IndexInUse, SanderlingError
from sanderling.repository.folder import Folder
from sanderling.wiring.searching import open_search


class Indexers:
    """At most one thread a crawl; safe to use from many threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._busy: set[str] = set()
        self._troubles: dict[str, str] = {}

    def catch_up(self, folder: Folder) -> str:
        """Begins to index what is missing, unless that is under way; returns why it could not be done last time."""
        key = str(folder.path)
        with self._guard:
            if key not in self._busy:
                self._busy.add(key)
                threading.Thread(target=self._work, args=(key, folder), daemon=True).start()
            return self._troubles.get(key, "")

    def _work(self, key: str, folder: Folder) -> None:
        trouble = ""
        try:
            with open_search(folder) as search:
                search.catch_up()
        except IndexInUse:
            pass  # whoever is at it does the same
        except (SanderlingError, OSError) as error:
            trouble = str(error)
        with self._guard:
            self._busy.discard(key)
            if trouble:
                self._troubles[key] = trouble
            else:
                self._troubles.pop(key, None)
