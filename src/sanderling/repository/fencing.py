"""Keeps clients that lost their server from writing into archives.

A client may stand still (SIGSTOP, a suspended machine) while its server dies and another server
takes the folder. When it wakes, it writes what it had in memory. A check before the write would not
help: the client may stand still between the two. So nothing that it can still reach is part of the
archive:

- New files are made in a folder of the run, `warc/RUN/`. The server moves a file to the archives
  before the first commit that names it. The next server moves the folder away, and no client can
  make a file in it any more.
- A client holds a lock on its file as long as it lives. A file that is still locked is replaced by
  a copy: the client goes on writing into a file that has no name.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import IO

# The folder of a run is called like the folder in which its socket is.
RUN = "sanderling-"


def lock(file: IO[bytes]) -> None:
    """Takes a file that was just made for this process, until it ends."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def publish(place: Path, names: Iterable[str]) -> None:
    """Moves files from the folder of a run to the archives; those that are there already stay."""
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            (place / name).rename(place.parent / name)
            sync(place.parent)


def move_runs_away(warcs: Path, to: Path) -> list[Path]:
    """Removes the folders of all runs, or moves them away if files are in them.

    Returns those that were moved, now or before.
    """
    for place in warcs.glob(f"{RUN}*/"):
        try:
            place.rmdir()
        except OSError:  # there is something in it
            to.mkdir(exist_ok=True)
            place.rename(to / place.name)
    return sorted(to.glob(f"{RUN}*/"))


def take_from_writer(path: Path) -> None:
    """Makes sure that no process writes to a file any more."""
    with path.open("rb") as source:
        try:
            fcntl.flock(source, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # the writer lives
            beside = path.with_name(path.name + ".part")
            with beside.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
                target.flush()
                os.fsync(target.fileno())
            beside.replace(path)


def sync(folder: Path) -> None:
    """Makes new and removed names of files survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
