"""Which crawls know a host, and how a message reaches them: a running one at once, any other by its
inbox."""

import threading
import time
from typing import NamedTuple

from sanderling.errors import SanderlingError
from sanderling.model import Told
from sanderling.network.reach import NetworkReach
from sanderling.repository.folder import Folder
from sanderling.repository.named_addresses import NamedAddresses
from sanderling.server.requests import inbox, remote
from sanderling.settings import Settings, load
from sanderling.urls import identity
from sanderling.web.shelf import Shelf

# Crawls get new hosts; a host that was looked for is looked for again after this time.
_REMEMBERED_FOR = 10.0
_MOST_REMEMBERED = 10_000
# Seconds for a crawl to commit a message.
_PATIENCE = 10.0


class Knows(NamedTuple):
    """A crawl that knows a host."""

    folder: Folder
    reach: NetworkReach  # of the requests that check what strangers say of the host


class HostIndex:
    """Finds crawls by host. It is thread-safe."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._guard = threading.Lock()
        self._found: dict[str, tuple[float, list[Knows]]] = {}

    def of(self, home: str) -> list[Knows]:
        """The crawls that have visited an origin, or are about to."""
        with self._guard:
            at, found = self._found.get(home, (0.0, []))
        if time.monotonic() - at < _REMEMBERED_FOR and at:
            return found
        found = [each for folder in self._shelf.folders().values() if (each := self._look(folder, home))]
        with self._guard:
            if len(self._found) >= _MOST_REMEMBERED:
                self._found.clear()
            self._found[home] = time.monotonic(), found
        return found

    def _look(self, folder: Folder, home: str) -> Knows | None:
        try:
            with self._shelf.opened(folder) as store:
                if store.host(identity(home)) is None:
                    return None
                settings = load(folder.settings)[0] if folder.settings.exists() else Settings()
                return Knows(folder, NamedAddresses(store, settings).reach(f"{home}/"))
        except SanderlingError:
            return None  # one crawl that cannot be read does not keep messages from the others


def pass_on(folder: Folder, told: Told) -> bool:
    """Gives a message to a crawl; False when it waits for the next run."""
    try:
        if problem := remote.tell(folder.path, told, _PATIENCE):
            raise SanderlingError(problem)
    except remote.NotRunning:
        inbox.leave(folder.path, told)
        return False
    return True
