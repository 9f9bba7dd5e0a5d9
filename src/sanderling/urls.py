"""One canonical form per URL (WHATWG, without fragment) and the 64-bit identity computed from it."""

import can_ada
from xxhash import xxh3_64_digest

WEB = ("http://", "https://")
SEEDABLE = (*WEB, "ftp://", "gopher://")

# Longer URLs are data or traps; servers refuse most of them anyway.
LONGEST = 8192


def canonical(text: str, schemes: tuple[str, ...] = WEB) -> str | None:
    """The canonical form of an absolute URL, or None when it is none that can be fetched."""
    try:
        url = can_ada.parse(text)
    except (ValueError, UnicodeError):
        return None
    if not url.hostname:
        return None
    if url.username or url.password:
        url.username = url.password = ""
    href = url.href.partition("#")[0]
    return href if href.startswith(schemes) and len(href) <= LONGEST else None


def join(base: str, reference: str) -> str | None:
    """The canonical form of a reference that stands on the page `base`."""
    try:
        return canonical((can_ada.parse(base) + reference).href)
    except (ValueError, UnicodeError):
        return None


def identity(url: str) -> int:
    """A signed 64-bit number that any process can compute by itself, so none has to ask for it."""
    return int.from_bytes(xxh3_64_digest(url.encode("utf-8", "surrogatepass")), "big", signed=True)


def origin(url: str) -> str:
    """Scheme, host and port of a canonical URL: the unit of robots rules, pauses and queues."""
    end = url.find("/", url.find("://") + 3)
    return url if end < 0 else url[:end]


def hostname(url: str) -> str:
    """The host name of a canonical URL, without port and brackets."""
    name: str = can_ada.parse(url).hostname
    return name.strip("[]")
