"""How much a crawl may still do: the limits of pages and bytes, the collection's size and the
budget of a refresh."""

from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.asked_pages import AskedPages
from sanderling.server.frontier.collection import PageCollection
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.revisits.refresher import Refresher
from sanderling.settings import Settings

UNLIMITED = 1 << 30


class Limits:
    """Compares the totals with what the user allows."""

    def __init__(
        self, settings: Settings, ledger: Ledger, allocator: Allocator, collection: PageCollection | None,
        refresher: Refresher | None, asked: AskedPages, again: bool,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._ledger = ledger
        self._allocator = allocator
        self._collection = collection
        self._refresher = refresher
        self._asked = asked
        self._again = again

    def change(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def bytes_left(self) -> int | None:
        """None without a limit."""
        most = self._settings.max_bytes
        return None if most is None else max(0, most - self._ledger.counts.bytes)

    @property
    def pages_left(self) -> int | None:
        """Pages that may still be stored; None without a limit."""
        most = self._settings.max_pages
        return None if most is None else max(0, most - self._ledger.counts.pages)

    def leases_left(self) -> int:
        """How many more leases there may be, for visits of any kind."""
        if self.bytes_left == 0:
            return 0
        if self._refresher is not None:
            return self._refresher.room(self._allocator.leased) + len(self._asked.revisits()) + self.files_left
        return (
            UNLIMITED if self._again else max(0, self.new_leases_left()) + len(self._asked.revisits()) + self.files_left
        )

    @property
    def files_left(self) -> int:
        """Files of pages that wait: no limit of pages counts them."""
        return self._ledger.counts.requisites_queued

    def new_leases_left(self) -> int:
        """How many of them may be for pages that were never visited; negative when there are too
        many already."""
        left = UNLIMITED if self.pages_left is None else self.pages_left
        if self._collection is not None:
            left = min(left, self._collection.room(self._ledger.counts))
        return left - self._allocator.leased
