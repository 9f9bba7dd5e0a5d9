"""A folder with a file for each page, as exports write it. It remembers what its files were made
of: the next export writes only what differs and removes the files of what is gone, and one that was
interrupted goes on."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from sanderling.errors import UsageError
from sanderling.files import write_whole

MEMORY = ".sanderling.json"
# What was written is noted so often, in seconds.
_NOTE_EVERY = 5.0


class FolderFile(NamedTuple):
    """A file that can be written."""

    path: str  # below the folder
    key: str  # other facts or another content give another one
    content: Callable[[], bytes | None]  # None if it cannot be made now; a file without a byte is not written


class FilesWritten(NamedTuple):
    """What an export did to a folder of files."""

    written: int
    unchanged: int
    removed: int


class ExportFolder:
    """The files below a folder, of one format: another one would remove them."""

    def __init__(self, path: Path, form: str) -> None:
        self._path = path
        self._memory = path / (MEMORY if form == "markdown" else f".sanderling-{form}.json")
        self._known: dict[str, str] = {}
        if self._memory.exists():
            try:
                self._known = msgspec.json.decode(self._memory.read_bytes(), type=dict[str, str])
            except msgspec.DecodeError:
                raise UsageError(f"{self._memory} cannot be read: remove it, and export with --force") from None

    def is_ours(self) -> bool:
        return self._memory.exists()

    def keys(self) -> frozenset[str]:
        """Of the files that were written."""
        return frozenset(self._known.values())

    def write(
        self, files: Iterable[FolderFile], on_progress: Callable[[int], None] = lambda done: None
    ) -> FilesWritten:
        self._path.mkdir(parents=True, exist_ok=True)
        now: dict[str, str] = {}
        written = unchanged = 0
        noted_at = time.monotonic()
        self._note(self._known)  # from now on the folder is ours
        try:
            for file in files:
                now[file.path], changed = self._put(file)
                written += changed is True
                unchanged += changed is None
                on_progress(len(now))
                if time.monotonic() - noted_at > _NOTE_EVERY:
                    self._note({**self._known, **now})
                    noted_at = time.monotonic()
        except BaseException:
            self._note({**self._known, **now})
            raise
        removed = sum(self._remove(path) for path in self._known.keys() - now.keys())
        self._note(now)
        return FilesWritten(written, unchanged, removed)

    def _put(self, file: FolderFile) -> tuple[str, bool | None]:
        """Writes a file if need be. Returns its key, and whether it was written: None if it is as
        before."""
        path, before = self._path / file.path, self._known.get(file.path, "")
        if before == file.key and path.exists():
            return before, None
        content = file.content()
        if content is None:  # what was written before stays
            return before, False
        if content:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content, sync=False)
        else:
            path.unlink(missing_ok=True)
        return file.key, bool(content)

    def _note(self, files: dict[str, str]) -> None:
        write_whole(self._memory, msgspec.json.encode(files))

    def _remove(self, file: str) -> bool:
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts or not (self._path / path).is_file():
            return False
        (self._path / path).unlink()
        for folder in (self._path / path).parents:
            if folder == self._path or any(folder.iterdir()):
                break
            folder.rmdir()
        return True
