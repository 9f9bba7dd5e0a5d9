"""Files that are complete or not there: written beside their place, then renamed."""

import os
from pathlib import Path


def write_whole(path: Path, *parts: bytes, sync: bool = True) -> None:
    """Writes a file under its name, complete or not at all.

    `sync` brings it to the disk first. Results that another process only reads while a crawl runs do not need that.
    """
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        for part in parts:
            file.write(part)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    beside.replace(path)
