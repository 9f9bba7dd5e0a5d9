"""For people: pages, versions, links and hosts, as commands, exports and the dashboard show
them."""

from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

from sanderling.model import Host, PageRow, State, VersionRow
from sanderling.repository.store.lookup import HostLookup, UrlLookup
from sanderling.repository.store.values import Joins


class ViewStore(UrlLookup, Protocol):
    """For queries in the words that SQLite and PostgreSQL share; see `views`."""

    joins: ClassVar[Joins]

    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of a query with ? where values go."""


class PageStore(Protocol):
    """Pages as they are now."""

    def pages(self) -> Iterator[PageRow]:
        """Every URL that answered."""

    def unanswered(self, state: State) -> Iterator[PageRow]:
        """The URLs in a state that never answered, with the reason."""

    def held_reasons(self) -> dict[str, int]:
        """For each reason how many URLs are held back; looks at every URL."""

    def excluded_reasons(self) -> dict[str, int]:
        """For each reason how many URLs are not followed; looks at every URL."""


class ChangeStore(Protocol):
    """Versions of all pages in the order they came."""

    def newest_version(self) -> int:
        """The number of the newest version, 0 when there is none."""

    def changes(self, before: int | None = None) -> Iterator[VersionRow]:
        """Versions of all pages, the newest first, from before a number on."""

    def changes_after(self, number: int, most: int) -> list[VersionRow]:
        """The first versions behind a number, the oldest first; numbers grow in the order of
        commits."""


class HistoryStore(UrlLookup, Protocol):
    """The versions of one page."""

    def versions(self, page: int) -> list[VersionRow]:
        """All versions of a page, the first one first."""


class LinkStore(UrlLookup, Protocol):
    """Where links lead and come from."""

    def edges(self) -> Iterator[tuple[str, list[str]]]:
        """Each page with the pages it links to."""

    def behind_login(self) -> set[int]:
        """The URLs that were read in a session of the user's, or found on such a page."""

    def links_of(self, id: int) -> bytes:
        """The 64-bit ids that a page links to, packed; empty when it was not visited or has
        none."""

    def linking(self, id: int) -> list[int]:
        """The pages that link to a URL or to another name of it."""


class HostStore(HostLookup, Protocol):
    """Every host, and how it stands with its URLs."""

    def hosts(self) -> Iterator[Host]: ...

    def host_states(self) -> dict[int, dict[int, int]]:
        """How many URLs of every host are in which state; looks at every URL."""

    def sitemap_states(self) -> dict[int, list[tuple[int, str, int]]]:
        """The same for sitemaps: states and reasons, and how many there are of each."""
