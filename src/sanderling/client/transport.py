"""All requests of a client in flight at once: one CurlMulti driven by epoll, handles used again and again."""

import contextlib
import select
import socket
import time
from urllib.parse import quote

import pycurl

from sanderling.client.robots import LARGEST
from sanderling.client.site import PoliteHost
from sanderling.model import Task
from sanderling.network import agent, certificates, is_public, names_private
from sanderling.settings import Settings
from sanderling.urls import hostname, origin

_INTEREST = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}
_HEADERS = ["Accept: text/html,application/xhtml+xml,*/*;q=0.8", "Expect:"]
_ASCII = bytes(range(128))
# How often it is to be looked for fetches whose first byte is overdue.
SWEEP_EVERY = 0.25
_LOW_SPEED = 100  # bytes a second
_LONGEST = 2**31 - 1  # what libcurl takes as milliseconds
_TOO_LARGE = 100  # an error of libcurl that pycurl has no name for

# Errors after which every other request to the host would end the same way for now.
_HOST_IS_DEAD = {
    pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_CONNECT, pycurl.E_SSL_CONNECT_ERROR,
    pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_COULDNT_RESOLVE_PROXY,
}  # fmt: skip
# Errors that another try would not mend.
_HOPELESS = {
    pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_UNSUPPORTED_PROTOCOL, pycurl.E_URL_MALFORMAT, pycurl.E_LOGIN_DENIED,
    pycurl.E_REMOTE_ACCESS_DENIED, pycurl.E_REMOTE_FILE_NOT_FOUND, pycurl.E_FTP_COULDNT_RETR_FILE, _TOO_LARGE,
}  # fmt: skip


