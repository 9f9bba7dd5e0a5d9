"""The known URLs in a file beside the database, so that a server with ten million of them starts
within seconds.

The table holds the same, and reading it takes 2 us for each URL and every page of the disk that it
lies on. The file is a copy: what `KnownUrls` keeps of each URL, appended in large pieces. The
database remembers how many entries it has, the number of the last row in it and their checksum, not
before it has the rows. A file that does not fit, after a power cut or because an older database was
restored, is not used, and written again.
"""

import logging
from array import array
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from sanderling.repository.known_urls import Sorted

# Entries that are written together. A smaller crawl has no file.
PIECE = 65_536
MARK = "known"  # the key under which the database remembers
ENTRY = 16  # bytes: the identity, and what is kept of it

_log = logging.getLogger("sanderling")


class KnownFile:
    """Written by the server alone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = 0  # entries
        self._checksum = 0
        self._pending = array("q")

    def load(self, mark: str) -> "tuple[Sorted, int] | None":
        """All entries, and the number of the last row among them; None when there is no file that
        fits the mark."""
        self._written, self._checksum, self._pending = 0, 0, array("q")
        if not mark:
            return None
        count, last, checksum = map(int, mark.split())
        import numpy as np

        from sanderling.repository.known_urls import Sorted

        try:
            entries = np.fromfile(self._path, np.int64, 2 * count)
        except OSError:
            return None
        if len(entries) < 2 * count or crc32(entries.data) != checksum:
            return None
        self._written, self._checksum = count, checksum
        ids, kept = entries[::2], entries[1::2]
        order = ids.argsort()
        return Sorted(ids[order], kept[order]), last

    def add(self, entries: "array[int]") -> None:
        self._pending.extend(entries)

    @property
    def is_full(self) -> bool:
        """Whether there is enough to be written."""
        return len(self._pending) >= 2 * PIECE

    def write(self, last: int) -> str:
        """Writes what was added, when it is worth it; returns the new mark then. `last` is the
        number of the last row."""
        if not self.is_full:
            return ""
        try:
            with self._path.open("r+b" if self._written else "wb") as file:
                file.seek(self._written * ENTRY)
                file.truncate()
                file.write(self._pending)
        except OSError as error:  # it only saves time
            _log.warning("%s cannot be written (%s); the next start will take longer", self._path, error.strerror)
            self._pending = array("q")
            return _NONE
        self._written += len(self._pending) // 2
        self._checksum = crc32(self._pending, self._checksum)
        self._pending = array("q")
        return f"{self._written} {last} {self._checksum}"


# A mark that fits no file.
_NONE = "0 0 1"
