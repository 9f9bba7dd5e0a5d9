"""The state of a crawl: its totals and, while it runs, its clients and hosts."""

import msgspec
from msgspec import Struct


class Counts(Struct):
    """Totals of a crawl. Every commit updates them, so that no command has to count rows."""

    known: int = 0
    queued: int = 0
    leased: int = 0
    fetched: int = 0
    failed: int = 0
    gone: int = 0
    excluded: int = 0
    held: int = 0  # known, but held back until similar URLs bring new content
    pages: int = 0
    redirects: int = 0
    versions: int = 0
    bytes: int = 0
    retried: int = 0
    truncated: int = 0
    visits: int = 0  # answered visits, first and later ones
    changed: int = 0  # later visits that found news
    not_modified: int = 0  # later visits answered with 304
    same: int = 0  # later visits that received the same bytes
    vanished: int = msgspec.field(default=0, name="left")  # later visits that found a page gone
    back: int = 0  # later visits that found a gone page there again
    quiet: int = 0  # later visits that received other bytes but found no news
    missed: int = 0  # later visits that did not receive the page
    requisites: int = 0  # files that pages need; they are in no other total but `bytes`
    requisites_queued: int = 0
    requisites_failed: int = 0

    def with_leases(self, leased: int) -> "Counts":
        """The totals to show: leased URLs are not counted as queued, or as fetched if they are
        visited again."""
        first = min(leased, self.queued)
        again = leased - first - min(leased - first, self.requisites_queued)
        return msgspec.structs.replace(
            self, leased=leased, queued=self.queued - first, fetched=max(0, self.fetched - again)
        )


class ClientState(Struct, frozen=True):
    """A client process of a running crawl."""

    name: str
    pid: int  # 0 if the crawl did not start it
    leased: int
    visits: int
    silent: float  # seconds since its last message
    visits_per_second: float = 0.0
    bytes_per_second: float = 0.0
    failing: float = 0.0  # the share of its visits that got no answer
    late: float = 0.0  # the time until a page is reported, as a multiple of the planned time
    share: float = (
        1.0  # the size of its leases, relative to the usual: less if it is late or failing, more if it is fast
    )
    machine: str = ""  # of a cluster; empty for the machine of the server


class HostState(Struct, frozen=True):
    """A host that is being visited."""

    origin: str
    queued: int
    leased: int
    interval: float  # seconds for each page, including the pause
    not_before: float


class MachineState(Struct, frozen=True):
    """A machine of the cluster that a crawl runs on."""

    name: str
    clients: int
    wanted: int
    weight: float  # how many clients it takes, compared with the others
    away: bool  # it has said nothing for a while
    note: str = ""  # why it has no clients
    bodies: int = 0  # bytes that its clients received
    archived: int = 0  # bytes of archives, as they are in the folder
    sent: int = 0  # the same, as they travelled
    level: int = 1  # how many lines are between it and the server
    relay: bool = False  # it serves other machines, and its clients are theirs
    holds: int = 0  # URLs that it was given and has not reported
    up: int = 0  # bytes of all that it sent to its parent
    down: int = 0  # bytes of all that its parent sent to it


class Mishap(Struct, frozen=True):
    """A visit that failed."""

    at: float
    url: str
    status: int
    reason: str


class Live(Struct, frozen=True, kw_only=True):
    """The state of a running crawl."""

    at: float
    pid: int
    seconds: float
    paused: bool
    stopping: bool
    counts: Counts
    leased: int
    waiting: int  # URLs that wait for their first or a later visit
    hosts: int  # hosts with waiting URLs
    pages_left: int | None = msgspec.field(name="left")  # pages until the limit
    replaced: int  # clients that died
    lists: list[int] | None  # about how long the three lists are; None if pages are visited in order of depth
    pages_per_second: float
    visits_per_second: float
    bytes_per_second: float
    clients: list[ClientState]
    active: list[HostState]  # some of the hosts that are being visited
    mishaps: list[Mishap]  # the last ones, newest first
    away: bool = False  # the network is away
    machines: list[MachineState] = []  # of the cluster, if there is one
    wanted: str = ""  # how many clients are wanted, and why, if that follows from the work
    looked_up: float = 0.0  # seconds that requests waited for the addresses of names, in all
    fetched: float = 0.0  # seconds that requests took, in all
    rejudging: bool = False  # a changed scope is being applied to known URLs


def name_share(live: Live) -> float:
    """The share of the time of requests that went into looking up names."""
    return live.looked_up / live.fetched if live.fetched else 0.0


class VisitReply(Struct, frozen=True):
    """What becomes of a URL that somebody wants visited now."""

    url: str
    accepted: bool
    said: str  # what will be done, or why nothing is


class LiveAnswer(Struct, frozen=True, tag=True):
    """The answer to `Ask` or `Command`. `problem` says why a command was not followed."""

    live: Live
    problem: str = ""
    replies: list[VisitReply] = []
