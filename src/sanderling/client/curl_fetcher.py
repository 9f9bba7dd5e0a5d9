"""Requests through libcurl: one CurlMulti, whose handles are used again and again."""

import socket
import time
import zlib
from calendar import timegm
from collections import deque
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import pycurl

from sanderling.client.body_memory import BodyMemory
from sanderling.client.fetcher import MayConnect, Request, Response
from sanderling.client.loop import READ, READABLE, WRITE, Loop
from sanderling.client.names import Names, looks_up
from sanderling.model.reasons import code_of, reason
from sanderling.network import OpenedSocket, agent, certificates
from sanderling.network.reach import may_be_reached
from sanderling.settings import Settings
from sanderling.urls import hostname, origin

if TYPE_CHECKING:  # loaded only by crawls with a topic
    from sanderling.client.cutting import Cutter

_INTEREST = {pycurl.POLL_IN: READ, pycurl.POLL_OUT: WRITE, pycurl.POLL_INOUT: READ | WRITE}
_PORTS = {"http": "80", "https": "443", "ftp": "21", "gopher": "70"}
# Of proxies that are named without a port, as libcurl has it.
_PROXY_PORT, _PROXY_PORTS = "1080", {"https": "443"}
_MOST_UNRESOLVED = 10_000
_ACCEPT = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
_HEADERS = [_ACCEPT, "Expect:"]
# What this libcurl can unpack. Spelled out, because requests are archived as they were sent.
_ENCODINGS = ", ".join(
    names
    for feature, names in (
        (pycurl.VERSION_LIBZ, "deflate, gzip"),
        (pycurl.VERSION_BROTLI, "br"),
        (pycurl.VERSION_ZSTD, "zstd"),
    )
    if pycurl.version_info()[4] & feature
)
# How often requests whose first byte is overdue are looked for, in seconds.
SWEEP_EVERY = 0.25
_LOW_SPEED = 100  # bytes a second
_LONGEST = 2**31 - 1  # milliseconds, the most that libcurl takes
_TOO_LARGE = 100  # an error of libcurl that pycurl has no name for

# A list of this many chunks of a body is joined to one.
JOINED_AT = 1024
# After these errors every other request to the host would fail, too.
_HOST_IS_DEAD = {
    pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_CONNECT, pycurl.E_SSL_CONNECT_ERROR,
    pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_COULDNT_RESOLVE_PROXY,
}  # fmt: skip
# After these errors another try is of no use.
_HOPELESS = {
    pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_UNSUPPORTED_PROTOCOL, pycurl.E_URL_MALFORMAT, pycurl.E_LOGIN_DENIED,
    pycurl.E_REMOTE_ACCESS_DENIED, pycurl.E_REMOTE_FILE_NOT_FOUND, pycurl.E_FTP_COULDNT_RETR_FILE, _TOO_LARGE,
}  # fmt: skip
# The reasons for errors of libcurl: with its message, and where that says no more.
_EXPLAINED = {
    pycurl.E_OPERATION_TIMEDOUT: "timed-out",
    pycurl.E_RECV_ERROR: "connection-broke",
    pycurl.E_PEER_FAILED_VERIFICATION: "certificate",
    pycurl.E_SSL_CONNECT_ERROR: "tls",
}
_PLAIN = {
    pycurl.E_COULDNT_RESOLVE_HOST: "unresolved",
    pycurl.E_COULDNT_CONNECT: "unreachable",
    pycurl.E_GOT_NOTHING: "no-answer",
    pycurl.E_PARTIAL_FILE: "body-ended-early",
    pycurl.E_BAD_CONTENT_ENCODING: "bad-encoding",
}


# libcurl keeps what it is told for so long, in seconds, and is told again before that.
_CACHED, TOLD_AGAIN = 600, 500.0
_NOTHING: tuple[float, list[str]] = (0.0, [])

IsFirst = Callable[[pycurl.Curl], bool]


