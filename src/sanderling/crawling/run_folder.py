"""Where a running crawl is met: a folder for its socket and its small files, and a link to it in
the crawl's own.

Not in the crawl's own folder, because a socket's path must be short.
"""

import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sanderling.repository.fencing import RUN

LINK = "sanderling.socket"
_SOCKET = "socket"


@contextmanager
def run_folder(folder: Path) -> Iterator[Path]:
    """For whoever holds the crawl's folder."""
    link = folder / LINK
    _clear_up(link)
    with tempfile.TemporaryDirectory(prefix=RUN) as made:
        place = Path(made)
        link.symlink_to(place / _SOCKET)
        try:
            yield place
        finally:
            link.unlink(missing_ok=True)


def _clear_up(link: Path) -> None:
    """Removes what a crawl that was killed could not."""
    if not link.is_symlink():
        link.unlink(missing_ok=True)
        return
    place = link.readlink()
    left = place.parent
    ours = place.name == _SOCKET and left.name.startswith(RUN) and left.parent == Path(tempfile.gettempdir())
    if ours and not _answers(place):  # a copy of a folder that is being crawled leads to where that one is met
        shutil.rmtree(left, ignore_errors=True)
    link.unlink()


def _answers(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.connect(str(place))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            pass
        return True
