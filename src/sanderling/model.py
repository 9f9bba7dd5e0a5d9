"""The values that travel between the rooms. Rooms import this module and never each other.

A page's life in these types: a `Task` is leased to a client inside a `Lease`; the client answers with a `Visit`
inside a `Report`; the server turns the report into one `Commit`, which the store writes in one transaction.
"""

from enum import IntEnum, IntFlag
from typing import Any, Literal, NamedTuple

from msgspec import Struct

# Raised whenever a message changes its meaning; both sides refuse a stranger.
PROTOCOL = 2


class State(IntEnum):
    """Where a URL stands. A lease lives in the server's memory only: after a crash it is queued again."""

    KNOWN = 0
    QUEUED = 1
    LEASED = 2
    FETCHED = 3
    FAILED = 4
    GONE = 5
    EXCLUDED = 6


class Outcome(IntEnum):
    """How one visit ended."""

    PAGE = 0  # an answer with content, stored
    REDIRECT = 1
    GONE = 2  # 404 or 410
    FAILED = 3  # refused for good: other 4xx, an address or a scheme we do not go to
    RETRY = 4  # time-out, broken connection, 429, 5xx: worth another try
    EXCLUDED = 5  # robots rules or a filter of the user
    SOURCE = 6  # a sitemap was read
    UNCHANGED = 7  # as it was at the last visit: 304, or the same bytes


# The only ways from a lease to a settled state; a RETRY without tries left is settled as FAILED.
SETTLED = {
    Outcome.PAGE: State.FETCHED,
    Outcome.REDIRECT: State.FETCHED,
    Outcome.GONE: State.GONE,
    Outcome.FAILED: State.FAILED,
    Outcome.RETRY: State.QUEUED,
    Outcome.EXCLUDED: State.EXCLUDED,
    Outcome.SOURCE: State.FETCHED,
    Outcome.UNCHANGED: State.FETCHED,
}


class Kind(IntEnum):
    """What a URL is visited for."""

    PAGE = 0
    SOURCE = 1  # a sitemap: read for the URLs in it, not kept as a page


class Task(NamedTuple):
    """One URL to visit."""

    id: int
    url: str
    depth: int
    attempts: int
    hops: int  # redirects (or nested sitemaps) that led here
    kind: int = Kind.PAGE
    # What the last visit brought, for a page that is visited again.
    etag: str = ""
    modified: str = ""
    digest: bytes = b""


class Robots(Struct, frozen=True, array_like=True):
    """What a host's robots.txt said, as it is cached: the text when there was one, and why it counts as it does."""

    at: float
    allowed: bool | None  # None: by the rules in `text`
    text: str
    reason: str


class HostLease(Struct, frozen=True, array_like=True):
    """Some tasks of one host, with the manners that apply to it."""

    origin: str
    connections: int
    not_before: float
    trusted: bool  # named by the user, so it may be at a private address
    robots: Robots | None
    tasks: list[Task]


class Lease(Struct, frozen=True, tag=True):
    """Server to client: fetch these. An empty one only says that the server is alive."""

    hosts: list[HostLease]


class Recall(Struct, frozen=True, tag=True):
    """Server to client: give back what has not been begun; the next report names it."""


class Stop(Struct, frozen=True, tag=True):
    """Server to client: report what is finished, drop the rest and leave."""


class Welcome(Struct, frozen=True, tag=True):
    """Server to client, once: the settings of this crawl as JSON and where bodies go."""

    settings: bytes
    warc_folder: str
    marker: str


class Found(NamedTuple):
    """A URL met for the first time by this client, with what a sitemap or feed says about it."""

    id: int
    url: str
    anchor: str
    kind: int = Kind.PAGE
    modified: float = 0.0
    priority: float = 0.0


class Stored(NamedTuple):
    """Where a response lies in a WARC file."""

    warc: str
    offset: int
    length: int


class Exchange(NamedTuple):
    """One request and its answer, as they go into a WARC file."""

    url: str
    at: float
    request: bytes
    head: bytes  # status line and headers, each line ending in CRLF, with the empty line; empty for ftp and gopher
    body: bytes
    mime: str
    address: str
    truncated: bool
    protocol: str  # "" for HTTP/1.x
    notes: bytes  # WARC fields that describe the fetch
    revisit: str = ""  # the content is as it was: "304" by the server's word, "same" by ours


