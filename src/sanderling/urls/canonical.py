"""One canonical form per URL and the 64-bit identity computed from it.

The form is WHATWG's without fragment and credentials, and on top of it what else cannot change the
page: escapes are written one way, an empty query is none, and parameters that name no page
(`parameters`) are left out.
"""

import re
from string import hexdigits

import can_ada
from xxhash import xxh3_64_digest

from sanderling.urls.query import without_noise

WEB = ("http://", "https://")
SEEDABLE = (*WEB, "ftp://", "gopher://")

# Longer URLs are data or traps; servers refuse most of them anyway.
LONGEST = 8192

_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
# An escape, or one behind a `%` that begins none. The latter is not decoded: `%%32e` would become
# another escape, `%2e`.
_ESCAPE = re.compile("%(?:[0-9A-Fa-f]?%)?[0-9A-Fa-f]{2}")
# Characters that mean the same escaped and not, by RFC 3986, are not escaped; the others in
# capitals.
_WRITTEN = {
    f"%{high}{low}": chr(code) if chr(code := int(high + low, 16)) in _UNRESERVED else f"%{code:02X}"
    for high in hexdigits
    for low in hexdigits
}

# What the domain name system allows.
_LONGEST_LABEL = 63

# What is no text to C++ (half of a surrogate pair) is a TypeError.
_NO_URL = (ValueError, TypeError)


def canonical(text: str, schemes: tuple[str, ...] = WEB) -> str | None:
    """The canonical form of an absolute URL, or None when it is none that can be fetched."""
    url = as_written(text, schemes)
    return unified(url) if url else None


def as_written(text: str, schemes: tuple[str, ...] = WEB) -> str | None:
    """The WHATWG form of an absolute URL with all of its parameters."""
    try:
        url = can_ada.parse(text)
    except _NO_URL:
        return None
    if not url.hostname:
        return None
    if url.username or url.password:
        url.username = url.password = ""
    href: str = url.href.partition("#")[0]
    if not href.startswith(schemes) or len(href) > LONGEST or ("xn--" in href and not _is_well_encoded(url.hostname)):
        return None
    return href


def _is_well_encoded(host: str) -> bool:
    """Whether every Punycode label is the one way to write a name beyond ASCII; the parser lets
    others pass."""
    for label in host.split("."):
        if label.startswith("xn--"):
            if len(label) > _LONGEST_LABEL:
                return False
            try:
                name = label[4:].encode().decode("punycode")
            except UnicodeError:
                return False
            if name.isascii() or name.encode("punycode").decode() != label[4:]:
                return False
    return True


def unified(url: str) -> str:
    """The canonical form of a URL that is in WHATWG form already."""
    if "%" in url:
        url = one_way(url)
    if "?" in url or ";" in url or "(" in url:
        shorter = without_noise(url)
        if shorter != url and "/." in shorter:
            shorter = can_ada.parse(shorter).href  # `..;jsessionid=1` is `..` now, and the path another one
        return shorter
    return url


def one_way(text: str) -> str:
    """Text with its escapes written one way."""
    return _ESCAPE.sub(_written, text)


def _written(escape: re.Match[str]) -> str:
    text = escape[0]
    return _WRITTEN.get(text) or text[:-3] + text[-3:].upper()


def join(base: str, reference: str) -> str | None:
    """The canonical form of a reference that stands on the page `base`."""
    try:
        return canonical((can_ada.parse(base) + reference).href)
    except _NO_URL:
        return None


def redirected(url: str, location: str) -> str | None:
    """Where a redirect leads. A host that insists on a parameter which names no page gets it: else
    it would send us round in circles."""
    target = join(url, location)
    if target != url:
        return target
    try:
        return as_written((can_ada.parse(url) + location).href)
    except _NO_URL:
        return None


def identity(url: str) -> int:
    """A signed 64-bit number that any process can compute by itself, so none has to ask for it."""
    return int.from_bytes(xxh3_64_digest(url.encode("utf-8", "surrogatepass")), "big", signed=True)


def request_identity(url: str, method: str = "GET", body: bytes = b"") -> int:
    """The identity of a request: a plain GET is its URL; another method or body makes it another
    request."""
    if method == "GET" and not body:
        return identity(url)
    whole = b"%b %b\n%b" % (method.encode(), url.encode("utf-8", "surrogatepass"), body)
    return int.from_bytes(xxh3_64_digest(whole), "big", signed=True)


def origin(url: str) -> str:
    """Scheme, host and port of a canonical URL: the unit of robots rules, pauses and queues."""
    end = url.find("/", url.find("://") + 3)
    return url if end < 0 else url[:end]


def hostname(url: str) -> str:
    """The host name of a canonical URL, without port and brackets."""
    name: str = can_ada.parse(url).hostname
    return name.strip("[]")
