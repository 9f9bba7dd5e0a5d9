"""Sanderling keeps a versioned copy of part of the web and revisits what has probably changed.

The life of a page: A URL enters as a seed or as a link on another page. The dispatcher
(`server.frontier.scope`) decides once whether it is in scope and keeps it with its state in the
store (`repository`). Ranking (`server.ranking`) orders the URLs that wait. The allocator
(`server.frontier.allocator`) leases a batch of URLs to a client process. The client's loop
(`client.crawler`) asks the host's robots rules, waits for the pause that the host is owed, fetches
the page (`client.fetcher`), reads it (`client.reading`), appends it to a WARC file
(`repository.warc`) and reports. The intake (`server.intake`) turns the report into one commit:
states, facts, version, links and the new URLs, which start over. `server.loop` connects the stages.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Crawl", "Event", "OpenFolder", "Page", "ReadPage", "SanderlingError", "__version__", "extractor", "open"]

if TYPE_CHECKING:
    from sanderling.documents.extracting import ReadPage, extractor
    from sanderling.errors import SanderlingError
    from sanderling.library import Crawl, Event, OpenFolder, Page
    from sanderling.library import open_folder as open


def __getattr__(name: str) -> Any:
    # Client processes import this package too; they must not pay for the whole library.
    if name == "SanderlingError":
        from sanderling.errors import SanderlingError

        return SanderlingError
    if name in ("ReadPage", "extractor"):
        from sanderling.documents import extracting

        return getattr(extracting, name)
    if name == "open":
        from sanderling.library import open_folder

        return open_folder
    if name in __all__:
        from sanderling import library

        return getattr(library, name)
    raise AttributeError(f"module 'sanderling' has no attribute {name!r}")
