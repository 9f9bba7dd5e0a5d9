"""Requests, responses and what answers the ones with the others. Nothing here knows libcurl."""

import time
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol
from urllib.parse import quote

from sanderling.model import HintedEvent
from sanderling.model.reasons import reason
from sanderling.network import names_private
from sanderling.settings import Settings
from sanderling.urls import hostname, request_identity

_ASCII = bytes(range(128))

# Whether a connection to this address may be made now. Asked at the moment of connecting, when the
# address is known.
MayConnect = Callable[[str], bool]


class Request(NamedTuple):
    """One request."""

    url: str
    trusted: bool  # named by the user: the name may be one of a private network
    limit: int  # how many bytes of the body are wanted, after decompression
    headers: tuple[tuple[str, str], ...] = ()  # beside those that every request has
    skip: tuple[str, ...] = ()  # how the media types begin whose bodies are not wanted
    method: str = "GET"
    body: bytes = b""
    private: tuple[str, ...] = ()  # the private addresses that it may lead to
    renderable: bool = False  # it is for a page, which a browser may render
    made_from: str = ""  # what the page was made from when it was last rendered
    digest: bytes = b""  # of the version that is stored, if there is one
    events: tuple[HintedEvent, ...] = ()  # that show more of the page, as its site says
    # It gets the user's session at its origin, if there is one: as a page, which shows whether the
    # session still holds.
    session: Literal["", "part", "page"] = ""
    cookies: bool = True  # the cookies of the crawl are for it
    certificate: bool = False  # when the certificate of the host ends is wanted, too

    @property
    def id(self) -> int:
        """The identity of what is asked for: that of the URL for a plain GET."""
        return request_identity(self.url, self.method, self.body)


class Rendered(NamedTuple):
    """What a browser made of a page."""

    html: bytes  # the DOM, in UTF-8
    notes: tuple[tuple[str, str], ...] = ()  # what the archive says about it
    truncated: bool = False
    made_from: str = ""  # by which a later visit sees that it need not be rendered again
    as_before: bool = False  # nothing that it is made from has changed; there is no DOM
    found: tuple[tuple[str, str], ...] = ()  # URLs that only a browser can show, with the texts that lead there
    canonical: str = ""  # the address under which the page says that it is this
    screenshot: bytes = b""  # as WebP
    gone: bool = False  # the events that led to this state lead nowhere now


class Response:
    """The response to one request, or why there is none. The fetcher fills it in until it is
    finished."""

    __slots__ = (
        "address", "certificate_ends", "chunks", "connected", "crowded_out", "cut_short", "error", "hopeless", "host_is_dead", "lines",
        "looked_up", "not_rendered", "protocol", "rendered", "seconds", "sent", "session", "signed_out", "since",
        "size", "started", "status", "truncated",
    )  # fmt: skip

    def __init__(self) -> None:
        self.status = 0
        self.lines: list[bytes] = []  # the status line and the headers; none for ftp and gopher
        self.chunks: list[bytes] = []  # the body, decompressed
        self.size = 0
        self.truncated = False
        self.cut_short = False  # truncated because its beginning is not on the topic
        self.error = ""  # why nothing came back, as a reason (`model.reasons`)
        self.crowded_out = False  # ended for lack of memory: the request is to be sent again, later
        self.hopeless = False  # another try would end the same way
        self.host_is_dead = False  # every other request to the host would end the same way for now
        self.seconds = 0.0
        self.looked_up = 0.0  # seconds until the address of the name was known
        self.connected = 0.0  # seconds that the connection took; 0 for one that was there
        self.address = ""
        self.certificate_ends = 0.0  # a time of day, if that was asked for
        self.protocol = ""  # "" for HTTP/1.x
        self.sent = b""  # the request as it was sent, in the form of HTTP/1.1; empty for ftp and gopher
        self.rendered: Rendered | None = None
        self.session = 0  # the generation of the user's session that it was asked for in; 0 without one
        self.signed_out = False  # that session is over: the request is to be sent again after a login
        self.not_rendered = ""  # why a page that was to be rendered is not, as a reason
        self.restart()

    def restart(self) -> None:
        """The request is sent only now."""
        self.started = time.time()  # for the archive
        self.since = time.monotonic()

    @property
    def body(self) -> bytes:
        return self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)

    def headers(self) -> list[tuple[bytes, bytes]]:
        pairs = (line.partition(b":") for line in self.lines[1:])
        return [(name.strip(), value.strip()) for name, colon, value in pairs if colon]

    def value_of(self, name: bytes) -> str:
        """The first header of this name."""
        return next((v.decode("utf-8", "replace") for k, v in self.headers() if k.lower() == name), "")

    def location(self) -> str:
        """The target of a redirect. Its bytes beyond ASCII are escaped, since their charset is
        unknown."""
        return next((quote(v, safe=_ASCII) for k, v in self.headers() if k.lower() == b"location"), "")


class Fetcher(Protocol):
    """Answers requests, many at a time. It registers its descriptors and timers with the client's
    loop."""

    def start(self, request: Request, may_connect: MayConnect | None = None) -> Response:
        """Sends a request that is not `refused`. `finished` returns the response when it is
        complete."""

    def expect(self, origin: str) -> None:
        """Requests to a host will come soon."""

    def finished(self) -> list[Response]:
        """The responses that were completed since the last call, failed ones included."""

    def close(self) -> None:
        """Drops all requests in flight."""


class Learner(Protocol):
    """A fetcher that learns something about hosts. The server keeps it, in an encoding of the
    fetcher's own."""

    def hear_of(self, origin: str, known: bytes) -> None:
        """What the server knows about a host."""

    def learned(self) -> dict[str, bytes]:
        """What is new since the last call, by origin."""

    def messages(self) -> list[str]:
        """What the user should be told, each once."""


def refused(request: Request, settings: Settings) -> str:
    """Why a request must not be sent at all: the host name itself is private. Else an empty
    string."""
    if request.trusted or settings.allow_private or not names_private(name := hostname(request.url)):
        return ""
    return reason("private-address", name)
