"""Sends one POST request to an endpoint.

The address is checked when the connection is opened, so that no name can lead to a private one. Redirects are not
followed.
"""

import socket
import time
from email.utils import parsedate_to_datetime

import pycurl

from sanderling.network import certificates, is_public, names_private
from sanderling.telling.webhook import DeliveryAnswer
from sanderling.urls import hostname

CONNECT_SECONDS = 10
SECONDS = 30
MOST_READ = 64 * 1024  # bytes of an answer, which are not used


def post(
    url: str, headers: dict[str, str], body: bytes, *, agent: str, proxy: str | None = None, private: bool = False
) -> DeliveryAnswer:
    """Sends a body and waits for the answer. `private` allows loopback and private addresses."""
    if not private and names_private(hostname(url)):
        return DeliveryAnswer(error=f"leads to the private address {hostname(url)}")
    exchange = _Exchange()
    curl = pycurl.Curl()
    try:
        curl.setopt(pycurl.URL, url.encode())
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.POSTFIELDS, body)
        curl.setopt(pycurl.HTTPHEADER, ["Expect:", *(f"{name}: {value}" for name, value in headers.items())])
        curl.setopt(pycurl.USERAGENT, agent)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        curl.setopt(pycurl.CONNECTTIMEOUT, CONNECT_SECONDS)
        curl.setopt(pycurl.TIMEOUT, SECONDS)
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
            if code != pycurl.E_WRITE_ERROR or exchange.received <= MOST_READ:
                return DeliveryAnswer(error=exchange.refused or message or f"libcurl error {code}")
        return DeliveryAnswer(status=curl.getinfo(pycurl.RESPONSE_CODE), retry_after=exchange.retry_after)
    finally:
        curl.close()


class _Exchange:
    """What libcurl's callbacks find out during a request."""

    def __init__(self) -> None:
        self.refused = ""
        self.received = 0
        self.retry_after = 0.0

    def open_socket(self, purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        family, kind, protocol, where = address
        if not is_public(where[0]):
            self.refused = f"leads to the private address {where[0]}"
            return int(pycurl.SOCKET_BAD)
        return socket.socket(family, kind, protocol)

    def header(self, line: bytes) -> None:
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "retry-after":
            self.retry_after = _seconds(value.strip())

    def write(self, data: bytes) -> int | None:
        self.received += len(data)
        return -1 if self.received > MOST_READ else None


def _seconds(text: str) -> float:
    """Reads a Retry-After header, which holds seconds or a date."""
    if text.isdecimal():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0
