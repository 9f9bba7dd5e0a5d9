"""Turns the head of a request into the bytes of its answer, without a socket."""

from dataclasses import replace
from email.utils import formatdate, parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from math import ceil
from typing import Literal, NamedTuple

from sanderling.testing import png
from sanderling.testing.application import CONTENT, DOCUMENT, SCRIPT, SCRIPT_PATH
from sanderling.testing.sitemap import EPOCH, sitemap
from sanderling.testing.synthetic import SyntheticWeb
from sanderling.testing.topology import PlannedPage

Kind = Literal["page", "robots", "image", "sitemap", "script", "content"]


class WebRequest(NamedTuple):
    """`url` is absolute. `number` is the number of the host, or None if it is not a host of this
    web."""

    method: str
    url: str
    host: str
    kind: Kind
    web: SyntheticWeb
    number: int | None
    path: str
    headers: dict[bytes, bytes]
    close: bool


class Reply(NamedTuple):
    status: int
    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    extra: str = ""


class Answers:
    def __init__(
        self,
        web: SyntheticWeb,
        origin: str,
        robots: str,
        robots_status: int,
        validators: bool,
        application: bool = False,
    ) -> None:
        self.web = web
        self.direct = replace(web, origin=origin)
        self._origin = origin
        self._robots = Reply(robots_status, robots.encode())
        self._validators = validators
        self._application = application

    def read(self, head: bytes) -> WebRequest:
        first, *lines = head.split(b"\r\n")
        method, _, rest = first.decode("latin-1").partition(" ")
        target, _, protocol = rest.partition(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
        wish = headers.get(b"connection", b"").lower()
        # A request body is never read, so the connection must be closed after a method that may
        # have one.
        close = b"close" in wish or method not in ("GET", "HEAD") or (protocol == "HTTP/1.0" and b"keep" not in wish)
        kind: Kind | None = None
        if self._application and target.startswith(CONTENT + "/"):
            kind, target = "content", target.removeprefix(CONTENT)
        web, url, host = self._aim(target, headers)
        found = web.split(url)
        number, path = found if found else (None, "/" + url.partition("://")[2].partition("/")[2])
        return WebRequest(method, url, host, kind or _kind(path), web, number, path, headers, close)

    def _aim(self, target: str, headers: dict[bytes, bytes]) -> tuple[SyntheticWeb, str, str]:
        """The web, URL and host of a request: through the proxy (absolute target), by its Host
        header, or direct."""
        if target.startswith("/"):
            name = headers.get(b"host", b"").decode("latin-1").partition(":")[0].lower()
            if not name.endswith(".test"):
                return self.direct, self._origin + target, self._origin
            return self.web, f"http://{name}{target}", name
        if target.startswith(self._origin + "/"):
            return self.direct, target, self._origin
        return self.web, target, target.partition("://")[2].partition("/")[0].lower()

    def answer(self, request: WebRequest, t: float) -> tuple[int, bytes]:
        reply = self._reply(request, t)
        head = f"HTTP/1.1 {reply.status} {_PHRASES.get(reply.status, 'Unknown')}\r\nDate: {_date(t)}\r\n{reply.extra}"
        if reply.status != 304:
            head += f"Content-Type: {reply.kind}\r\nContent-Length: {len(reply.body)}\r\n"
        if request.close:
            head += "Connection: close\r\n"
        body = b"" if request.method == "HEAD" or reply.status == 304 else reply.body
        return reply.status, head.encode("latin-1") + b"\r\n" + body

    def _reply(self, request: WebRequest, t: float) -> Reply:
        if request.method not in ("GET", "HEAD"):
            return Reply(405, b"GET and HEAD only\n", extra="Allow: GET, HEAD\r\n")
        if request.kind == "robots" and (request.number is not None or request.web.origin):
            return self._robots
        if self._application and request.path == SCRIPT_PATH:
            return Reply(200, SCRIPT, "text/javascript", "Cache-Control: max-age=3600\r\n")
        if request.number is None:
            return self._stray(request, t)
        if request.kind == "image":
            return _image(request.path, request.web.image_size)
        if request.kind == "sitemap":
            document = sitemap(request.web, request.number, request.path, t)
            return Reply(404) if document is None else Reply(200, document, "application/xml")
        page = request.web.at_path(request.number, request.path)
        if page is None or not request.web.lifetime(page).covers(t):
            status = request.web.status(request.url, t)
            return Reply(status, _PHRASES[status].encode() + b"\n")
        if self._application and request.kind == "page":
            return Reply(200, DOCUMENT, "text/html; charset=utf-8")
        return self._page(request, page, t)

    def _page(self, request: WebRequest, page: PlannedPage, t: float) -> Reply:
        web = request.web
        extra = ""
        if self._validators:
            tag = f'"{web.page_version(page, t)}"'
            modified = ceil(web.page_modified(page, t))
            extra = f"ETag: {tag}\r\nLast-Modified: {_date(modified)}\r\n"
            if _not_modified(request.headers, tag, modified):
                return Reply(304, extra=extra)
        return Reply(200, web.page_body(page, t), "text/html; charset=utf-8", extra)

    def _stray(self, request: WebRequest, t: float) -> Reply:
        """Answers a URL that belongs to no host of this web."""
        if not request.web.origin:
            return Reply(502, b"This proxy knows only the hosts of its synthetic web\n")
        if request.path == "/":
            return Reply(302, extra=f"Location: {request.web.seeds[0]}\r\n")
        return Reply(404, b"Not Found\n")


def _kind(path: str) -> Kind:
    if path == "/robots.txt":
        return "robots"
    if path == SCRIPT_PATH:
        return "script"
    if path.startswith("/img/"):
        return "image"
    if path.startswith("/sitemap"):
        return "sitemap"
    return "page"


def _image(path: str, size: int) -> Reply:
    name = path.removeprefix("/img/").removesuffix(".png")
    try:
        key = int(name, 16)
    except ValueError:
        return Reply(404)
    if path != f"/img/{key:016x}.png":
        return Reply(404)
    return Reply(200, png.pattern(key, size), "image/png")


def _not_modified(headers: dict[bytes, bytes], tag: str, modified: int) -> bool:
    """RFC 9110: if there is an If-None-Match header, it alone decides."""
    tags = headers.get(b"if-none-match")
    if tags is not None:
        known = [known.strip().removeprefix("W/") for known in tags.decode("latin-1").split(",")]
        return tag in known or "*" in known
    since = headers.get(b"if-modified-since")
    if since is None:
        return False
    try:
        return EPOCH + modified <= parsedate_to_datetime(since.decode("latin-1")).timestamp()
    except ValueError:
        return False


_PHRASES = {status.value: status.phrase for status in HTTPStatus}


@lru_cache(maxsize=1024)
def _date(t: float) -> str:
    return formatdate(EPOCH + t, usegmt=True)
