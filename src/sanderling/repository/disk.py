"""What is said when the disk of a crawl is full or fails."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sanderling.errors import DiskFails, DiskFull

FULL: Final = "the disk is full: nothing committed is lost; free some space and run it again"
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FAILS: Final = (errno.EIO, errno.EROFS)  # a file system that met an error goes on without writing


@contextmanager
def disk_trouble() -> Iterator[None]:
    """Raises DiskFull or DiskFails in place of what the system says."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise DiskFull(FULL) from error
        if error.errno in _FAILS:
            where = error.filename or "the folder of the crawl"
            raise DiskFails(
                f"{where} cannot be written or read ({error.strerror}): nothing committed is lost; look after the disk"
            ) from error
        raise
