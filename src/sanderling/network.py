"""What every connection of ours obeys: which addresses it may lead to, whom it trusts, and how it introduces itself.

What is discovered may lead to public addresses only, checked when a connection is opened.
"""

import ipaddress
import os
import re
from functools import lru_cache
from pathlib import Path

import certifi

from sanderling.settings import Settings

_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


@lru_cache(4096)
def is_public(text: str) -> bool:
    """Whether an IP address belongs to the public internet, whatever it is wrapped in."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if address not in _UNICAST:  # all that has been given out; the rest is local, reserved or a trick
            return False
    return address.is_global and not address.is_multicast


def names_private(host: str) -> bool:
    """Whether a host name says by itself that it is private; needed where a proxy does the connecting.

    The URL parser has brought `2130706433` and `0x7f.0.0.1` to dotted form already.
    """
    name = host.rstrip(".")
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal")):
        return True
    literal = name.strip("[]")
    try:
        ipaddress.ip_address(literal)
    except ValueError:
        return False
    return not is_public(literal)


def agent(settings: Settings) -> str:
    """How the crawler introduces itself: the project and whom to write to."""
    return f"{settings.user_agent} (+{settings.contact})" if settings.contact else settings.user_agent


def names(settings: Settings) -> frozenset[str]:
    """By which robots rules address the crawler: the products in its user agent, in small letters."""
    return products(settings.user_agent)


def products(user_agent: str) -> frozenset[str]:
    words = user_agent.lower()
    return frozenset([*re.findall(r"^[^/\s]+", words), *re.findall(r"(?<=[\s(;])[a-z][\w-]*(?=/\d)", words)])


def certificates() -> str:
    """The certificate authorities to trust: the user's choice, the system's, else those of certifi."""
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
    return certifi.where()
