"""For retention: what leaves, and where the rest is then."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from sanderling.model import History, Pruned
from sanderling.repository.store.crawling import ArchiveStore


class PruningStore(ArchiveStore, Protocol):
    """Versions and their places in the archives."""

    def newest_version(self) -> int:
        """The number of the newest version, 0 when there is none."""

    def histories(self) -> Iterator[History]:
        """All versions of pages that have several, page by page, the first one first."""

    def places_in(self, archive: str, without: Iterable[int] = ()) -> set[int]:
        """Where the copies of pages and versions are in an archive, but for some versions (by
        number)."""

    def pages_of(self, versions: list[int]) -> set[int]:
        """The numbers of the URLs of some versions."""

    def prune(self, pruned: Pruned) -> None:
        """Removes versions and moves the others, in one transaction that is on the disk then."""

    def compact(self) -> None:
        """Gives the space of removed rows back, if it is much."""
