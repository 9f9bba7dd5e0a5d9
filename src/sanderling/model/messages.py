"""Messages between the server and its clients, and the requests that anyone with access to the
folder may send.

Clients may run on other machines, so these messages contain no path, no process id and no time of
day. Times are of the monotonic clock of the sender. `clock` is what it shows when the message is
sent; the receiver converts the times to its own clock (`clock.RemoteClock`).
"""

from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta, Struct

from sanderling.model.form_facts import Form, Turner
from sanderling.model.states import Kind, Outcome

# Increase it whenever a message changes its meaning. Both sides refuse another number.
PROTOCOL = 17

# It becomes part of file names, so it must not contain anything else.
ClientName = Annotated[str, Meta(pattern="^[0-9a-f]{12}$")]


class Stored(NamedTuple):
    """Where a response is in a WARC file."""

    warc: str
    offset: int
    length: int


class Lost(NamedTuple):
    """Bytes of a WARC file that cannot be read."""

    warc: str
    start: int
    end: int


class HintedEvent(NamedTuple):
    """An event on an element."""

    event: str  # as in `click`
    selector: str
    group: int = 0  # events of a page with the same number lead to the same state; 0 for none


class Task(NamedTuple):
    """One URL to visit."""

    id: int
    url: str
    depth: int
    attempts: int
    hops: int  # redirects (or nested sitemaps) that led here
    kind: int = Kind.PAGE
    # From the last visit, if the page is visited again.
    etag: str = ""
    modified: str = ""
    digest: bytes = b""
    stored: Stored | None = None  # where the newest version is
    text_digest: bytes = b""  # of the text of the newest version
    fingerprint_digest: bytes = b""  # of its fingerprint, which has only what the user watches
    body: str = ""  # of a POST; empty for a GET
    events: tuple[HintedEvent, ...] = ()  # that show more of the page, as its site says


class Robots(Struct, frozen=True, array_like=True):
    """A cached robots.txt: its text, if there is one, and why everything is allowed or not."""

    at: float
    allowed: bool | None  # None: the rules in `text` decide
    text: str
    reason: str
    certificate_ends: float = 0.0  # when the host's certificate ends, as a time of day; 0 if that is not known


class HostLease(Struct, frozen=True, array_like=True):
    """Some tasks of one host, with its politeness limits."""

    origin: str
    connections: int
    not_before: float
    trusted: bool  # named by the user
    robots: Robots | None
    tasks: list[Task]
    private: list[str] = []  # the private addresses that it had when it was named: it may be there
    rendering: bytes = b""  # what is known about rendering its pages, in the encoding of `model.rendering`


class Lease(Struct, frozen=True, tag=True):
    """Server to client: fetch these. An empty lease only says that the server is alive."""

    clock: float
    hosts: list[HostLease]


class Recall(Struct, frozen=True, tag=True):
    """Server to client: return the tasks that have not been started. The next report lists them."""


class Stop(Struct, frozen=True, tag=True):
    """Server to client: report what is finished, drop the rest and exit."""


class Welcome(Struct, frozen=True, tag=True):
    """Server to client, once: the settings of this crawl as JSON, the weights of its topic, if it
    has one, and why some logins are not to be tried, by origin.

    `now` is the time of day at the server, which dates the records of all archives.
    """

    settings: bytes
    topic: bytes = b""
    refused: dict[str, str] = {}
    now: float = 0.0


class Found(NamedTuple):
    """A URL that this client reports for the first time, with its entry in a sitemap or feed if
    there is one.

    `relevance` says how well the link fits the topic of the crawl, from 0 to 1. It is 0 without a
    topic.
    """

    id: int
    url: str
    anchor: str
    kind: int = Kind.PAGE
    modified: float = 0.0
    relevance: float = 0.0


# No screenshot that is kept has more bytes.
LARGEST_SCREENSHOT = 4 << 20


class Conversion(NamedTuple):
    """What a browser made of a page, as it is written to a WARC file."""

    html: bytes
    notes: bytes  # WARC fields that describe the rendering
    truncated: bool = False
    robots: tuple[bytes, ...] = ()  # the X-Robots-Tag headers of the page
    screenshot: bytes = b""  # as WebP


class Exchange(NamedTuple):
    """One request and its response, as they are written to a WARC file."""

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
    revisit: str = ""  # the content is unchanged: "304" if the server says so, "same" if the bytes are equal
    original: Stored | None = None  # where the unchanged content is
    conversion: Conversion | None = None  # of a page that was rendered or reduced
    left_out: bool = False  # the user does not want the body; it may be there in another form
    login: bool = False  # asked for in a session of the user's
    is_file: bool = False  # of a page: its bytes may be kept under another URL


