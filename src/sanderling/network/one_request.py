"""One request to one address, for the little that is not fetched by a crawl: webhooks, key files,
reports.

The address is checked when the connection is opened, by the rule of a crawl (`reach.py`), so that
no name can lead to a private one. Where a proxy connects, names are looked up first.
Redirects are not followed, and the body of an answer is cut.
"""

import socket
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import pycurl

from sanderling.network import OpenedSocket, addresses_of, certificates
from sanderling.network.reach import PUBLIC, NetworkReach
from sanderling.urls import hostname

CONNECT_SECONDS = 10
SECONDS = 30

_NO_HEADERS: Mapping[str, str] = {}


class Answer(NamedTuple):
    """What came back. The status is 0 if nothing did; then `error` says why."""

    status: int = 0
    headers: Mapping[str, str] = _NO_HEADERS  # the last of each name, in lower case
    body: bytes = b""
    cut: bool = False  # the body is longer than what was read
    error: str = ""


def request(
    url: str, *, agent: str, headers: Mapping[str, str] = _NO_HEADERS, body: bytes | None = None,
    proxy: str | None = None, reach: NetworkReach = PUBLIC, most: int = 64 * 1024, seconds: float = SECONDS,
    head: bool = False,
) -> Answer:  # fmt: skip
    """Asks by GET, by HEAD, or sends a body by POST, to where it may lead."""
    if wrong := reach.objection(hostname(url)):
        return Answer(error=wrong)
    resolved: list[str] = []
    if proxy and not reach.anywhere and not proxy.startswith("socks5h:"):
        resolved = addresses_of(hostname(url).strip("[]"))
        if wrong := _unproxied(resolved, proxy, reach):
            return Answer(error=wrong)
    exchange = _Exchange(most, reach)
    curl = pycurl.Curl()
    try:
        curl.setopt(pycurl.URL, url.encode())
        if body is not None:
            curl.setopt(pycurl.POST, 1)
            curl.setopt(pycurl.POSTFIELDS, body)
        if head:
            curl.setopt(pycurl.NOBODY, 1)
        curl.setopt(pycurl.HTTPHEADER, ["Expect:", *(f"{name}: {value}" for name, value in headers.items())])
        curl.setopt(pycurl.USERAGENT, agent)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        curl.setopt(pycurl.CONNECTTIMEOUT, CONNECT_SECONDS)
        curl.setopt(pycurl.TIMEOUT_MS, int(seconds * 1000))
        curl.setopt(pycurl.CAINFO, certificates())
        curl.setopt(pycurl.PROXY, proxy or "")
        curl.setopt(pycurl.NOPROXY, "")  # otherwise the environment decides
        curl.setopt(pycurl.HEADERFUNCTION, exchange.header)
        curl.setopt(pycurl.WRITEFUNCTION, exchange.write)
        if resolved:
            # A SOCKS proxy is told one of these addresses, and no other one.
            curl.setopt(pycurl.RESOLVE, [_resolved(url, resolved)])
        if not proxy:
            curl.setopt(pycurl.OPENSOCKETFUNCTION, exchange.open_socket)
        try:
            curl.perform()
        except pycurl.error as error:
            code, message = error.args
            if not exchange.cut:
                return Answer(error=exchange.refused or message or f"libcurl error {code}")
        status = curl.getinfo(pycurl.RESPONSE_CODE)
        return Answer(status, exchange.headers, b"".join(exchange.pieces), exchange.cut)
    finally:
        curl.close()


def _unproxied(addresses: list[str], proxy: str, reach: NetworkReach) -> str:
    """Why a proxy is not asked for a name; empty if it may be. The proxy opens the connection, so
    the name is looked up first."""
    if refused := [address for address in addresses if not reach.allows(address)]:
        return f"leads to the private address {refused[0]}"
    return "" if addresses or not proxy.startswith("socks5:") else "the host name cannot be resolved"


def _resolved(url: str, addresses: list[str]) -> str:
    """A line that tells libcurl the addresses of a host."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"+{parts.hostname}:{port}:{','.join(f'[{each}]' if ':' in each else each for each in addresses)}"


class _Exchange:
    """What libcurl's callbacks find out during a request."""

    def __init__(self, most: int, reach: NetworkReach) -> None:
        self._left = most
        self._reach = reach
        self.refused = ""
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.cut = False

    def open_socket(self, purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        family, kind, protocol, where = address
        if not self._reach.allows(where[0]):
            self.refused = f"leads to the private address {where[0]}"
            return int(pycurl.SOCKET_BAD)
        return OpenedSocket(family, kind, protocol)

    def header(self, line: bytes) -> None:
        name, _, value = line.decode("latin-1").partition(":")
        self.headers[name.strip().lower()] = value.strip()

    def write(self, data: bytes) -> int | None:
        self.pieces.append(data[: self._left])
        self._left -= len(data)
        self.cut = self._left < 0
        return -1 if self.cut else None
