"""What the reading commands share: the folder argument and opening it."""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sanderling.cli.screen import say
from sanderling.cli.typed import pathname
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store, WhileAway
from sanderling.wiring.archive import open_store

# How often a database that went away is looked for.
AWAY_PAUSE = 0.5


def add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", type=pathname, help="the crawl folder")


@contextmanager
def reading(path: Path, while_away: WhileAway | None = None) -> Iterator[tuple[Folder, Store]]:
    """A crawl folder for reading; it may be crawled into at the same time."""
    folder = Folder(path)
    folder.require()
    store = open_store(folder, readonly=True, while_away=while_away)
    try:
        yield folder, store
    finally:
        store.close()


def waiting() -> WhileAway:
    """For a command that goes on until it is stopped: it waits for a database that went away, and says so."""
    since: list[float] = []

    def wait(reason: str) -> None:
        if not reason:
            say(f"the database is back after {time.monotonic() - since.pop():.1f} s")
            return
        if not since:
            since.append(time.monotonic())
            say(f"the database went away ({reason}); waiting for it")
        time.sleep(AWAY_PAUSE)

    return wait
