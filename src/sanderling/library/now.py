"""One page as it is now, without a crawl folder that stays."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sanderling.errors import NothingFetched
from sanderling.library.crawling import Crawl
from sanderling.library.options import CrawlOptions
from sanderling.library.page import Page

T = TypeVar("T")


def read_now(url: str, use: Callable[[Page], T], options: CrawlOptions) -> T:
    """Fetches a URL by the rules of a crawl, follows its redirects, and gives the page to a
    function."""
    chosen = options.copy()
    chosen.update({"max_pages": 1, "clients": 1, "sitemaps": False, "index": False, "reports": False})
    folder = tempfile.TemporaryDirectory(prefix="sanderling-")
    with folder as place, Crawl(Path(place) / "now", [url], **chosen) as crawl:
        for page in crawl:
            return use(page)
    raise NothingFetched(f"{url} brought no page")
