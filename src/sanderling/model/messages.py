"""What server and clients say to each other, leases one way and reports the other, and what anybody may ask of a server.

Clients may be on other machines, so no message between them and the server holds a path, a process id or a time of day.
Times are by the monotonic clock of the sender; `clock` says what it shows as the message is sent, and the receiver
brings them to its own (`clock.RemoteClock`).
"""

from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta, Struct

from sanderling.model.states import Kind, Outcome

# Raised whenever a message changes its meaning; both sides refuse a stranger.
PROTOCOL = 6

# It becomes part of file names, so it must not be anything else than a name.
ClientName = Annotated[str, Meta(pattern="^[0-9a-f]{12}$")]


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

    clock: float
    hosts: list[HostLease]


class Recall(Struct, frozen=True, tag=True):
    """Server to client: give back what has not been begun; the next report names it."""


class Stop(Struct, frozen=True, tag=True):
    """Server to client: report what is finished, drop the rest and leave."""


class Welcome(Struct, frozen=True, tag=True):
    """Server to client, once: the settings of this crawl as JSON."""

    settings: bytes


class Found(NamedTuple):
    """A URL met for the first time by this client, with what a sitemap or feed says about it.

    `relevance` is how well the link fits what the crawl is after, from 0 to 1; 0 when nobody says.
    """

    id: int
    url: str
    anchor: str
    kind: int = Kind.PAGE
    modified: float = 0.0
    relevance: float = 0.0


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
    fingerprint: bytes = b""  # in the encoding of the change detector
    links: bytes = b""  # packed 64-bit ids, each once
    found: list[Found] = []
    stored: Stored | None = None
    relevance: float = 0.0  # how well the page fits what the crawl is after, from 0 to 1; 0 when nobody says


class HostNote(Struct, frozen=True, array_like=True):
    """What a client learned about a host: its robots rules, when it may be asked again, how long a page takes."""

    origin: str
    robots: Robots | None
    not_before: float
    interval: float
    address: str = ""  # where it was found, when that matters


class Hello(Struct, frozen=True, tag=True):
    """Client to server, first of all."""

    protocol: int
    client: ClientName


class Report(Struct, frozen=True, tag=True):
    """Client to server: a batch of visits, committed whole. `number` makes a repeated report harmless."""

    client: str
    number: int
    clock: float
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
