"""Where a command writes what it was asked for: to standard output, to a file that is whole or not
there, or to a device."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sanderling.errors import UsageError
from sanderling.presenting.screen import harmless_json
from sanderling.repository.folder import Folder


def write_json(encoded: str | bytes) -> None:
    """Writes a line of JSON to standard output, without characters that could control the
    terminal."""
    text = encoded.decode() if isinstance(encoded, bytes) else encoded
    sys.stdout.write(harmless_json(text) + "\n")


@contextmanager
def written(path: Path, folder: Folder) -> Iterator[IO[bytes]]:
    """`-` is standard output. A file appears under its name only when it is complete; a device or a
    pipe is written to as it is, since to put a file in its place would take it from everybody."""
    if str(path) == "-":
        yield sys.stdout.buffer
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder, not a file")
    check_place(path, folder)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = Path(os.path.realpath(path))  # a link stays a link
    part = place.with_name(place.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def check_place(path: Path, folder: Folder) -> None:
    """Refuses a place that cannot be, or that is the crawl's own."""
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path.absolute().parent} does not exist")
    if folder.owns(path):
        raise UsageError(f"{path} belongs to the crawl itself; choose another name")
