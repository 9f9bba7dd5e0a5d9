"""Temporary folders of which nothing stays: a process locks its own as long as it lives, and the
next one removes those that were left behind.

Anybody can make a folder, a link or a pipe of any name in /tmp. So only folders that this user owns
are looked at, and no lock is waited for.
"""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

_PREFIX = "sanderling-"
_LOCK = ".lock"


class Scratch:
    """A temporary folder."""

    def __init__(self, kind: str) -> None:
        clear_up(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-"))
        # It gets its name when it is locked, so that nobody finds it unlocked.
        made = self.path / f"{_LOCK}.new"
        self._lock = os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        made.rename(self.path / _LOCK)

    def close(self) -> None:
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


@contextlib.contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """A temporary folder that is removed afterwards."""
    made = Scratch(kind)
    try:
        yield made.path
    finally:
        made.close()


def clear_up(place: Path) -> None:
    """Removes the folders of processes that were killed."""
    for folder in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_left(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """Whether this user made a folder by a process that has ended."""
    if not _is_own(folder.lstat(), stat.S_ISDIR):
        return False
    file = os.open(folder / _LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not _is_own(os.fstat(file), stat.S_ISREG):
            return False
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    finally:
        os.close(file)


def _is_own(found: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    return found.st_uid == os.geteuid() and is_kind(found.st_mode)
