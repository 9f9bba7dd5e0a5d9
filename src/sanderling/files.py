"""Writes files that are either complete or not there: first under another name, then renamed."""

import os
from pathlib import Path


def write_whole(path: Path, *parts: bytes, sync: bool = True) -> None:
    """Writes a file, complete or not at all.

    `sync` waits until the data is on the disk. Files that are needed only while a crawl runs can do without it.
    """
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        for part in parts:
            file.write(part)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    beside.replace(path)
