"""For the jobs beside a crawl: each reads the whole, in whatever order is read fastest unless it
says another."""

from collections.abc import Iterable
from typing import Protocol

from sanderling.repository.store.lookup import Notes, UrlLookup
from sanderling.repository.store.people import ChangeStore, ViewStore
from sanderling.repository.store.revisiting import Subjects
from sanderling.repository.store.values import UrlFacts


class GraphStore(Protocol):
    """URLs and links."""

    def url_texts(self) -> Iterable[tuple[int, str]]:
        """Every URL's id and text."""

    def behind_login(self) -> set[int]:
        """The URLs that were read in a session of the user's, or found on such a page."""

    def packed_links(self) -> Iterable[tuple[int, bytes]]:
        """Every page with the 64-bit ids it links to, packed."""


class RankingStore(GraphStore, Protocol):
    """What the queue is ranked by."""

    def url_facts(self) -> Iterable[UrlFacts]:
        """Every URL."""

    def visit_times(self) -> Iterable[tuple[int, float]]:
        """Every page that answered and when it last did."""

    def relevances(self) -> Iterable[tuple[int, float]]:
        """Every URL of which a client said how relevant it is."""

    def link_relevances(self) -> Iterable[tuple[int, float]]:
        """Every URL with the relevance of the link that it was found by, where a client said it."""

    def importances(self) -> Iterable[tuple[int, float]]:
        """Every page that answered and how important it is, in the order they lie."""


class CollectionStore(RankingStore, Subjects, Protocol):
    """What a collection is refined by."""

    def excluded_for(self, reason: str) -> list[int]:
        """URLs that are excluded for a reason; looks at every URL."""


class DuplicateStore(UrlLookup, Protocol):
    """What near-duplicates are found by."""

    def simhashes(self) -> Iterable[tuple[int, int, float]]:
        """(id, simhash, first seen) of every page that has one."""


class IndexStore(Notes, ViewStore, ChangeStore, Protocol):
    """What the search index is made of."""


class ExtractedStore(Notes, ViewStore, Protocol):
    """The data that extractors return for stored versions."""

    def put_extracted(self, data: list[tuple[int, str | None]]) -> None:
        """Replaces the data of versions (by number); None removes it."""
