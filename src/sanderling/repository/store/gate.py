"""For the gatekeeper: which pages are one under several names, and what is held back."""

from collections.abc import Iterator
from typing import Protocol

from sanderling.model import Host, PageFacts
from sanderling.repository.store.lookup import Notes, UrlLookup
from sanderling.repository.store.values import TrailUrl


class HeldRows(Protocol):
    """What is held back."""

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        """Text and state of those ids that are known."""

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        """(id, depth) of URLs of a host that are held back for a reason."""

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        """(id, host, depth, reason) of what is held back, without the URLs of mirrors."""


class TunnelStore(HeldRows, Protocol):
    """What a focused crawl tunnels by."""

    def off_topic(self, most: int) -> list[tuple[int, int, int, int, float]]:
        """(id, host, depth, pages off the topic that lead to it, relevance of the link) of URLs
        that are queued or held back, where there are any such pages.

        It looks at every such URL.
        """

    def trails(self, most: int) -> Iterator[TrailUrl]:
        """The last pages that were found, visited or not, in the order they were found; those of
        seeds are left out."""


class TopicStore(UrlLookup, Protocol):
    """What a focused crawl has found."""

    def relevant_pages(self, least: float) -> int:
        """How many stored pages have at least this relevance; looks at every page."""


class MirrorStore(HeldRows, Protocol):
    """What tells whether two hosts have the same pages."""

    def hosts(self) -> Iterator[Host]: ...

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        """What is known about the content of those URLs that are known."""


class GateStore(TunnelStore, MirrorStore, Notes, Protocol):
    """What tells whether two URLs are one page."""

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        """(page, URL) for the pages that say that they stand for one of these URLs, or moved there
        for good.
        """

    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        """(id, depth) of unvisited URLs of a host that were merged into others for a reason; looks
        at every URL.
        """
