"""The main page of a site and the pages it links to: the most important ones."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Optional

from sanderling_announce.markup import each_element
from sanderling_announce.pages import INDEXES
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


def _links(body: bytes, site: str, tools: Tools) -> frozenset[str]:
    hrefs: dict[str, None] = {}

    def begins(tag: str, attributes: dict[str, Optional[str]]) -> None:
        if tag == "a" and (href := attributes.get("href")):
            hrefs[href] = None

    each_element(body, begins)
    urls = (tools.join(site, href) for href in hrefs)
    return frozenset([site, *[url for url in urls if url and url.startswith(site)][:MOST_LINKS]])
