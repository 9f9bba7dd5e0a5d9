"""One request to one address, for the little that is not fetched by a crawl: webhooks, key files,
reports.

The address is checked when the connection is opened, so that no name can lead to a private one.
Redirects are not followed, and the body of an answer is cut.
"""

import socket
from collections.abc import Mapping
from typing import NamedTuple

import pycurl

from sanderling.network import OpenedSocket, certificates, is_public, names_private
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
    proxy: str | None = None, private: bool = False, most: int = 64 * 1024, seconds: float = SECONDS,
) -> Answer:  # fmt: skip
    """Asks by GET, or sends a body by POST. `private` allows loopback and private addresses."""
    if not private and names_private(hostname(url)):
        return Answer(error=f"leads to the private address {hostname(url)}")
    exchange = _Exchange(most)
    curl = pycurl.Curl()
    try:
        curl.setopt(pycurl.URL, url.encode())
        if body is not None:
            curl.setopt(pycurl.POST, 1)
            curl.setopt(pycurl.POSTFIELDS, body)
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
        if not proxy and not private:
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


class _Exchange:
    """What libcurl's callbacks find out during a request."""

    def __init__(self, most: int) -> None:
        self._left = most
        self.refused = ""
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.cut = False

    def open_socket(self, purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        family, kind, protocol, where = address
        if not is_public(where[0]):
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