class Fetch:
    """One request on its way and what has come back so far."""

    __slots__ = (
        "_anywhere",
        "_cap",
        "_max_body",
        "_skip",
        "address",
        "chunks",
        "conditional",
        "curl",
        "error",
        "hopeless",
        "host_is_dead",
        "lines",
        "plain",
        "postponed",
        "protocol",
        "refused",
        "robots_hops",
        "seconds",
        "since",
        "site",
        "size",
        "started",
        "status",
        "task",
        "truncated",
        "trusted",
    )  # fmt: skip

    def __init__(self, curl: pycurl.Curl, settings: Settings) -> None:
        self.curl = curl
        self.conditional = False
        self.plain = False
        self._max_body = settings.max_body
        self._skip = skipped_types(settings)
        self._anywhere = settings.allow_private
        self.lines: list[bytes] = []

    def begin(self, task: Task, site: PoliteHost, robots_hops: int) -> None:
        self.task = task
        self.site = site
        # Another origin than the one the user named, reached by a redirect of robots.txt, is not trusted with it.
        self.trusted = site.trusted and origin(task.url) == site.origin
        self.robots_hops = robots_hops  # -1: a page; 0 and up: robots.txt, after that many redirects
        self._cap = self._max_body if robots_hops < 0 else LARGEST
        self.lines.clear()
        self.chunks: list[bytes] = []
        self.size = 0
        self.truncated = False
        self.refused = ""
        self.postponed = False
        self.error = ""
        self.hopeless = False
        self.host_is_dead = False
        self.status = 0
        self.seconds = 0.0
        self.address = ""
        self.protocol = ""
        self.started = time.time()
        self.since = time.monotonic()

    def write(self, data: bytes) -> int | None:
        """Takes decompressed bytes up to the cap, then ends the transfer: no bomb gets further than that."""
        self.size += len(data)
        if self.size > self._cap:
            self.chunks.append(data[: self._cap - self.size])
            self.size = self._cap
            self.truncated = True
            return -1
        self.chunks.append(data)
        return None

    def write_if_wanted(self, data: bytes) -> int | None:
        """The same when there are types to skip: their bodies end with the first bytes."""
        if not self.chunks and self.robots_hops < 0 and self.value_of(b"content-type").lower().startswith(self._skip):
            self.truncated = True
            return -1
        return self.write(data)

    def headers(self) -> list[tuple[bytes, bytes]]:
        pairs = (line.partition(b":") for line in self.lines[1:])
        return [(name.strip(), value.strip()) for name, colon, value in pairs if colon]

    def value_of(self, name: bytes) -> str:
        """The first header of this name."""
        return next((v.decode("utf-8", "replace") for k, v in self.headers() if k.lower() == name), "")

    def location(self) -> str:
        """Where a redirect says it leads; letters beyond ASCII as the bytes that came, since no charset is said."""
        return next((quote(v, safe=_ASCII) for k, v in self.headers() if k.lower() == b"location"), "")

    def open_socket(self, purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        """The one gate that every connection of every hop passes, at the moment it is made."""
        family, kind, protocol, where = address
        if not self.trusted and not self._anywhere and not is_public(where[0]):
            self.refused = f"leads to the private address {where[0]}"
            return int(pycurl.SOCKET_BAD)
        if self.site.pauses is not None and origin(self.task.url) == self.site.origin and not self.site.meet(where[0]):
            self.postponed = True
            return int(pycurl.SOCKET_BAD)
        return socket.socket(family, kind, protocol)


class Transport:
    """Starts fetches and gives them back when they are over."""

    def __init__(self, settings: Settings, line: int) -> None:
        self._settings = settings
        self._line = line
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, settings.connections)
        self._epoll = select.epoll()
        self._epoll.register(line, select.EPOLLIN)
        self._watched: set[int] = set()
        self._timer: float | None = None
        self._idle: list[Fetch] = []
        self._share = pycurl.CurlShare()
        self._share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_SSL_SESSION)
        if settings.cookies:
            self._share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
        self._agent = agent(settings)
        # Hosts that name an encoding that is none, such as a charset: asked for no encoding, their bodies are as they come.
        self._plain: set[str] = set()
        self.active: dict[pycurl.Curl, Fetch] = {}

    def start(self, task: Task, site: PoliteHost, robots_hops: int = -1) -> str:
        """Begins a fetch; returns why not when its address is refused before any connection."""
        fetch = self._idle.pop() if self._idle else self._new_fetch()
        fetch.begin(task, site, robots_hops)
        if not fetch.trusted and not self._settings.allow_private and names_private(hostname(task.url)):
            self._idle.append(fetch)
            return f"leads to the private address {hostname(task.url)}"
        fetch.curl.setopt(pycurl.URL, task.url.encode())
        conditions = [f"{name}: {value}" for name, value in conditions_of(task)]
        if conditions or fetch.conditional:
            fetch.curl.setopt(pycurl.HTTPHEADER, [*_HEADERS, *conditions])
            fetch.conditional = bool(conditions)
        if (plain := site.origin in self._plain) != fetch.plain:
            fetch.plain = plain
            _take_encodings(fetch.curl, not plain)
        self.active[fetch.curl] = fetch
        self._multi.add_handle(fetch.curl)
        return ""

    def wait(self, timeout: float) -> bool:
        """Lets transfers go on for at most `timeout` seconds; True when the server said something."""
        now = time.monotonic()
        if self._timer is not None:
            timeout = min(timeout, max(0.0, self._timer - now))
        heard = False
        action = self._multi.socket_action
        for fd, event in self._epoll.poll(timeout, 256):
            if fd == self._line:
                heard = True
                continue
            readable = event & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR)
            action(
                fd,
                (pycurl.CSELECT_IN if readable else 0) | (pycurl.CSELECT_OUT if event & select.EPOLLOUT else 0),
            )
        if self._timer is not None and self._timer <= time.monotonic():
            self._timer = None
            action(pycurl.SOCKET_TIMEOUT, 0)
        return heard

    def finished(self) -> list[Fetch]:
        """The fetches that are over, for better or worse."""
        over: list[Fetch] = []
        more = 1
        while more:
            more, succeeded, failed = self._multi.info_read(64)
            for curl in succeeded:
                over.append(self._end(curl, 0, ""))
            for curl, code, message in failed:
                over.append(self._end(curl, code, message))
        return over

    def overdue(self, now: float) -> list[Fetch]:
        """Ends the fetches whose first byte has not come in time; libcurl has no clock for that."""
        patience = self._settings.first_byte_timeout
        late = [f for f in self.active.values() if f.since < now - patience and not f.lines and not f.chunks]
        message = f"no first byte within {patience:g} s"
        return [self._end(fetch.curl, pycurl.E_OPERATION_TIMEDOUT, message) for fetch in late]

    def release(self, fetch: Fetch) -> None:
        """Takes a fetch back for the next request; its curl handle keeps its connection."""
        fetch.chunks = []
        self._idle.append(fetch)

    def close(self) -> None:
        for curl in list(self.active):
            self._multi.remove_handle(curl)
            curl.close()
        for fetch in self._idle:
            fetch.curl.close()
        self._multi.close()
        self._epoll.close()

    def _end(self, curl: pycurl.Curl, code: int, message: str) -> Fetch:
        fetch = self.active.pop(curl)
        self._multi.remove_handle(curl)
        # A write error is our own cap, or libcurl's complaint about what comes behind the end of a compressed body.
        if code == 0 or (code == pycurl.E_WRITE_ERROR and (fetch.truncated or fetch.chunks)):
            fetch.status = curl.getinfo(pycurl.RESPONSE_CODE)
            fetch.postponed = False
            heads = [n for n, line in enumerate(fetch.lines) if line.startswith(b"HTTP/")]
            if not heads:
                fetch.status = 200  # ftp and gopher have no status of this kind
            del fetch.lines[: heads[-1] if heads else len(fetch.lines)]  # 1xx answers and those of a proxy
            fetch.protocol = "h2" if curl.getinfo(pycurl.INFO_HTTP_VERSION) == pycurl.CURL_HTTP_VERSION_2_0 else ""
        else:
            fetch.error = fetch.refused or _said(code, message, bool(self._settings.proxy))
            fetch.hopeless = bool(fetch.refused) or code in _HOPELESS
            if code == pycurl.E_BAD_CONTENT_ENCODING and message.startswith("Unrecognized"):
                self._plain.add(fetch.site.origin)
            fetch.host_is_dead = code in _HOST_IS_DEAD or (
                # No connection over which to ask: the next request would wait for nothing, too.
                code == pycurl.E_OPERATION_TIMEDOUT and not curl.getinfo(pycurl.REQUEST_SIZE)
            )
        fetch.seconds = curl.getinfo(pycurl.TOTAL_TIME)
        fetch.address = curl.getinfo(pycurl.PRIMARY_IP)
        return fetch

    def _new_fetch(self) -> Fetch:
        settings = self._settings
        curl = pycurl.Curl()
        fetch = Fetch(curl, settings)
        set_ = curl.setopt
        set_(pycurl.NOSIGNAL, 1)
        set_(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS | pycurl.PROTO_FTP | pycurl.PROTO_GOPHER)
        set_(pycurl.FOLLOWLOCATION, 0)
        set_(pycurl.USERAGENT, self._agent)
        set_(pycurl.HTTPHEADER, _HEADERS)
        _take_encodings(curl, True)
        set_(pycurl.HEADERFUNCTION, fetch.lines.append)
        set_(pycurl.WRITEFUNCTION, fetch.write_if_wanted if settings.skip_types else fetch.write)
        set_(pycurl.BUFFERSIZE, 128 * 1024)
        set_(pycurl.CONNECTTIMEOUT_MS, min(int(settings.connect_timeout * 1000), _LONGEST))
        set_(pycurl.TIMEOUT_MS, min(int(settings.fetch_timeout * 1000), _LONGEST))
        set_(pycurl.LOW_SPEED_LIMIT, _LOW_SPEED)
        set_(pycurl.LOW_SPEED_TIME, max(1, min(int(settings.low_speed_time), _LONGEST)))
        set_(pycurl.DNS_CACHE_TIMEOUT, 600)
        set_(pycurl.CAINFO, certificates())
        set_(pycurl.SHARE, self._share)
        set_(pycurl.PROXY, settings.proxy or "")
        set_(pycurl.NOPROXY, "")  # the environment has no say in it
        set_(pycurl.FTP_USE_EPSV, 1)
        if settings.cookies:
            set_(pycurl.COOKIEFILE, "")
        if not settings.proxy and (settings.by_address or not settings.allow_private):
            set_(pycurl.OPENSOCKETFUNCTION, fetch.open_socket)
        return fetch

    def _on_socket(self, what: int, fd: int, multi: object, data: object) -> None:
        if what == pycurl.POLL_REMOVE:
            if fd in self._watched:
                self._watched.discard(fd)
                with contextlib.suppress(OSError, ValueError):  # libcurl may have closed it already
                    self._epoll.unregister(fd)
        elif fd in self._watched:
            self._epoll.modify(fd, _INTEREST[what])
        else:
            self._watched.add(fd)
            self._epoll.register(fd, _INTEREST[what])

    def _on_timer(self, milliseconds: int) -> None:
        self._timer = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000


