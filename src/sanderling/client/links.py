"""From the hrefs of a page to 64-bit identities. Most links of a site repeat from page to page, so most are
looked up by their text and never parsed again."""

from array import array
from collections.abc import Iterable

import can_ada

from sanderling.model import Found
from sanderling.urls import LONGEST, WEB, canonical, identity, unified

# Entries, about 100 bytes each.
MOST_REMEMBERED = 200_000
MOST_KNOWN = 500_000

# One page with a million links is a trap or an accident; the first of them tell what it is. A long base makes
# megabytes of URLs from a few bytes each, so their length counts as well.
MOST_ON_A_PAGE = 50_000
MOST_TEXT_ON_A_PAGE = 8 * 1024**2


class LinkTable:
    """Resolves links and remembers which URLs the server has heard of from this client."""

    def __init__(self) -> None:
        self._by_folder: dict[str, dict[str, int]] = {}
        self._remembered = 0
        self._known: set[int] = set()

    def resolve(self, base: str, hrefs: Iterable[str | None]) -> tuple[dict[int, None], list[tuple[str, Found]]]:
        """The identities of what `hrefs` lead to, each once, and those (by href) that are new to this client."""
        folder = base[: base.rfind("/", 0, base.find("?") if "?" in base else len(base)) + 1]
        remembered = self._by_folder.get(folder)
        if remembered is None:
            remembered = self._by_folder[folder] = {}
            self._remembered += 1
        get = remembered.get
        ids: dict[int, None] = {}
        new: list[tuple[str, Found]] = []
        parsed: can_ada.URL | None = None
        text = 0
        for href in dict.fromkeys(hrefs):
            if not href:
                continue
            id = get(href)
            if id is None and "#" in href:
                id = get(href.partition("#")[0])
            if id is None:
                target = href.partition("#")[0].strip()
                if not target or len(target) > LONGEST:
                    continue
                if parsed is None:
                    parsed = can_ada.parse(base)
                url = _resolved(parsed, target)
                id = identity(url) if url else 0
                # What a link that starts with "?" leads to depends on the page, not only on its folder.
                if target[0] != "?":
                    remembered[target] = id
                    self._remembered += 1
                if url and id not in self._known:
                    self._known.add(id)
                    new.append((href, Found(id, url, "")))
                    text += len(url)
            if id:
                ids[id] = None
                if len(ids) >= MOST_ON_A_PAGE or text > MOST_TEXT_ON_A_PAGE:
                    break
        self._forget_some()
        return ids, new

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


def _resolved(base: can_ada.URL, target: str) -> str | None:
    try:
        url: str = (base + target).href
    except (ValueError, UnicodeError):
        return None
    if not url.startswith(WEB) or len(url) > LONGEST:
        return None
    # Credentials and stray fragments are rare; only then is a second look worth its time.
    if "@" in url or "#" in url:
        return canonical(url)
    return unified(url)


def pack(ids: Iterable[int]) -> bytes:
    """64-bit identities as stored in the link index."""
    return array("q", ids).tobytes()
