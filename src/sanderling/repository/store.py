"""The contract of a state store. One writer, any number of readers; a commit is whole or not at all."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

from sanderling.model import (
    Before,
    Change,
    Commit,
    Counts,
    Host,
    NewUrl,
    PageFacts,
    PageRow,
    RevisitFacts,
    Reworked,
    State,
    Subject,
    Task,
    VersionRow,
)

# Called before each try to reach a database that went away, with the reason, and once with none when it is back. It
# takes its time, so that the database is not asked too often, and it may raise to end the waiting.
WhileAway = Callable[[str], None]


class Waiting(NamedTuple):
    """A host with URLs to visit."""

    host: Host
    queued: int


class UrlFacts(NamedTuple):
    """What ranking wants to know of a URL."""

    id: int
    host: int
    depth: int
    state: int
    rank: float
    alias: int


class ScopedUrl(NamedTuple):
    """An unvisited URL that scope has a say in."""

    id: int
    url: str
    host: int
    depth: int
    state: int
    reason: str


class Joins(NamedTuple):
    """How the tables of a store hang together, for queries in the words that SQLite and PostgreSQL share."""

    urls: str  # u, and p where it was visited
    versions: str  # v, with u, p and the WARC file w
    links: str  # l, with u


class Store(Protocol):
    """What the server needs of its state, and what the commands read."""

    joins: ClassVar[Joins]

    notices: list[str]
    """What the user should know about opening it, such as an upgrade and where the backup is."""

    def close(self) -> None: ...

    # writing
    def commit(self, commit: Commit) -> bool:
        """Writes a report whole; False when it was written before and nothing was changed."""

    def seed(self, seeds: list[str], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        """Remembers seeds and admits their URLs."""

    def set_aside(self, id: int, reason: str, counts: Counts) -> None:
        """Settles a URL that no client may touch again."""

    def wake(self, now: float) -> list[tuple[int, int]]:
        """Queues the URLs whose pause after a failed try is over; returns (host, how many)."""

    def retry_failed(self, counts: Counts) -> None:
        """Queues every page that failed, as if it had never been tried."""

    def rerank(self, ranks: Iterable[tuple[int, float]]) -> None:
        """Gives queued URLs (by id) another rank; what is no longer queued stays as it is."""

    def weigh(self, importances: Iterable[tuple[int, float]]) -> None:
        """Writes how important pages (by id) are; what was not visited is left out."""

    def revisit_all(self, now: float, sitemaps: bool) -> None:
        """Makes every visited page due, and the sitemaps that were read if they are wanted."""

    def forget_due(self) -> None:
        """Makes no visited URL due."""

    def distrust(self, warc: str, start: int, end: int) -> int:
        """Has pages whose newest copy lies in these bytes of an archive fetched whole at their next visit.

        Returns how many pages that are."""

    def note(self, key: str, value: str) -> None:
        """Remembers a text under a name."""

    def noted(self, key: str) -> str:
        """A text that was remembered, empty when none was."""

    def rejudge(self, page: int, changes: list[tuple[int, Change]], fingerprint: bytes, noise: bytes) -> None:
        """Writes anew what versions (by number) of a page changed, and what its next version is compared with."""

    # reading for the server
    def counts(self) -> Counts: ...

    def seeds(self) -> list[str]:
        """What the user named."""

    def homes(self) -> list[str]:
        """Where the seeds were redirected to: scope is measured from these too."""

    def waiting(self) -> list[Waiting]:
        """Every host with queued URLs."""

    def depths(self) -> dict[int, int]:
        """How many URLs are queued at each depth, those that wait for another try included."""

    def next_wake(self) -> float | None:
        """When the next URL that waits for another try is due."""

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        """The best queued URLs of a host that are not leased already, of those with `above` <= rank < `below`."""

    def ranks(self, most: int) -> list[float]:
        """Ranks of queued URLs: all, or when there are more than `most`, about that many of them at random."""

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        """Which of these URLs (text by id) are not known yet; an id that is known by another text is logged."""

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        """Text and state of those ids that are known."""

    def number(self, id: int) -> int | None:
        """The number of a URL's row, which says when it was found."""

    def due(self, after: float, until: float) -> list[tuple[int, int]]:
        """(host, how many) of the visited URLs that are to be visited again, by when they are due."""

    def next_due(self, after: float) -> float | None: ...

    def take_due(self, host: int, count: int, leased: Collection[int], now: float) -> list[Task]:
        """The URLs of a host that are longest overdue for another visit, with what the last one brought."""

    def tasks(self, ids: list[int]) -> list[Task]:
        """These URLs as tasks for another visit, in this order, with what the last one brought."""

    def before(self, ids: list[int]) -> dict[int, Before]:
        """What is kept of each page's last version."""

    def seen(self, ids: list[int]) -> dict[int, RevisitFacts]:
        """What the update module knows of these pages and sitemaps."""

    def subjects(self) -> Iterator[Subject]:
        """Everything that may be visited again, in whatever order is read fastest."""

    def sitemaps(self) -> list[tuple[int, int, float, float]]:
        """(id, host, last read, days until the next time) of every sitemap that was read; looks at every URL."""

    def excluded_for(self, reason: str) -> list[int]:
        """URLs that are excluded for a reason; looks at every URL."""

    def trust(self) -> dict[int, bytes]:
        """What the update module has learned about each host."""

    def host(self, id: int) -> Host | None: ...

    def last_number(self) -> int:
        """The highest number of a URL; they are numbered in the order they were found, with gaps."""

    def judged(self, first: int, end: int) -> list[ScopedUrl]:
        """The URLs numbered from `first` to before `end` that are queued, held back or excluded, other names aside."""

    def warcs(self) -> dict[str, int]:
        """How many bytes of each WARC file are committed."""

    # reading the whole, for what is computed in the background
    def url_facts(self) -> Iterator[UrlFacts]:
        """Every URL, in whatever order is read fastest."""

    def url_texts(self) -> Iterator[tuple[int, str]]:
        """Every URL's id and text, in whatever order is read fastest."""

    def relevances(self) -> Iterator[tuple[int, float]]:
        """Every URL of which a client said how relevant it is, in whatever order is read fastest."""

    def visit_times(self) -> Iterator[tuple[int, float]]:
        """Every page that answered and when it last did, in whatever order is read fastest."""

    def importances(self) -> Iterator[tuple[int, float]]:
        """Every page that answered and how important it is, in the order they lie."""

    def packed_links(self) -> Iterator[tuple[int, bytes]]:
        """Every page with the 64-bit ids it links to, packed, in whatever order is read fastest."""

    # reading for people
    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of a query in the words that SQLite and PostgreSQL share, with ? where values go; see `views`."""

    def pages(self) -> Iterator[PageRow]:
        """Every URL that answered."""

    def unanswered(self, state: State) -> Iterator[PageRow]:
        """The URLs in a state that never answered, with the reason."""

    def versions(self, page: int) -> list[VersionRow]:
        """All versions of a page, the first one first."""

    def with_history(self) -> Iterator[tuple[int, int]]:
        """Pages with more than one version, each with how many visits found it unchanged."""

    def changes(self, before: int | None = None) -> Iterator[VersionRow]:
        """Versions of all pages, the newest first, from before a number on."""

    def changes_after(self, number: int, most: int) -> list[VersionRow]:
        """The first versions behind a number, the oldest first; numbers grow in the order of commits."""

    def newest_version(self) -> int:
        """The number of the newest version, 0 when there is none."""

    def edges(self) -> Iterator[tuple[str, list[str]]]:
        """Each page with the pages it links to."""

    def links_of(self, id: int) -> bytes:
        """The 64-bit ids that a page links to, packed; empty when it was not visited or has none."""

    def linking(self, id: int) -> list[int]:
        """The pages that link to a URL or to another name of it."""

    # one page, several names; and what is held back
    def rework(self, changes: list[Reworked], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        """Changes URLs that are not leased, admits others and keeps what was learned, in one transaction."""

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        """What is known about the content of those URLs that are known."""

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        """(page, URL) for the pages that say that they stand for one of these URLs, or moved there for good."""

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        """(id, depth) of URLs of a host that are held back for a reason."""

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        """(id, host, depth, reason) of what is held back."""

    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        """(id, depth) of unvisited URLs of a host that were merged into others for a reason; looks at every URL."""

    def hosts(self) -> Iterator[Host]:
        """Every host."""

    def host_states(self) -> dict[int, dict[int, int]]:
        """How many URLs of every host are in which state; looks at every URL."""

    def sitemap_states(self) -> dict[int, list[tuple[int, str, int]]]:
        """The same for sitemaps: states and reasons, and how many there are of each."""

    def simhashes(self) -> Iterator[tuple[int, int, float]]:
        """(id, simhash, first seen) of every page that has one."""
