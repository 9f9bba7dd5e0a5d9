"""What repeats on the pages of each host, learned from pages that are stored."""

from collections.abc import Callable
from typing import Final

from sanderling.errors import Damaged
from sanderling.model import Stored
from sanderling.repository import views, warc
from sanderling.repository.archive import html_in
from sanderling.repository.store import ViewStore
from sanderling.urls import origin

# Pages of a host that are compared, and pages of the crawl that are looked at to find them.
SAMPLE: Final = 16
MOST_LOOKED_AT: Final = 50_000
_BATCH: Final = 1000

Places = dict[str, list[Stored]]


def sampled(store: ViewStore, login: bool) -> Places:
    """For each host where some of its pages are."""
    found: Places = {}
    number = looked = 0
    while looked < MOST_LOOKED_AT and (some := views.current_versions(store, number, _BATCH, login)):
        for version, *_ in some:
            places = found.setdefault(origin(version.url), [])
            if len(places) < SAMPLE:
                places.append(version.stored)
        number, looked = some[-1].version.number, looked + len(some)
    return found


class SiteTemplates:
    """The blocks that repeat on the pages of a host. They are looked for when a page of it is asked
    for."""

    def __init__(self, sample: Callable[[], Places], read: Callable[[Stored], warc.Archived]) -> None:
        self._sample = sample
        self._read = read
        self._places: Places | None = None
        self._known: dict[str, frozenset[int]] = {}

    def of(self, url: str) -> frozenset[int]:
        site = origin(url)
        if site not in self._known:
            if self._places is None:
                self._places = self._sample()
            self._known[site] = self._learned(self._places.pop(site, []))
        return self._known[site]

    def _learned(self, places: list[Stored]) -> frozenset[int]:
        from sanderling.documents.template import FEWEST_PAGES, blocks_of, repeated

        if len(places) < FEWEST_PAGES:
            return frozenset()
        documents = (html_in(archived) for each in places if (archived := self._readable(each)) is not None)
        return repeated([blocks_of(document) for document in documents if document is not None])

    def _readable(self, stored: Stored) -> warc.Archived | None:
        try:
            return self._read(stored)
        except (Damaged, OSError):
            return None
