"""How the file systems of a platform name files. The announcer names a file by its path in the
folder, as bytes with `/` between names."""

from __future__ import annotations

import sys
from typing import NamedTuple, Optional


class PathRules(NamedTuple):
    separator: bytes = b"/"
    folds: bool = False  # whether `A.html` and `a.html` are one file
    composes: bool = False  # whether names come decomposed: `é` as `e` and an accent

    def inside(self, root: bytes, path: bytes) -> Optional[bytes]:
        """The path below a folder; empty for the folder itself, None for what is elsewhere."""
        root = self._divided(root).rstrip(b"/")
        path = self._divided(path)
        if self._same(path.rstrip(b"/")) == self._same(root):
            return b""
        if self._same(path).startswith(self._same(root) + b"/"):
            return path[len(root) + 1 :].rstrip(b"/")
        return None

    def written(self, name: str) -> str:
        """A name as links of the web write it."""
        if not self.composes or name.isascii():
            return name
        from unicodedata import normalize  # a megabyte

        return normalize("NFC", name)

    def is_one_of(self, name: bytes, names: tuple[bytes, ...]) -> bool:
        return (name.lower() if self.folds else name) in names

    def _divided(self, path: bytes) -> bytes:
        """Windows also puts `\\\\?\\` before long paths."""
        if self.separator == b"/":
            return path
        return path.replace(self.separator, b"/").removeprefix(b"//?/")

    def _same(self, path: bytes) -> bytes:
        """Equal for all ways to write one path. The length stays the same."""
        return path.lower() if self.folds else path


POSIX = PathRules()
MACOS = PathRules(folds=True, composes=True)
WINDOWS = PathRules(separator=b"\\", folds=True)
HERE = {"win32": WINDOWS, "darwin": MACOS}.get(sys.platform, POSIX)
