"""The paths of which events told that something happened, until they are looked at.

A file should not be read while it is being written. So a path waits until nothing happened to it
for a while.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

# After a file was closed, moved or deleted: editors do several of these in a row. In seconds.
SHORT = 0.1
# After it was created or modified, where the system does not say that it was closed.
QUIET = 1.0

# More than this, and everything is scanned instead.
MOST = 100_000


class DirtyPaths:
    """Filled by the threads of watchdog, emptied by the announcer."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._due: dict[bytes, float] = {}
        self._folders: set[bytes] = set()
        self._lost = False

    def touch(self, path: bytes, now: float, what: str) -> None:
        """Something happened to a file, by the words of watchdog."""
        with self._lock:
            if len(self._due) >= MOST:
                self._due.clear()
                self._lost = True
            self._due[path] = now + (QUIET if what in ("created", "modified") else SHORT)
        self._wake()

    def wait_for(self, path: bytes, until: float) -> None:
        """It is not finished: to be looked at again."""
        with self._lock:
            self._due.setdefault(path, until)

    def touch_folder(self, path: bytes) -> None:
        with self._lock:
            self._folders.add(path)
        self._wake()

    def lose(self) -> None:
        """Events were lost: only a scan finds out what happened."""
        with self._lock:
            self._lost = True
        self._wake()

    def take(self, now: float, most: int) -> list[bytes]:
        """The paths whose wait is over."""
        with self._lock:
            ready = [path for path, due in self._due.items() if due <= now][:most]
            for path in ready:
                del self._due[path]
        return ready

    def take_folder(self) -> bytes | None:
        """A folder to be scanned, the whole one (an empty path) if events were lost; None when
        there is none."""
        with self._lock:
            if self._lost or len(self._folders) > MOST:
                self._lost = False
                self._folders.clear()
                return b""
            return self._folders.pop() if self._folders else None

    def next_at(self) -> float:
        with self._lock:
            if self._lost or self._folders:
                return 0.0
            return min(self._due.values(), default=float("inf"))
