"""Reads a file and says what its content is."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from sanderling_announce.change import EventHint
from sanderling_announce.hints import hints_of
from sanderling_announce.scanning import FileSeen

_PIECE = 1024**2


class Content(NamedTuple):
    hash: bytes
    hints: tuple[EventHint, ...]


def read(
    root: bytes, file: FileSeen, ignored: list[Any], with_hints: bool, new_hash: Callable[[], Any]
) -> Content | None:
    """The content of a file that was seen; None when it is another file by now, when it is being
    written, or when it cannot be read. `ignored` are patterns (for bytes) of what does not
    count, such as the time of a build."""
    try:
        descriptor = os.open(
            os.path.join(root, file.path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except OSError:
        return None
    try:
        if not _is_same(descriptor, file):
            return None
        hasher = new_hash()
        pieces: list[bytes] = []
        while piece := os.read(descriptor, _PIECE):
            if ignored or len(pieces) == 0:
                pieces.append(piece)
            if not ignored:
                hasher.update(piece)
        if not _is_same(descriptor, file):
            return None
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if ignored:
        whole = b"".join(pieces)
        for each in ignored:
            whole = each.sub(b"", whole)
        hasher.update(whole)
    return Content(hasher.digest(), hints_of(file.path, pieces[0]) if with_hints and pieces else ())


def _is_same(descriptor: int, file: FileSeen) -> bool:
    found = os.fstat(descriptor)
    return (found.st_size, found.st_mtime_ns, found.st_ino) == (file.size, file.mtime, file.inode)
