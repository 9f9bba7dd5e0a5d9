"""Files that are either complete or not there, and files that are locked."""

import fcntl
import os
from pathlib import Path

# For files that may hold passwords.
PRIVATE = 0o600


def write_whole(path: Path, *parts: bytes, sync: bool = True, mode: int = 0o666) -> None:
    """Writes a file, complete or not at all: first under another name, then renamed.

    `sync` waits until the data is on the disk. Files that are needed only while a crawl runs can do
    without it. The file has its `mode`, less what the umask takes, from its first byte on.
    """
    beside = path.with_name(path.name + ".part")
    beside.unlink(missing_ok=True)  # one that was left may have another mode
    with open(beside, "wb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, mode)) as file:
        for part in parts:
            file.write(part)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    beside.replace(path)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of a file right now."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