class Visit(Struct, frozen=True, array_like=True, kw_only=True):
    """What came of one task."""

    id: int
    outcome: Outcome
    status: int = 0
    at: float = 0.0
    seconds: float = 0.0
    size: int = 0
    reason: str = ""
    mime: str = ""
    charset: str = ""
    language: str = ""
    title: str = ""
    etag: str = ""
    modified: str = ""
    digest: bytes = b""
    text_digest: bytes = b""
    simhash: int = 0  # of the text; near-duplicates differ in few bits
    gist: int = 0  # hash of the text without digits: equal for pages that differ in numbers only
    core: int = 0  # the same without the words of the URL: equal for pages that differ in their own names only
    canonical: int = 0  # the identity that the page says it stands for, or that it moved to for good
    truncated: bool = False
    noindex: bool = False
    permanent: bool = False  # a redirect that will not change
    retry_after: float = 0.0
    parameters: bytes = b""  # the change parameters, in the encoding of the change detector
    links: bytes = b""  # packed 64-bit ids, each once
    found: list[Found] = []
    stored: Stored | None = None


class HostNote(Struct, frozen=True, array_like=True):
    """What a client learned about a host: its robots rules, when it may be asked again, how long a page takes."""

    origin: str
    robots: Robots | None
    not_before: float
    interval: float
    sitemaps: list[str] = []
    address: str = ""  # where it was found, when that matters


class Hello(Struct, frozen=True, tag=True):
    """Client to server, first of all."""

    protocol: int
    client: str
    pid: int


class Report(Struct, frozen=True, tag=True):
    """Client to server: a batch of visits, committed whole. `number` makes a repeated report harmless."""

    client: str
    number: int
    want: int
    visits: list[Visit]
    hosts: list[HostNote]
    warcs: dict[str, int]  # how far each file of this client is on disk
    returned: list[int] = []  # tasks that were recalled


class Ask(Struct, frozen=True, tag=True):
    """Anybody who may open the folder's socket to server: how is it going? Answered with an `Answer`."""


class Command(Struct, frozen=True, tag=True):
    """The same to server: do this. `changes` are settings by name; None brings one back to its default."""

    action: Literal["pause", "resume", "stop", "change"]
    changes: dict[str, Any] = {}


ToServer = Hello | Report | Ask | Command
ToClient = Welcome | Lease | Recall | Stop


class NewUrl(NamedTuple):
    """A row of AllUrls to be."""

    id: int
    url: str
    host: int
    depth: int
    state: State
    rank: float
    via: int
    hops: int
    anchor: str
    reason: str
    kind: int = Kind.PAGE
    modified: float = 0.0
    priority: float = 0.0
    alias: int = 0  # the URL that this one is only another name of


class ChangeKind(IntFlag):
    """What a new version differs in from the one before."""

    STRUCTURE = 1
    PRESENTATION = 2
    TEXT = 4
    IMAGE = 8
    NEW = 16  # the first version
    GONE = 32  # the page has left: the version is a tombstone

    @property
    def names(self) -> list[str]:
        return [each.name.lower() for each in ChangeKind if each in self and each.name]


class Change(Struct, frozen=True, array_like=True):
    """What the change detector says of a new version."""

    kinds: ChangeKind
    significance: float
    degree: str
    summary: str
    news: bool = True  # worth telling: not only what changes on every visit


class Before(NamedTuple):
    """What is kept of a page's last version to compare the next one with."""

    parameters: bytes
    noise: bytes
    state: int
    status: int
    stored: "Stored | None"


class Seen(NamedTuple):
    """What the update module knows of a page, or of a sitemap, when it is visited again."""

    id: int
    host: int
    announced: float  # when the host says that it changed last; 0 when it says nothing
    at: float  # when its content was last made sure of
    size: int
    etag: str
    modified: str
    evidence: bytes
    interval: float
    failures: int


class Belief(NamedTuple):
    """What the update module keeps of a page that was visited again, in its own encoding."""

    id: int
    at: float
    since: float  # the visit before
    kinds: int  # of the changes that were found last
    evidence: bytes
    interval: float  # until the next visit, as policies that adapt it keep it
    tried: float  # the last visit, answered or not
    failures: int  # visits without an answer since the last with one


class Subject(NamedTuple):
    """A page, or a sitemap, that may be visited again, as the whole of them is read for planning."""

    id: int
    host: int
    depth: int
    state: int
    kind: int
    announced: float
    url: str
    status: int
    at: float
    size: int
    importance: float
    not_modified: int
    same: int
    since: float
    kinds: int
    evidence: bytes | None
    interval: float
    tried: float
    failures: int


