"""How a crawl is doing: its totals and, while it runs, its clients and hosts."""

import msgspec
from msgspec import Struct


class Counts(Struct):
    """Totals of a crawl, kept up with every commit so that no command has to count rows."""

    known: int = 0
    queued: int = 0
    leased: int = 0
    fetched: int = 0
    failed: int = 0
    gone: int = 0
    excluded: int = 0
    held: int = 0  # known, and visited only once more like them bring something new
    pages: int = 0
    redirects: int = 0
    versions: int = 0
    bytes: int = 0
    retried: int = 0
    truncated: int = 0
    visits: int = 0  # answered visits, first and later ones
    changed: int = 0  # later visits that found a change worth telling
    not_modified: int = 0  # later visits answered with 304
    same: int = 0  # later visits that brought the same bytes
    left: int = 0  # later visits that found a page gone
    back: int = 0  # later visits that found it there again
    quiet: int = 0  # later visits that found other bytes and nothing worth telling
    missed: int = 0  # later visits that did not get to see the page

    def with_leases(self, leased: int) -> "Counts":
        """As people read them: what is leased is no longer queued, or, when it is visited again, no longer fetched."""
        first = min(leased, self.queued)
        fetched = max(0, self.fetched - (leased - first))
        return msgspec.structs.replace(self, leased=leased, queued=self.queued - first, fetched=fetched)


class ClientState(Struct, frozen=True):
    """A client process of a running crawl."""

    name: str
    pid: int  # 0 for one that the crawl did not start itself
    leased: int
    visits: int
    silent: float  # seconds since it was heard of
    visits_per_second: float = 0.0
    bytes_per_second: float = 0.0
    failing: float = 0.0  # the share of its visits that no server answered
    late: float = 0.0  # how long a page takes to come back, as a multiple of what was planned
    share: float = 1.0  # how much of the usual stock it gets: less when it is late or failing, more when it is quick


class HostState(Struct, frozen=True):
    """A host that is being visited right now."""

    origin: str
    queued: int
    leased: int
    interval: float  # seconds that a page of it takes, its pause included
    not_before: float


class Mishap(Struct, frozen=True):
    """A visit that brought no page."""

    at: float
    url: str
    status: int
    reason: str


class Live(Struct, frozen=True, kw_only=True):
    """How a running crawl is doing."""

    at: float
    pid: int
    seconds: float
    paused: bool
    stopping: bool
    counts: Counts
    leased: int
    waiting: int  # for a visit, the first or another
    hosts: int  # with work
    left: int | None  # pages until the limit
    replaced: int  # clients that died
    lists: list[int] | None  # about how long the three lists are; None when pages are visited in order of depth
    pages_per_second: float
    visits_per_second: float
    bytes_per_second: float
    clients: list[ClientState]
    active: list[HostState]  # some of the hosts that are being visited
    mishaps: list[Mishap]  # the last ones, newest first
    away: bool = False  # the network
    rejudging: bool = False  # URLs are looked through for those that a change of scope concerns


class LiveAnswer(Struct, frozen=True, tag=True):
    """Server to who asked or commanded; `problem` says why a command was not followed."""

    live: Live
    problem: str = ""
