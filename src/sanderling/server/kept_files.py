"""Notices that somebody deleted the files which a crawl is writing to.

The system lets a process write on to a file that has no name any more. Without a look at the names,
such a crawl would end well and leave nothing.
"""

from collections.abc import Iterable
from pathlib import Path

from sanderling.errors import Damaged
from sanderling.repository.folder import Folder
from sanderling.repository.remote import exists


class KeptFiles:
    """The database and the archives of a running crawl."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._database = _identity(folder.database)  # none if the state is in PostgreSQL

    def check(self, archives: Iterable[str]) -> None:
        """Raises Damaged if one of them is not there any more."""
        database, where = self._folder.database, self._folder.path
        if self._database is not None and _identity(database) != self._database:
            raise Damaged(
                f"stopped: {database} was deleted or replaced while the crawl ran; "
                f"`sanderling recover {where}` makes a new one from the archives"
            )
        for name in archives:
            if not exists(self._folder.warcs / name):
                raise Damaged(
                    f"stopped: {self._folder.warcs / name} was deleted while the crawl ran; "
                    f"`sanderling check {where} --repair` has its pages fetched again"
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
