"""Where a running crawl is met: a folder for its socket and its small files, and a link to it in
the crawl's own.

Not in the crawl's own folder, because a socket's path must be short.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sanderling.processes.scratch import scratch

LINK = "sanderling.socket"
_SOCKET = "socket"


@contextmanager
def run_folder(folder: Path) -> Iterator[Path]:
    """For whoever holds the crawl's folder."""
    link = folder / LINK
    # What a crawl left that was killed. Where it leads is never touched: it may be a copy's.
    link.unlink(missing_ok=True)
    with scratch("run") as place:
        link.symlink_to(place / _SOCKET)
        try:
            yield place
        finally:
            with suppress(OSError):  # on a disk that fails, which is told already
                link.unlink(missing_ok=True)
