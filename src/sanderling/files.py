"""Writes files that are either complete or not there: first under another name, then renamed."""

import os
from pathlib import Path


def write_whole(path: Path, *parts: bytes, sync: bool = True, private: bool = False) -> None:
    """Writes a file, complete or not at all.

    `sync` waits until the data is on the disk. Files that are needed only while a crawl runs can do without it.
    A `private` file can be read by its owner only, from its first byte on.
    """
    beside = path.with_name(path.name + ".part")
    if private:
        beside.unlink(missing_ok=True)  # one that was left may be readable
    with open(beside, "wb", opener=_private if private else None) as file:
        for part in parts:
            file.write(part)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    beside.replace(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
