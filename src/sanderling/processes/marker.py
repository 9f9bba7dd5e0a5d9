"""The page that a client is parsing now: eight bytes in a file, which can be read after the client
died."""

import mmap
import struct
from pathlib import Path

_ID = struct.Struct("<q")


def marker_path(folder: Path, client: str) -> Path:
    """The marker of a client on this machine; `folder` is that of the running crawl."""
    return folder / f"marker-{client}"


class Marker:
    """The client's side."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(_ID.size))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _ID.size)

    def write(self, id: int) -> None:
        _ID.pack_into(self._memory, 0, id)


def marked(path: Path) -> int:
    """The page that a client was parsing when it died; 0 when there was none or the client kept no
    marker."""
    try:
        written = path.read_bytes()
    except FileNotFoundError:
        return 0
    # A client that dies while it makes the file has parsed nothing.
    return int(_ID.unpack(written)[0]) if len(written) == _ID.size else 0
