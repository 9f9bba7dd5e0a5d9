"""Files that are either complete or not there."""

import os
import time
from pathlib import Path

# Windows refuses to replace a file while somebody reads it. In seconds.
_PAUSES = (0.01, 0.05, 0.2, 1.0)


def write_whole(path: Path, *parts: bytes, sync: bool = True, mode: int = 0o666) -> None:
    """Writes a file, complete or not at all: first under another name, then renamed.

    `sync` waits until the data is on the disk. Files that are needed only while a program runs can
    do without it. The file has its `mode`, less what the umask takes, from its first byte on.
    """
    beside = path.with_name(path.name + ".part")
    beside.unlink(missing_ok=True)  # one that was left may have another mode
    no_link = getattr(os, "O_NOFOLLOW", 0)
    with open(beside, "wb", opener=lambda name, flags: os.open(name, flags | no_link, mode)) as file:
        for part in parts:
            file.write(part)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    for pause in _PAUSES if os.name == "nt" else ():
        try:
            beside.replace(path)
            return
        except PermissionError:
            time.sleep(pause)
    beside.replace(path)
