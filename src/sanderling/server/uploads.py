"""Brings archives to object storage, one after the other, in a thread beside the crawl.

An archive goes when nobody writes to it any more: its client has the next one or has ended, and all
its bytes are committed. Storage that cannot be reached is tried again; meanwhile archives stay in
the folder, and the next run goes on with them.
"""

import fcntl
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from sanderling.errors import ArchiveAway
from sanderling.repository import remote

# How often the server looks for archives that are complete, in seconds.
EVERY = 5.0
# The first pause after a failure; it doubles each time.
PAUSE, LONGEST_PAUSE = 10.0, 600.0


class Uploads:
    """The archives of one crawl on their way."""

    def __init__(self, warcs: Path, address: str, committed: Callable[[], Mapping[str, int]]) -> None:
        """`committed` says how many bytes of each archive the database vouches for."""
        if address:
            remote.storage(address)  # says at once if the package is missing
        self._warcs, self._address, self._committed = warcs, address, committed
        self._thread: threading.Thread | None = None
        self._error = ""
        self._at, self._pause = 0.0, PAUSE

    def step(self) -> list[str]:
        """Begins the next upload when it is time; returns what the user should know."""
        now = time.monotonic()
        if not self._address or now < self._at or (self._thread is not None and self._thread.is_alive()):
            return []
        said: list[str] = []
        if self._error:
            said, self._error, self._at = [f"{self._error}; archives wait in {self._warcs}"], "", now + self._pause
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            return said
        path = self._next()
        if path is None:
            self._at = now + EVERY
        else:
            self._thread = threading.Thread(target=self._upload, args=(path,), daemon=True)
            self._thread.start()
        return said

    def finish(self, asked_to_stop: Callable[[], bool]) -> list[str]:
        """Uploads what is left at the end of a run, unless the storage fails or the user has had
        enough."""
        self._at = 0.0
        while self._address and not asked_to_stop():
            if said := self.step():
                return [f"{said[0]}; the next run uploads them"]
            if self._thread is None or not self._thread.is_alive():
                if self._error:
                    continue
                if self._next() is None:
                    break
                self._at = 0.0
            time.sleep(0.02)
        return []

    def _upload(self, path: Path) -> None:
        try:
            remote.upload(path, self._address)
            self._pause = PAUSE
        except (ArchiveAway, OSError) as error:
            self._error = str(error)

    def _next(self) -> Path | None:
        """An archive that is complete."""
        committed = self._committed()
        for path in sorted(self._warcs.glob("*.warc.gz")):
            if not path.is_symlink() and path.stat().st_size == committed.get(path.name) and not _is_written(path):
                return path
        return None


def _is_written(path: Path) -> bool:
    """Whether a client has an archive open (see `fencing`)."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
