"""From the hrefs of a page to 64-bit identities. Most links of a site repeat from page to page, so most are
looked up by their text and never parsed again."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import cast

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

    def resolve(self, base: str, hrefs: Sequence[str | None]) -> tuple[dict[int, None], list[tuple[str, Found]]]:
        """The identities of what `hrefs` lead to, each once, and those (by href) that are new to this client."""
        folder = base[: base.rfind("/", 0, base.find("?") if "?" in base else len(base)) + 1]
        remembered = self._by_folder.get(folder)
        if remembered is None:
            remembered = self._by_folder[folder] = {}
            self._remembered += 1
        # Hundreds of links a page, and most of them remembered: what follows stays in C for those.
        targets = dict.fromkeys([href.partition("#")[0] if "#" in href else href for href in hrefs if href])
        found: list[int | None] = [*map(remembered.get, islice(targets, MOST_ON_A_PAGE))]
        new: list[tuple[str, Found]] = []
        if None in found:
            self._look_up(base, targets, found, remembered, new)
            if new:
                as_written = {href.partition("#")[0]: href for href in reversed(hrefs) if href}
                new = [(as_written[target], each) for target, each in new]
        ids = dict.fromkeys(found)
        ids.pop(0, None)
        ids.pop(None, None)
        self._forget_some()
        return cast(dict[int, None], ids), new

    def _look_up(
        self,
        base: str,
        targets: Iterable[str],
        found: list[int | None],
        remembered: dict[str, int],
        new: list[tuple[str, Found]],
    ) -> None:
        """Parses the links that are not remembered, and puts their identities in their places."""
        parsed = can_ada.parse(base)
        text = 0
        for place, (written, known) in enumerate(zip(targets, found, strict=False)):
            if known is not None:
                continue
            target = written.strip()
            if not target or len(target) > LONGEST or text > MOST_TEXT_ON_A_PAGE:
                continue
            url = _resolved(parsed, target)
            id = found[place] = identity(url) if url else 0
            # What a link that starts with "?" leads to depends on the page, not only on its folder.
            if target[0] != "?":
                remembered[written] = id
                self._remembered += 1
            if url and id not in self._known:
                self._known.add(id)
                new.append((written, Found(id, url, "")))
                text += len(url)

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