class Visit(Struct, frozen=True, array_like=True, kw_only=True):
    """The result of one task."""

    id: int
    outcome: Outcome
    status: int = 0
    at: float = 0.0
    size: Annotated[int, Meta(ge=0)] = 0
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
    gist: int = 0  # hash of the text without digits: equal for pages that differ only in numbers
    core: int = 0  # the same without the words of the URL: equal for pages that differ only in their own names
    canonical: int = 0  # the identity of its rel=canonical, or of the target of a permanent redirect
    truncated: bool = False
    noindex: bool = False
    login: bool = False  # read in a session of the user's
    permanent: bool = False  # a redirect that will not change
    retry_after: float = 0.0
    fingerprint: bytes = b""  # in the encoding of the change detector
    links: bytes = b""  # packed 64-bit ids, each once
    images: bytes | None = None  # that the page shows, likewise; None if they were not looked for
    found: list[Found] = []
    stored: Stored | None = None
    relevance: float = 0.0  # how well the page fits the topic of the crawl, from 0 to 1; 0 without a topic
    extracted: bytes = b""  # the data of the user's extractors as one JSON object
    failed_extractors: dict[str, str] = {}  # the errors of those that failed
    forms: list[Form] = []  # on the page, if the crawl sends forms
    words: str = ""  # of the page, if the crawl sends forms
    turners: list[Turner] = []  # where the results of an answer go on
    lines: bytes | None = None  # of the text, see `client/lines.py`; None for a page without text
    repeats: bool = False  # with a query of several parameters, it says nothing that other queries did not
    # The stored version is the beginning of this one, or the document it was rendered from.
    completes: bool = False


class HostNote(Struct, frozen=True, array_like=True):
    """What a client learned about a host: its robots rules, when the pause ends, and the seconds
    for each page.
    """

    origin: str
    robots: Robots | None
    not_before: float
    interval: float
    address: str = ""  # its IP address, if the crawl shares pauses by address
    rendering: bytes = b""  # what rendering its pages brings, if that is new
    connected: float = 0.0  # seconds that a connection takes, at least; 0 if that is not known


class Hello(Struct, frozen=True, tag=True):
    """Client to server: the first message."""

    protocol: int
    client: ClientName


class VisitReport(Struct, frozen=True, tag=True):
    """Client to server: a batch of visits, for one commit. Because of `number`, a repeated report
    changes nothing.
    """

    client: str
    number: int
    clock: float
    want: int
    visits: list[Visit]
    hosts: list[HostNote]
    warcs: dict[str, int]  # how many bytes of each WARC file of this client are on disk
    returned: list[int] = []  # tasks that were recalled
    messages: list[str] = []  # what the user should be told
    looked_up: float = 0.0  # seconds that requests waited for the addresses of names, in all
    fetched: float = 0.0  # seconds that the same requests took, in all


class Ask(Struct, frozen=True, tag=True):
    """Anyone who may open the folder's socket asks for the state of the crawl. The answer is a
    `LiveAnswer`.
    """


Action = Literal["pause", "resume", "stop", "change", "visit"]


class Command(Struct, frozen=True, tag=True):
    """Anyone who may open the folder's socket commands the server. `changes` are settings by name;
    None means the default.

    `urls` are to be visited now.
    """

    action: Action
    changes: dict[str, Any] = {}
    urls: list[str] = []


class NamedPage(NamedTuple):
    """A page that a source names. `at` is when it changed, as the source says, or when the message
    came.
    """

    id: int
    url: str
    what: Literal["new", "changed", "gone"]
    at: float
    events: tuple[HintedEvent, ...] = ()  # that show more of it
    rank: float = 0.0  # the most important first, as the source says; 0 to 1


class Told(Struct, frozen=True, tag=True):
    """Anyone who may open the folder's socket passes on what a source says of pages of one host.

    `cursor` is how far the source was read. It is remembered under `key` in the same commit.
    """

    source: Literal["indexnow", "websub", "report"]
    origin: str
    pages: list[NamedPage]
    key: str = ""
    cursor: str = ""
    silence_until: float = 0.0  # what it does not name did not change before this; 0 when it says nothing about that
    complete: bool = False  # it names all pages of the host
    taken_until: float = 0.0  # another crawler is at work there, and asks others to wait


ToServer = Hello | VisitReport | Ask | Command | Told


ToClient = Welcome | Lease | Recall | Stop
