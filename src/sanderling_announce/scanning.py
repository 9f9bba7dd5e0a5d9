"""Walks through a folder in the order of the bytes of its paths, so that it can be compared with
the memory in one pass."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sanderling_announce.memory import AnnouncedPage
from sanderling_announce.paths import HERE

# Folders inside each other. A path cannot be longer than 4,096 bytes on most systems.
DEEPEST = 1000
# Names of one folder that are in memory at a time, about 80 bytes each. A folder with more is read
# several times.
MOST_NAMES = 500_000
_REPARSE_POINT = 0x400


class FileSeen(NamedTuple):
    path: bytes  # relative to the folder
    size: int
    mtime: int
    inode: int


class Walk:
    """One walk. What it could not read is in `unreadable`: of that nothing is known, not even that
    it is gone."""

    def __init__(self, root: bytes, most_names: int = MOST_NAMES) -> None:
        self.root = root
        self._most_names = most_names
        self.unreadable: list[bytes] = []
        self.links: dict[bytes, bytes] = {}  # linked folders, and the folders inside the root that they lead to
        self._real_root = os.path.realpath(root)

    def files(self, below: bytes = b"") -> Iterator[FileSeen]:
        """All regular files below a folder that are not hidden, each as it is now."""
        stack = [self._entries(below)]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
            elif isinstance(entry, FileSeen):
                yield entry
            elif len(stack) < DEEPEST:
                stack.append(self._entries(entry))

    def _entries(self, folder: bytes) -> Iterator[FileSeen | bytes]:
        """Files and folders, the latter as their path, as they are sorted with a slash behind the
        names of folders."""
        prefix = folder + b"/" if folder else b""
        names: list[bytes] = []
        more = True
        while more:
            try:
                names, more = self._names(folder, prefix, names[-1] if names else b"")
            except FileNotFoundError:
                return
            except OSError:
                self.unreadable.append(prefix)
                return
            for name in names:
                if name.endswith(b"/"):
                    yield prefix + name[:-1]
                elif seen := self.look(prefix + name):
                    yield seen

    def _names(self, folder: bytes, prefix: bytes, after: bytes) -> tuple[list[bytes], bool]:
        """The first names of a folder after one of them, and whether there are more."""
        with os.scandir(os.path.join(self.root, folder)) as entries:
            shown = (
                entry.name + b"/" if self._is_folder(entry, prefix) else entry.name
                for entry in entries
                if not entry.name.startswith(b".")
            )
            return smallest(shown, after, self._most_names)

    def _is_folder(self, entry: os.DirEntry[bytes], prefix: bytes) -> bool:
        if not _is_link(entry):
            return entry.is_dir(follow_symlinks=False)
        return entry.is_dir() and self._leads_inside(prefix + entry.name)

    def _leads_inside(self, path: bytes) -> bool:
        """Whether a linked folder lies inside the root and does not hold the link itself, so that
        nothing is endless."""
        if any(path.startswith(link + b"/") for link in self.links):
            return False
        target = os.path.realpath(os.path.join(self.root, path))
        where = os.path.realpath(os.path.dirname(os.path.join(self.root, path)))
        inside = HERE.inside(self._real_root, target)
        if not inside or HERE.inside(target, where) is not None:
            return False
        self.links[path] = inside
        return True

    def look(self, path: bytes) -> FileSeen | None:
        """A regular file as it is now, or None. A link counts as the file it leads to, when that is
        inside the root."""
        where = os.path.join(self.root, path)
        try:
            found = os.lstat(where)
            if stat.S_ISLNK(found.st_mode):
                if not HERE.inside(self._real_root, os.path.realpath(where)):
                    return None
                found = os.stat(where)
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return FileSeen(path, found.st_size, found.st_mtime_ns, found.st_ino)


def _is_link(entry: os.DirEntry[bytes]) -> bool:
    """Also what Windows calls a junction."""
    if entry.is_symlink() or os.name != "nt":
        return entry.is_symlink()
    return bool(getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0) & _REPARSE_POINT)


def smallest(names: Iterable[bytes], after: bytes, most: int) -> tuple[list[bytes], bool]:
    """The smallest names after one, sorted, and whether there are more. At most twice as many are
    in memory."""
    found: list[bytes] = []
    largest: bytes | None = None  # of those that can still be among them
    for name in names:
        if name > after and (largest is None or name < largest):
            found.append(name)
            if len(found) > 2 * most:
                found.sort()
                del found[most:]
                largest = found[-1]
    found.sort()
    more = largest is not None or len(found) > most
    return found[:most], more


def compared(
    seen: Iterator[FileSeen], known: Iterator[AnnouncedPage]
) -> Iterator[tuple[FileSeen | None, AnnouncedPage | None]]:
    """Files beside what is remembered of them; both in the order of their paths."""
    file, row = next(seen, None), next(known, None)
    while file is not None or row is not None:
        if row is None or (file is not None and file.path < row.key):
            yield file, None
            file = next(seen, None)
        elif file is None or row.key < file.path:
            yield None, row
            row = next(known, None)
        else:
            yield file, row
            file, row = next(seen, None), next(known, None)