class Handle:
    """A curl handle and the request that it is used for now."""

    __slots__ = (
        "_anywhere",
        "_cutter",
        "_joined",
        "_look_at",
        "certificate",
        "cookies",
        "curl",
        "gave_up",
        "is_first",
        "lines",
        "may_connect",
        "memory",
        "plain",
        "request",
        "resolves",
        "response",
        "sent",
        "special",
    )

    request: Request
    response: Response

    def __init__(
        self, curl: pycurl.Curl, anywhere: bool, memory: BodyMemory, is_first: IsFirst, cutter: "Cutter | None" = None,
        cookies: bool = False,
    ) -> None:  # fmt: skip
        """`is_first` says whether its request is the one that was sent first."""
        self.curl = curl
        self.cookies = cookies  # it has the cookies of the crawl
        self.memory = memory
        self.is_first = is_first
        self._anywhere = anywhere
        self._cutter = cutter
        self.lines: list[bytes] = []
        self.plain = False  # asks for no encoding
        self.certificate = False  # reads certificates
        self.resolves = False  # tells libcurl about an address
        self.special = False  # has other headers or another method than most

    def begin(self, request: Request, may_connect: MayConnect | None) -> Response:
        self.request = request
        self.may_connect = may_connect
        self.gave_up = ""  # why we ended the request ourselves
        self.sent = b""
        self._joined = 0  # chunks at the front that were joined from small ones
        self._look_at = self._cutter.first_look(request) if self._cutter is not None else 0
        self.lines.clear()
        self.response = Response()
        self.response.lines = self.lines
        return self.response

    def write(self, data: bytes) -> int | None:
        """Takes decompressed bytes up to the limit, then ends the transfer. This stops
        decompression bombs."""
        response, memory = self.response, self.memory
        room = self.request.limit - response.size
        ends = len(data) > room
        if ends:
            data = data[:room]
        response.size += len(data)
        memory.used += len(data)
        if memory.used > memory.limit and not self.is_first(self.curl):
            return self._make_room()
        response.chunks.append(data)
        if ends:
            response.truncated = True
            return -1
        if len(response.chunks) - self._joined >= JOINED_AT:
            self._join()
        return None

    def _make_room(self) -> int:
        """Ends the transfer, because all bodies together take too much memory."""
        response = self.response
        self.memory.used -= response.size
        response.size = 0
        response.chunks.clear()
        response.crowded_out = True
        return -1

    def _join(self) -> None:
        """Joins small chunks: a body of single bytes would take a hundred times its size."""
        chunks = self.response.chunks
        chunks[self._joined :] = [b"".join(chunks[self._joined :])]
        self._joined += 1

    def write_if_wanted(self, data: bytes) -> int | None:
        """The same if there are types to skip, whose transfer ends with the first bytes, or pages
        to cut short."""
        response, skip = self.response, self.request.skip
        if skip and not response.chunks and response.value_of(b"content-type").lower().startswith(skip):
            response.truncated = True
            return -1
        if self._look_at and response.size + len(data) >= self._look_at and self._cut_short(data):
            return -1
        return self.write(data)

    def _cut_short(self, data: bytes) -> bool:
        """Ends a page if the rest is not worth loading."""
        response, cutter, kept = self.response, self._cutter, b""
        if self.plain:  # what came may still be compressed
            self._look_at = 0
        while cutter is not None and not kept and self._look_at and response.size + len(data) >= self._look_at:
            kept = cutter.kept(self.request, self.lines, b"".join((*response.chunks, data))[: self._look_at])
            self._look_at = cutter.next_look(self._look_at)
        if not kept:
            return False
        self.memory.used += len(kept) - response.size
        response.chunks[:], response.size = [kept], len(kept)
        response.truncated = response.cut_short = True
        return True

    def hear(self, kind: int, data: bytes) -> None:
        """Takes the request as libcurl sends it."""
        if kind == pycurl.INFOTYPE_HEADER_OUT:
            self.sent = data

    def open_socket(self, purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        """Checks every connection at the moment it is made, whatever led there."""
        family, kind, protocol, where = address
        if not self._anywhere and not may_be_reached(where[0], self.request.private):
            self.gave_up = reason("private-address", where[0])
            return int(pycurl.SOCKET_BAD)
        if self.may_connect is not None and not self.may_connect(where[0]):
            return int(pycurl.SOCKET_BAD)
        return OpenedSocket(family, kind, protocol)


@lru_cache(20_000)
def _name_of(origin: str) -> str:
    """The name of a host; empty if it is an address."""
    where = origin.partition("://")[2]
    name = where.partition(":")[0]
    return "" if where.startswith("[") or name.replace(".", "").isdigit() else name


def _end_of(chain: list[tuple[tuple[str, str], ...]]) -> float:
    """When the first certificate of a chain ends; 0 if that is not said."""
    said = dict(chain[0]).get("Expire date", "") if chain else ""
    try:
        return float(timegm(time.strptime(said, "%b %d %H:%M:%S %Y GMT")))
    except ValueError:
        return 0.0


def _listed(addresses: list[str]) -> str:
    return ",".join(f"[{each}]" if ":" in each else each for each in addresses)


class CurlFetcher:
    """A `Fetcher` for HTTP, FTP and Gopher."""

    def __init__(self, settings: Settings, loop: Loop, cutter: "Cutter | None" = None) -> None:
        self._settings = settings
        self._cutter = cutter
        self._loop = loop
        self._timer = loop.timer(self._on_time)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, settings.connections)
        self._share = pycurl.CurlShare()
        self._share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_SSL_SESSION)
        if settings.cookies:
            self._share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
        self._agent = agent(settings)
        # What a request has in common with most others, behind its first two lines.
        self._usual = f"User-Agent: {self._agent}\r\nAccept-Encoding: {_ENCODINGS}\r\n{_ACCEPT}\r\n\r\n"
        # Hosts that sent an unknown Content-Encoding, such as a charset. They are asked for no
        # encoding, and each of their answers is decompressed here if it says that it is compressed.
        self._plain: set[str] = set()
        # Hosts whose names were not found. libcurl would keep that for minutes and not ask again.
        self._unresolved: set[str] = set()
        self._idle: dict[bool, list[Handle]] = {False: [], True: []}  # by whether they have the cookies of the crawl
        self._active: dict[pycurl.Curl, Handle] = {}
        self._waits_for_names = looks_up(settings)
        self._names = Names(loop) if self._waits_for_names or not settings.proxy else None
        self._told: dict[str, tuple[float, list[str]]] = {}  # which addresses libcurl was told, and when
        self._refused: list[Response] = []
        largest = max(settings.max_body, settings.max_media if settings.requisites else 0)
        self._memory = BodyMemory(settings.body_memory, largest, settings.connections)
        self._waiting: deque[Handle] = deque()
        self._swept_at = 0.0

    def start(self, request: Request, may_connect: MayConnect | None = None) -> Response:
        cookies = request.cookies and self._settings.cookies
        idle = self._idle[cookies]
        handle = idle.pop() if idle else self._new_handle(cookies)
        response = handle.begin(request, may_connect)
        curl = handle.curl
        curl.setopt(pycurl.URL, request.url.encode())
        if request.headers or request.method != "GET" or handle.special:
            self._specialize(handle)
        if (plain := bool(self._plain) and origin(request.url) in self._plain) != handle.plain:
            handle.plain = plain
            _take_encodings(curl, not plain)
        if request.certificate != handle.certificate:  # for all requests it would take as long as a page
            handle.certificate = request.certificate
            curl.setopt(pycurl.OPT_CERTINFO, int(request.certificate))
        self._tell_addresses(handle)
        if self._waits_for_names and self._names is not None:
            self._names.ask(hostname(request.url), partial(self._judge, handle))
        else:
            self._send(handle)
        return response

    def expect(self, origin: str) -> None:
        if self._names is not None and (name := _name_of(origin)):
            self._names.expect(name)

    def _tell_addresses(self, handle: Handle) -> None:
        """Tells libcurl what was looked up ahead, and what to forget."""
        lines = self._resolve_anew(handle) if self._unresolved else []
        if self._names is not None and not self._waits_for_names:
            lines += self._looked_up(origin(handle.request.url), self._names)
        if lines:
            handle.curl.setopt(pycurl.RESOLVE, lines)
        elif handle.resolves:
            handle.curl.unsetopt(pycurl.RESOLVE)
        handle.resolves = bool(lines)

    def _looked_up(self, home: str, names: Names) -> list[str]:
        name = _name_of(home)
        if not name:
            return []
        where, now = _name_and_port(home), time.monotonic()
        known, (when, before) = names.known(name), self._told.get(where, _NOTHING)
        if known and (known is not before or now - when > TOLD_AGAIN):
            self._told[where] = now, known
            return [f"+{where}:{_listed(known)}"]
        if known is None:
            names.expect(name)
            return [f"-{where}"] if self._told.pop(where, None) else []
        return []

    def _resolve_anew(self, handle: Handle) -> list[str]:
        """Has libcurl forget that a name was not found: the host of a request, or the proxy."""
        home, proxy = origin(handle.request.url), self._settings.proxy or ""
        again = [f"-{_name_and_port(home)}"] if home in self._unresolved else []
        again += [f"-{_name_and_port(proxy, _PROXY_PORTS)}"] if proxy in self._unresolved else []
        self._unresolved -= {home, proxy}
        return again

    def _not_found(self, home: str) -> None:
        if len(self._unresolved) >= _MOST_UNRESOLVED:
            self._unresolved.clear()
        self._unresolved.add(home)

    def _send(self, handle: Handle) -> None:
        """Sends a request, or has it wait for memory."""
        if self._waiting or not self._memory.may_send(len(self._active)):
            self._waiting.append(handle)
            return
        self._active[handle.curl] = handle
        self._multi.add_handle(handle.curl)

    def _send_waiting(self) -> None:
        while self._waiting and self._memory.may_send(len(self._active)):
            handle = self._waiting.popleft()
            handle.response.restart()
            self._active[handle.curl] = handle
            self._multi.add_handle(handle.curl)

    def _judge(self, handle: Handle, addresses: list[str] | None) -> None:
        """Sends a request through the proxy, unless its name leads to a private address, or perhaps
        does."""
        request, response = handle.request, handle.response
        private = [address for address in addresses or () if not may_be_reached(address, request.private)]
        by_address = (self._settings.proxy or "").startswith("socks5:")
        if private or addresses is None or (by_address and not addresses):
            response.error = reason("private-address", private[0]) if private else reason("unresolved")
            response.hopeless, response.host_is_dead = bool(private), True
            self._refused.append(response)
            self._idle[handle.cookies].append(handle)
            return
        if addresses and by_address:
            # The proxy is told this address, and no other one.
            handle.curl.setopt(pycurl.RESOLVE, [f"+{_name_and_port(origin(request.url))}:{_listed(addresses)}"])
        self._send(handle)

    def finished(self) -> list[Response]:
        over, self._refused = self._refused, []
        more = 1
        while more:
            more, succeeded, failed = self._multi.info_read(64)
            for curl in succeeded:
                over.append(self._end(curl, 0, ""))
            for curl, code, message in failed:
                over.append(self._end(curl, code, message))
        now = time.monotonic()
        if now - self._swept_at > SWEEP_EVERY:
            self._swept_at = now
            over += self._overdue(now)
        if self._waiting:
            self._send_waiting()
        return over

    def close(self) -> None:
        for curl in list(self._active):
            self._multi.remove_handle(curl)
            curl.close()
        for handle in (*self._idle[False], *self._idle[True]):
            handle.curl.close()
        if self._names is not None:
            self._names.close()
        self._multi.close()

    def _overdue(self, now: float) -> list[Response]:
        """Ends the requests whose first byte did not come in time. libcurl has no such limit."""
        patience = self._settings.first_byte_timeout
        late = [
            handle
            for handle in self._active.values()
            if handle.response.since < now - patience and not handle.lines and not handle.response.chunks
        ]
        for handle in late:
            handle.gave_up = reason("first-byte", f"{patience:g}")
        return [self._end(handle.curl, pycurl.E_OPERATION_TIMEDOUT, "") for handle in late]

    def _end(self, curl: pycurl.Curl, code: int, message: str) -> Response:
        """Completes a response and frees its handle for the next request."""
        handle = self._active.pop(curl)
        self._multi.remove_handle(curl)
        response = handle.response
        self._memory.used -= response.size
        if response.crowded_out:
            response.error, response.seconds = reason("network", "postponed"), curl.getinfo(pycurl.TOTAL_TIME)
            self._memory.overflowed(len(self._active))
            self._idle[handle.cookies].append(handle)
            return response
        self._memory.received()
        response.lines = []
        # A write error comes from our own limit, or from bytes after the end of a compressed body.
        if code == 0 or (code == pycurl.E_WRITE_ERROR and (response.truncated or response.chunks)):
            response.status = curl.getinfo(pycurl.RESPONSE_CODE)
            heads = [n for n, line in enumerate(handle.lines) if line.startswith(b"HTTP/")]
            if heads:
                response.lines = handle.lines[heads[-1] :]  # without 1xx answers and those of a proxy
                response.sent = self._sent(handle)
            else:
                response.status = 200  # ftp and gopher have no such status
            if handle.plain:
                self._decompress(response, handle.request)
            response.protocol = "h2" if curl.getinfo(pycurl.INFO_HTTP_VERSION) == pycurl.CURL_HTTP_VERSION_2_0 else ""
        else:
            # Nothing was sent: there was no connection, and the next request would get none either.
            unconnected = code == pycurl.E_OPERATION_TIMEDOUT and not curl.getinfo(pycurl.REQUEST_SIZE)
            why = (
                reason("no-connection", message) if unconnected else _reason(code, message, bool(self._settings.proxy))
            )
            response.error = handle.gave_up or why
            response.hopeless = code_of(response.error) == "private-address" or code in _HOPELESS
            if code == pycurl.E_BAD_CONTENT_ENCODING and message.startswith("Unrecognized"):
                self._plain.add(origin(handle.request.url))
            if code in (pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_RESOLVE_PROXY):
                by_proxy = code == pycurl.E_COULDNT_RESOLVE_PROXY
                self._not_found(self._settings.proxy or "" if by_proxy else origin(handle.request.url))
            response.host_is_dead = code in _HOST_IS_DEAD or unconnected
        response.seconds = curl.getinfo(pycurl.TOTAL_TIME)
        if curl.getinfo(pycurl.NUM_CONNECTS):
            response.looked_up = curl.getinfo(pycurl.NAMELOOKUP_TIME)
            if not self._settings.proxy:
                response.connected = max(0.0, curl.getinfo(pycurl.CONNECT_TIME) - response.looked_up)
            if handle.certificate:
                response.certificate_ends = _end_of(curl.getinfo(pycurl.INFO_CERTINFO))
        response.address = curl.getinfo(pycurl.PRIMARY_IP)
        self._idle[handle.cookies].append(handle)
        return response

    def _sent(self, handle: Handle) -> bytes:
        """The request of a handle. What libcurl sends is known from its options, unless it adds
        cookies or asks a proxy: listening to it would cost every request 17 us."""
        request = handle.request
        if handle.sent:
            first, _, rest = handle.sent.partition(b"\r\n")
            return b"%b HTTP/1.1\r\n%b%b" % (first.rpartition(b" ")[0], rest, request.body)
        home = origin(request.url)
        opening = f"{request.method} {request.url[len(home) :] or '/'} HTTP/1.1\r\nHost: {home.partition('://')[2]}\r\n"
        if not handle.plain and not handle.special:
            return (opening + self._usual).encode()
        lines = [
            f"{opening}User-Agent: {self._agent}",
            *([] if handle.plain else [f"Accept-Encoding: {_ENCODINGS}"]),
            *([] if _accepts(request) else [_ACCEPT]),
            *(f"{name}: {value}" for name, value in request.headers),
        ]
        if request.method == "POST":
            lines.append(f"Content-Length: {len(request.body)}")
            if not any(name.lower() == "content-type" for name, _ in request.headers):
                lines.append("Content-Type: application/x-www-form-urlencoded")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + request.body

    def _decompress(self, response: Response, request: Request) -> None:
        """Decompresses an answer of a host for which libcurl does not."""
        encoding = response.value_of(b"content-encoding").strip().lower()
        if encoding in ("gzip", "x-gzip", "deflate"):
            unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
            try:
                response.chunks = [unpacker.decompress(response.body, request.limit)]
            except zlib.error:
                response.error = reason("bad-encoding")
            response.size = len(response.body)
            response.truncated = response.truncated or bool(unpacker.unconsumed_tail)
        elif encoding in ("br", "zstd"):  # only libcurl knows these: the retry leaves it to libcurl
            response.error = reason("bad-encoding")
            self._plain.discard(origin(request.url))

    def _specialize(self, handle: Handle) -> None:
        """Sets the headers and the method of an unusual request, or resets a handle that was used
        for one."""
        request, set_ = handle.request, handle.curl.setopt
        usual = _HEADERS[1:] if _accepts(request) else _HEADERS
        set_(pycurl.HTTPHEADER, [*usual, *(f"{name}: {value}" for name, value in request.headers)])
        if request.method == "POST":
            set_(pycurl.POST, 1)
            set_(pycurl.COPYPOSTFIELDS, request.body)
        else:
            set_(pycurl.HTTPGET, 1)
        handle.special = bool(request.headers) or request.method != "GET"

    def _new_handle(self, cookies: bool) -> Handle:
        settings = self._settings
        curl = pycurl.Curl()
        handle = Handle(curl, settings.allow_private, self._memory, self._is_first, self._cutter, cookies)
        set_ = curl.setopt
        set_(pycurl.NOSIGNAL, 1)
        set_(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS | pycurl.PROTO_FTP | pycurl.PROTO_GOPHER)
        set_(pycurl.FOLLOWLOCATION, 0)
        set_(pycurl.USERAGENT, self._agent)
        set_(pycurl.HTTPHEADER, _HEADERS)
        _take_encodings(curl, True)
        set_(pycurl.HEADERFUNCTION, handle.lines.append)
        choosy = settings.skip_types or self._cutter is not None
        set_(pycurl.WRITEFUNCTION, handle.write_if_wanted if choosy else handle.write)
        set_(pycurl.BUFFERSIZE, 128 * 1024)
        set_(pycurl.CONNECTTIMEOUT_MS, min(int(settings.connect_timeout * 1000), _LONGEST))
        set_(pycurl.TIMEOUT_MS, min(int(settings.fetch_timeout * 1000), _LONGEST))
        set_(pycurl.LOW_SPEED_LIMIT, _LOW_SPEED)
        set_(pycurl.LOW_SPEED_TIME, max(1, min(int(settings.low_speed_time), _LONGEST)))
        set_(pycurl.DNS_CACHE_TIMEOUT, _CACHED)
        set_(pycurl.CAINFO, certificates())
        if cookies or not settings.cookies:  # what is shared contains the cookies of the crawl
            set_(pycurl.SHARE, self._share)
        set_(pycurl.PROXY, settings.proxy or "")
        set_(pycurl.NOPROXY, "")  # ignore the environment
        set_(pycurl.FTP_USE_EPSV, 1)
        if cookies:
            set_(pycurl.COOKIEFILE, "")
        if cookies or settings.proxy:
            set_(pycurl.VERBOSE, 1)
            set_(pycurl.DEBUGFUNCTION, handle.hear)
        if not settings.proxy and (settings.by_address or not settings.allow_private):
            set_(pycurl.OPENSOCKETFUNCTION, handle.open_socket)
        return handle

    def _is_first(self, curl: pycurl.Curl) -> bool:
        return next(iter(self._active)) is curl

    def _on_socket(self, what: int, fd: int, multi: object, data: object) -> None:
        if what == pycurl.POLL_REMOVE:
            self._loop.unwatch(fd)
        else:
            self._loop.watch(fd, _INTEREST[what], self._on_ready)

    def _on_ready(self, fd: int, events: int) -> None:
        readable = pycurl.CSELECT_IN if events & READABLE else 0
        self._multi.socket_action(fd, readable | (pycurl.CSELECT_OUT if events & WRITE else 0))

    def _on_timer(self, milliseconds: int) -> None:
        self._timer.at = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000

    def _on_time(self) -> None:
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)


