"""Sanderling keeps a versioned copy of part of the web and revisits what has probably changed.

The life of a page: A URL enters as a seed or as a link on another page. The dispatcher
(`server.dispatcher`) decides once whether it is in scope and keeps it with its state in the store
(`repository`). Ranking (`server.ranking`) orders the URLs that wait. The allocator
(`server.allocator`) leases a batch of URLs to a client process. The client's loop
(`client.crawler`) asks the host's robots rules, waits for the pause that the host is owed, fetches
the page (`client.fetcher`), reads it (`client.reading`), appends it to a WARC file
(`repository.warc`) and reports. The intake (`crawling.intake`, `server.settling`) turns the report
into one commit: states, facts, version, links and the new URLs, which start over. `crawling.server`
connects the stages.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Crawl", "Page", "ReadPage", "SanderlingError", "__version__"]

if TYPE_CHECKING:
    from sanderling.documents.extracting import ReadPage
    from sanderling.errors import SanderlingError
    from sanderling.library import Crawl, Page


def __getattr__(name: str) -> Any:
    # Client processes import this package too; they must not pay for the whole library.
    if name == "SanderlingError":
        from sanderling.errors import SanderlingError

        return SanderlingError
    if name == "ReadPage":
        from sanderling.documents.extracting import ReadPage

        return ReadPage
    if name in __all__:
        from sanderling import library

        return getattr(library, name)
    raise AttributeError(f"module 'sanderling' has no attribute {name!r}")
