"""Files that are either complete or not there, and files that are locked."""

import fcntl
from pathlib import Path

from sanderling_announce.files import write_whole

__all__ = ["PRIVATE", "is_locked", "write_whole"]

# For files that may hold passwords.
PRIVATE = 0o600


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