def _take_encodings(curl: pycurl.Curl, any: bool) -> None:
    """Whether a request asks for compressed bodies, and libcurl unpacks them."""
    if any:
        curl.setopt(pycurl.ACCEPT_ENCODING, "")
    else:
        curl.unsetopt(pycurl.ACCEPT_ENCODING)


def conditions_of(task: Task) -> list[tuple[str, str]]:
    """The headers that spare a body which has not changed; control characters in what a server sent are not sent back."""
    said = (("If-None-Match", task.etag), ("If-Modified-Since", task.modified))
    return [(name, value) for name, value in said if value and value.isprintable() and value.isascii()]


def skipped_types(settings: Settings) -> tuple[str, ...]:
    """How media types begin whose bodies the user does not want."""
    return tuple(each.lower() for each in settings.skip_types)


def _said(code: int, message: str, by_proxy: bool) -> str:
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return f"timed out: {message}"
    if code == _TOO_LARGE or "headers" in message:
        return "the headers are too large"
    if code == pycurl.E_RECV_ERROR:
        return f"the connection broke: {message}"
    if code == pycurl.E_COULDNT_CONNECT and by_proxy:
        return f"the proxy does not lead to the host: {message}"
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        return f"the TLS certificate is not valid: {message}"
    known = {
        pycurl.E_COULDNT_RESOLVE_HOST: "the host name cannot be resolved",
        pycurl.E_COULDNT_CONNECT: "the host cannot be reached",
        pycurl.E_GOT_NOTHING: "the connection was closed without an answer",
        pycurl.E_PARTIAL_FILE: "the body ended early",
        pycurl.E_BAD_CONTENT_ENCODING: "the body is not encoded as it says",
    }
    return known.get(code) or (message or f"libcurl error {code}").strip()