class Turn(NamedTuple):
    """A visit that is planned."""

    id: int
    host: int
    due: float
    wait: float  # until the one after it, in seconds
    gain: float  # of the collection's freshness
    cost: float  # expected, in the unit of the budget


class VersionRow(Struct, frozen=True, kw_only=True):
    """One version of a page, as `history` and `changes` show it."""

    number: int
    url: str
    at: float
    status: int
    kinds: ChangeKind
    significance: float
    degree: str
    summary: str
    news: bool
    digest: str
    size: int
    mime: str
    warc: str
    offset: int
    length: int
    title: str = ""  # as it is now

    @property
    def stored(self) -> "Stored":
        return Stored(self.warc, self.offset, self.length)


class Searchable(NamedTuple):
    """A version as the search index needs it."""

    number: int
    page: int  # the number of its URL in the store
    version: int  # which of the page's versions, from 1
    url: str
    at: float
    until: float | None  # when the next version was seen; None for the last one
    status: int
    kinds: ChangeKind
    changed_at: float  # the last change of the page that was worth telling, up to this version; 0 for none
    gone: bool  # the page has left since, and not come back
    text_digest: bytes
    simhash: int  # 0 for versions that are not the last one
    noindex: bool | None  # None: not known but from the document
    mime: str
    stored: Stored


class HitFacts(NamedTuple):
    """What a search wants to know of a page as it is now."""

    importance: float
    fetched_at: float
    noindex: bool
    alias: bool  # it is only another name of a page


class Settled(NamedTuple):
    """The state a visit leaves its URL in; `due` is when to try again, 0 for never or at once."""

    id: int
    state: State
    attempts: int
    due: float
    reason: str


class Reworked(NamedTuple):
    """A URL that was not visited and is seen in another light: held back, let go, or another name of `alias`."""

    id: int
    state: State
    reason: str
    alias: int = 0


class PageFacts(NamedTuple):
    """What tells whether two URLs are one page; no status and digest for one that never answered."""

    state: int
    alias: int
    status: int
    text_digest: bytes
    simhash: int


class Host(Struct):
    """What the store knows about an origin."""

    id: int
    origin: str
    robots: Robots | None = None
    not_before: float = 0.0
    interval: float = 0.0
    learned: bytes = b""  # what the dispatcher learned about its URLs, in its own encoding


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


class ClientState(Struct, frozen=True):
    """A client process of a running crawl."""

    name: str
    pid: int
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
    rejudging: bool = False  # URLs are looked through for those that a change of scope concerns


class Answer(Struct, frozen=True, tag=True):
    """Server to who asked or commanded; `problem` says why a command was not followed."""

    live: Live
    problem: str = ""


class Commit(Struct):
    """Everything one report changes, for one transaction."""

    client: str
    number: int
    urls: list[NewUrl]
    settled: list[Settled]
    visits: list[Visit]
    hosts: list[Host]
    warcs: dict[str, int]
    counts: Counts
    homes: list[str] | None = None  # all URLs that scope is measured from, when there are new ones
    changes: dict[int, Change] = {}  # of the visits that brought a new version
    noise: dict[int, bytes] = {}  # what is known about the noise of the pages visited again
    aliases: list[tuple[int, int]] = []  # URLs that turned out to be only other names, and of which
    dated: list[tuple[int, float, float]] = []  # known URLs with the date and priority that a sitemap or feed gives
    beliefs: list[Belief] = []  # of the pages that were visited again
    trust: list[tuple[int, bytes]] = []  # what the update module has learned about hosts, in its own encoding


class PageRow(Struct, frozen=True, kw_only=True):
    """The current facts of a URL, as `sanderling pages --json` prints them; one that never answered has no status."""

    url: str
    status: int = 0
    state: str
    depth: int
    fetched_at: float = 0.0
    changed_at: float = 0.0
    visits: int = 0
    changes: int = 0
    importance: float = 0.0
    digest: str = ""
    title: str = ""
    mime: str = ""
    charset: str = ""
    language: str = ""
    size: int = 0
    truncated: bool = False
    noindex: bool = False
    redirect: str | None = None
    permanent: bool = False  # a redirect that will not change
    same_as: str | None = None  # the URL that this one is only another name of
    simhash: str = ""  # 64 bits in hexadecimal; near-duplicates differ in 3 of them or fewer
    near: str | None = None  # a page with almost the same text, when one was looked for
    reason: str
    warc: str | None = None
    offset: int = 0
    length: int = 0
