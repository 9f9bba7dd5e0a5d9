"""Sanderling keeps a versioned copy of a part of the web fresh at the least cost.

The life of a page. A URL enters as a seed or as a link on another page. The dispatcher (`server.dispatcher`)
decides once whether it is ours to visit and keeps it with its state in the store (`repository`). Ranking
(`server.ranking`) says what it is worth, and the allocator (`server.allocator`) leases it, among others of its
host, to a client process. The client's loop (`client.crawler`) asks the host's robots rules, waits out the
pause the host is owed, fetches (`client.fetcher`), reads what came back (`client.reading`), appends it to a
WARC file (`repository.warc`) and reports. Intake (`server.intake`) turns the report into one commit: states,
facts, version, links and the URLs that are new, which is where the next lives begin. `wiring` connects it all.
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
