"""What the reading commands share: the folder argument and opening it."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.wiring.archive import open_store


def add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", type=Path, help="the crawl folder")


@contextmanager
def reading(path: Path) -> Iterator[tuple[Folder, Store]]:
    """A crawl folder for reading; it may be crawled into at the same time."""
    folder = Folder(path)
    folder.require()
    store = open_store(folder, readonly=True)
    try:
        yield folder, store
    finally:
        store.close()
