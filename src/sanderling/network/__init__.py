"""Rules for every connection: allowed addresses, trusted certificates and the user agent.

Discovered URLs may lead to public addresses only. This is checked when a connection is opened.
"""

import ipaddress
import os
import re
import socket
from functools import lru_cache
from pathlib import Path

from sanderling.settings import Settings

# Blocks that do not belong to the public internet: all of the IANA registries of special-purpose
# addresses (also those marked as globally reachable, because no pages are served there), multicast,
# and addresses of cloud providers.
SPECIAL = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private use",
    "100.64.0.0/10": "shared address space",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "virtual public address of Azure",
    "169.254.0.0/16": "link-local, metadata of clouds",
    "172.16.0.0/12": "private use",
    "192.0.0.0/24": "IETF protocol assignments, metadata of Oracle's cloud",
    "192.0.2.0/24": "documentation (TEST-NET-1)",
    "192.31.196.0/24": "AS112",
    "192.52.193.0/24": "automatic multicast tunnelling",
    "192.88.99.0/24": "6to4 relay anycast (deprecated)",
    "192.168.0.0/16": "private use",
    "192.175.48.0/24": "direct delegation AS112",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation (TEST-NET-2)",
    "203.0.113.0/24": "documentation (TEST-NET-3)",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved, limited broadcast",
    # In IPv6, only 2000::/3 is assigned. These lines cover everything else.
    "::/3": "loopback, unspecified, discard, local translation",
    "4000::/2": "not given out, SRv6 identifiers",
    "8000::/1": "not given out, unique local, link-local, multicast",
    "2001::/23": "IETF protocol assignments: Teredo, benchmarking, ORCHID and others",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4",
    "2620:4f:8000::/48": "direct delegation AS112",
    "3fff::/20": "documentation",
}
_SPECIAL = [ipaddress.ip_network(block) for block in SPECIAL]
# IPv4 addresses that are translated to IPv6. On a network with IPv6 only, every IPv4 host has such
# an address.
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


@lru_cache(4096)
def is_public(text: str) -> bool:
    """Whether an IP address belongs to the public internet."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address in _TRANSLATED):
        address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return not any(address in block for block in _SPECIAL)


class OpenedSocket(socket.socket):
    """A socket for libcurl, which takes a duplicate of it. The original is closed as soon as it is
    dropped."""

    def __del__(self) -> None:
        self.close()


def addresses_of(name: str) -> list[str]:
    """The addresses of a host name, as this machine resolves it; none if it cannot. May take
    seconds."""
    if name == "localhost" or name.endswith(".localhost"):  # libcurl knows these by itself
        return ["127.0.0.1", "::1"]
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))


def names_private(host: str) -> bool:
    """Whether a host name is private by its text alone. This is needed with a proxy, which opens
    the connection itself.

    The URL parser has already converted `2130706433` and `0x7f.0.0.1` to dotted form.
    """
    name = host.rstrip(".")
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal", ".home.arpa")):
        return True
    literal = name.strip("[]")
    try:
        ipaddress.ip_address(literal)
    except ValueError:
        return False
    return not is_public(literal)


def unknown_through_proxy(settings: Settings) -> str:
    """What cannot be known about addresses, because a proxy resolves names; empty if it does
    not."""
    if not settings.proxy or settings.allow_private or settings.proxy.startswith("socks5:"):
        return ""
    if settings.proxy.startswith("socks5h:"):
        return (
            "the proxy resolves host names: a link may lead to a private address there, which cannot be seen from here"
        )
    return (
        "the proxy resolves host names: links to private addresses are refused by what this machine's resolver says, "
        "which may not be what the proxy's says"
    )


def agent(settings: Settings) -> str:
    """The User-Agent header: the product, and the address of the person to contact."""
    return f"{settings.user_agent} (+{settings.contact})" if settings.contact else settings.user_agent


def names(settings: Settings) -> frozenset[str]:
    """The names by which robots rules address the crawler: the products in its user agent, in lower
    case."""
    return products(settings.user_agent)


def products(user_agent: str) -> frozenset[str]:
    words = user_agent.lower()
    return frozenset([*re.findall(r"^[^/\s]+", words), *re.findall(r"(?<=[\s(;])[a-z][\w-]*(?=/\d)", words)])


def certificates() -> str:
    """The file of trusted certificate authorities: the user's choice, else the system's, else that
    of certifi."""
    chosen = os.environ.get("SSL_CERT_FILE")
    if chosen:
        return chosen
    for path in (
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/cert.pem",
    ):
        if Path(path).exists():
            return path
    import certifi  # late: few systems have no certificates of their own

    return certifi.where()
