"""What links lead to: from the main page, which are the most important pages, and from page to
page, which are all that a visitor finds."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Optional

from sanderling_announce.markup import each_element, is_markup
from sanderling_announce.pages import INDEXES, PageMap
from sanderling_announce.scanning import FileSeen, Walk
from sanderling_announce.tools import PLAIN, Tools

MOST_LINKS = 1000
_MOST_BYTES = 4 * 1024**2


def linked_by(root: Path, site: str, tools: Tools = PLAIN) -> Callable[[], frozenset[str]]:
    """A function that reads the main page again when its file is another one."""
    kept: tuple[tuple[int, int], frozenset[str]] | None = None

    def linked() -> frozenset[str]:
        nonlocal kept
        for name in INDEXES:
            where = root / os.fsdecode(name)
            try:
                found = where.stat()
                if not stat.S_ISREG(found.st_mode) or not where.resolve().is_relative_to(root.resolve()):
                    continue  # a pipe would be waited for, and a link may lead out of the site
                if kept is None or kept[0] != (found.st_size, found.st_mtime_ns):
                    with where.open("rb") as file:
                        kept = (found.st_size, found.st_mtime_ns), _links(file.read(_MOST_BYTES), site, tools)
                return kept[1]
            except OSError:
                continue
        return frozenset([site])

    return linked


class Reach:
    """The pages that a visitor finds by links from the main page, as of the last look."""

    def __init__(self, root: bytes, pages: PageMap, tools: Tools = PLAIN) -> None:
        self._root, self._pages, self._tools = root, pages, tools
        self._read: dict[str, tuple[FileSeen, tuple[str, ...]]] = {}
        self.urls: frozenset[str] = frozenset()

    def look(self) -> None:
        """Follows the links of all pages, and reads only those that are other ones than before."""
        seen = ((self._pages.url(file.path), file) for file in Walk(self._root).files())
        files = {url: file for url, file in seen if url is not None}
        before, self._read = self._read, {}
        found, waiting = {self._pages.site}, [self._pages.site]
        while waiting:
            url = waiting.pop()
            if (file := files.get(url)) is None:
                continue
            kept = before.get(url)
            targets = kept[1] if kept is not None and kept[0] == file else self._targets(url, file)
            self._read[url] = file, targets
            new = [each for each in dict.fromkeys(targets) if each in files and each not in found]
            found.update(new)
            waiting += new
        self.urls = frozenset(found)

    def _targets(self, url: str, file: FileSeen) -> tuple[str, ...]:
        try:
            with open(os.path.join(self._root, file.path), "rb") as opened:
                body = opened.read(_MOST_BYTES)
        except OSError:
            return ()
        joined = (self._tools.join(url, href) for href in _references(body))
        return tuple(each.partition("?")[0] for each in joined if each and each.startswith(self._pages.site))


def _references(body: bytes) -> list[str]:
    """What leads to other pages."""
    found: list[str] = []

    def begins(tag: str, attributes: dict[str, Optional[str]]) -> None:
        if reference := attributes.get("src" if tag in ("frame", "iframe") else "href"):
            found.append(reference)

    if is_markup(body) or b"<a" in body or b"<A" in body:
        each_element(body, begins)
    return found


def _links(body: bytes, site: str, tools: Tools) -> frozenset[str]:
    hrefs: dict[str, None] = {}

    def begins(tag: str, attributes: dict[str, Optional[str]]) -> None:
        if tag == "a" and (href := attributes.get("href")):
            hrefs[href] = None

    each_element(body, begins)
    urls = (tools.join(site, href) for href in hrefs)
    return frozenset([site, *[url for url in urls if url and url.startswith(site)][:MOST_LINKS]])
