"""From the hrefs of a page to 64-bit identities. Most links of a site repeat from page to page, so
most are looked up by their text and never parsed again."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from sys import byteorder
from urllib.parse import quote_from_bytes

import can_ada

from sanderling.model import Found
from sanderling.urls import LONGEST, SEEDABLE, WEB, canonical, identity, unified

# Entries, about 100 bytes each.
MOST_REMEMBERED = 200_000
MOST_KNOWN = 500_000

# One page with a million links is a trap or an accident; the first of them tell what it is. A long
# base makes megabytes of URLs from a few bytes each, so their length counts as well.
MOST_ON_A_PAGE = 50_000
MOST_TEXT_ON_A_PAGE = 8 * 1024**2

# From this many on, a table of the page's links is cheaper than looking for each.
_MANY = 20


class LinkTable:
    """Resolves links and remembers which URLs the server has heard of from this client."""

    def __init__(self) -> None:
        self._by_folder: dict[str, dict[str, bytes]] = {}
        self._remembered = 0
        self._known: set[int] = set()

    def resolve(self, base: str, hrefs: Sequence[str]) -> tuple[bytes, list[tuple[str, Found]]]:
        """The packed identities of what `hrefs` lead to, each once, and those (by href) that are
        new to this client."""
        folder = base[: base.rfind("/", 0, base.find("?") if "?" in base else len(base)) + 1]
        remembered = self._by_folder.get(folder)
        if remembered is None:
            remembered = self._by_folder[folder] = {}
            self._remembered += 1
        # Hundreds of links a page, and most of them remembered: what follows stays in C for those.
        targets = dict.fromkeys([href.partition("#")[0] if "#" in href else href for href in hrefs])
        targets.pop("", None)
        found = [*map(remembered.get, islice(targets, MOST_ON_A_PAGE))]
        new = self._look_up(base, targets, found, remembered) if None in found else {}
        self._forget_some()
        # No identity is nothing to join, and two names of one page are one link.
        links = b"".join(dict.fromkeys(filter(None, found)))
        return links, [*zip(_as_written([*new], hrefs), new.values(), strict=True)]

    def _look_up(
        self, base: str, targets: Iterable[str], found: list[bytes | None], remembered: dict[str, bytes]
    ) -> dict[str, Found]:
        """Parses the links that are not remembered, and puts their identities in their places;
        returns the new ones."""
        parsed = can_ada.parse(base)
        new: dict[str, Found] = {}
        text = 0
        missing = [(place, target) for place, target in enumerate(islice(targets, len(found))) if found[place] is None]
        for place, written in missing:
            target = written.strip()
            if not target or len(target) > LONGEST or text > MOST_TEXT_ON_A_PAGE:
                continue
            url = _resolved(parsed, target)
            id = identity(url) if url else 0
            packed = found[place] = id.to_bytes(8, byteorder, signed=True) if url else b""
            # What a link that starts with "?" leads to depends on the page, not only on its folder.
            if target[0] != "?":
                remembered[written] = packed
                self._remembered += 1
            if url and id not in self._known:
                self._known.add(id)
                new[written] = Found(id, url, "")
                text += len(url)
        return new

    def meet(self, url: str) -> Found | None:
        """A single URL, when this client has not met it."""
        id = identity(url)
        if id in self._known:
            return None
        self._known.add(id)
        return Found(id, url, "")

    def _forget_some(self) -> None:
        if self._remembered > MOST_REMEMBERED:
            self._by_folder.clear()
            self._remembered = 0
        if len(self._known) > MOST_KNOWN:
            self._known.clear()


def _as_written(targets: list[str], hrefs: Sequence[str]) -> list[str]:
    """For each target an href that leads there, with a fragment only if all of them have one."""
    if len(targets) < _MANY:
        return [each if each in hrefs else next(h for h in hrefs if h.startswith(each + "#")) for each in targets]
    first = {href.partition("#")[0]: href for href in reversed(hrefs)}
    return [first[each] for each in targets]


def _resolved(base: can_ada.URL, target: str) -> str | None:
    try:
        url: str = (base + target).href
    except (ValueError, TypeError):  # the latter is what half of a surrogate pair is to C++
        return None
    if not url.startswith(SEEDABLE) or len(url) > LONGEST:
        return None
    if not url.startswith(WEB):
        return canonical(url, SEEDABLE)
    # Credentials, stray fragments and Punycode are rare; only then is a second look worth its time.
    if "@" in url or "#" in url or "xn--" in url:
        return canonical(url)
    return unified(url)


def in_charset(hrefs: Iterable[str], charset: str) -> dict[str, str]:
    """How browsers write the links whose queries have letters beyond ASCII, on a page in another
    charset than UTF-8: in the page's own. The form is WHATWG's, and what servers of such pages
    expect."""
    if charset.startswith("utf"):
        return {}
    return {href: _query_in(href, charset) for href in hrefs if "?" in href and not href.isascii()}


def _query_in(href: str, charset: str) -> str:
    path, _, query = href.partition("?")
    try:
        return f"{path}?" + "".join(
            letter if letter.isascii() else quote_from_bytes(letter.encode(charset, "xmlcharrefreplace"), safe="")
            for letter in query
        )
    except (LookupError, UnicodeError):  # a charset that Python does not write
        return href


def pack(ids: Iterable[int]) -> bytes:
    """64-bit identities as stored in the link index."""
    return array("q", ids).tobytes()


def unpacked(links: bytes) -> Iterable[int]:
    return memoryview(links).cast("q")