def _accepts(request: Request) -> bool:
    """Whether a request says itself what it accepts."""
    return any(name.lower() == "accept" for name, _ in request.headers)


def _take_encodings(curl: pycurl.Curl, any: bool) -> None:
    """Whether a request asks for compressed bodies, which libcurl decompresses."""
    if any:
        curl.setopt(pycurl.ACCEPT_ENCODING, _ENCODINGS)
    else:
        curl.unsetopt(pycurl.ACCEPT_ENCODING)


def _name_and_port(home: str, ports: Mapping[str, str] = _PORTS) -> str:
    """As libcurl knows the addresses of a host; `home` is an origin or the address of a proxy."""
    scheme, _, rest = home.partition("://")
    where = rest.rpartition("@")[2].partition("/")[0]
    port = where.rpartition("]")[2].partition(":")[2]
    return f"{where.removesuffix(f':{port}').strip('[]')}:{port or ports.get(scheme, _PROXY_PORT)}"


def _reason(code: int, message: str, by_proxy: bool) -> str:
    """Why there was no answer, from libcurl's error."""
    if code == _TOO_LARGE or ("headers" in message and code != pycurl.E_OPERATION_TIMEDOUT):
        return reason("headers-too-large")
    if code == pycurl.E_COULDNT_CONNECT and by_proxy:
        return reason("proxy", message)
    if code in _EXPLAINED:
        return reason(_EXPLAINED[code], message)
    return reason(_PLAIN[code]) if code in _PLAIN else reason("network", (message or f"libcurl error {code}").strip())
