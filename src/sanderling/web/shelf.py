"""The crawl folders of a server: the given ones, and those one level below a given directory."""

import hashlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sanderling.documents.parser_choice import choose, chosen
from sanderling.errors import BadFolder, UsageError
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import Store

# An unused store is closed after this time, so that its folder can be moved or deleted.
IDLE_SECONDS = 30.0

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")


class UnknownCrawl(UsageError):
    """There is no folder with this name."""


class Shelf:
    """Folders by their names in URLs. It is thread-safe."""

    def __init__(self, places: list[Path]) -> None:
        for place in places:
            if place.exists() and not place.is_dir():
                raise BadFolder(f"{place} is not a folder")
            if not place.exists() and not place.parent.is_dir():
                raise BadFolder(f"{place.parent} does not exist")
        self._places = [place.absolute() for place in places]
        self._guard = threading.Lock()
        self._idle: dict[tuple[Path, int], list[tuple[float, Store]]] = {}
        self._parsers: dict[tuple[Path, int], str] = {}

    def folders(self) -> dict[str, Folder]:
        """All crawl folders that exist now, by name."""
        paths: dict[Path, None] = {}
        for place in self._places:
            if Folder(place).exists():
                paths[place] = None
            elif place.is_dir():
                paths |= {path: None for path in sorted(place.iterdir()) if Folder(path).exists()}
        named: dict[str, list[Path]] = {}
        for path in paths:
            named.setdefault(_slug(path.name), []).append(path)
        return {
            name if len(same) == 1 and name == path.name else f"{name}-{_mark(path)}": Folder(path)
            for name, same in named.items()
            for path in same
        }

    @property
    def place(self) -> Path:
        """The directory for new crawls, or else the folder of the first crawl."""
        return next((place for place in self._places if not Folder(place).exists()), self._places[0])

    @property
    def may_create(self) -> bool:
        return not Folder(self.place).exists()

    def folder(self, name: str) -> Folder:
        found = self.folders().get(name)
        if found is None:
            raise UnknownCrawl(f"there is no crawl {name!r} here")
        return found

    def room_for(self, name: str) -> Folder:
        """The folder for a new crawl, below the first directory that is not a crawl itself."""
        if not _SLUG.fullmatch(name) or ".." in name:
            raise UsageError(
                f"{name!r} cannot name a crawl: use up to 64 of a-z, 0-9, '.', '_' and '-', beginning and ending with a letter or digit"
            )
        if not self.may_create:
            raise UsageError("crawls cannot be created here: start the server with a directory to create them in")
        home = self.place
        folder = Folder(home / name)
        if folder.path.exists():
            raise UsageError(f"there is already a crawl {name!r}")
        home.mkdir(exist_ok=True)
        return folder

    def free_name(self, name: str) -> str:
        """The name, or the name with the first number that makes it new: `example.org-2`."""
        taken = {name for name in (name, *(f"{name}-{n}" for n in range(2, 1000))) if (self.place / name).exists()}
        return next(found for found in (name, *(f"{name}-{n}" for n in range(2, 1001))) if found not in taken)

    @contextmanager
    def reading(self, name: str) -> Iterator[tuple[Folder, Store]]:
        """A folder and its store, for one thread that only reads. Another process may write to it
        at the same time."""
        folder = self.folder(name)
        with self.opened(folder) as store:
            yield folder, store

    @contextmanager
    def opened(self, folder: Folder) -> Iterator[Store]:
        """The store of a folder. It is faster than `reading`, which has to look for the folder by
        its name."""
        key = _file(folder)
        store = self._borrow(folder, key)
        try:
            yield store
        except BaseException:
            store.close()  # after an error, the next reader gets a new one
            raise
        with self._guard:
            self._idle.setdefault(key, []).append((time.monotonic(), store))

    def close_idle(self, seconds: float = IDLE_SECONDS) -> None:
        """Closes stores that were not used for a while."""
        since = time.monotonic() - seconds
        with self._guard:
            for key, stores in list(self._idle.items()):
                for used, store in stores:
                    if used <= since:
                        store.close()
                self._idle[key] = [each for each in stores if each[0] > since]
                if not self._idle[key]:
                    del self._idle[key]

    def _borrow(self, folder: Folder, key: tuple[Path, int]) -> Store:
        with self._guard:
            if idle := self._idle.get(key):
                choose(self._parsers[key])
                return idle.pop()[1]
        store = open_store(folder, readonly=True)
        self._parsers[key] = chosen()
        return store


def _file(folder: Folder) -> tuple[Path, int]:
    """Identifies a folder by its database too, because another folder may have replaced it."""
    try:
        return folder.path, folder.database.stat().st_ino
    except OSError:
        return folder.path, 0


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")[:64] or "crawl"


def _mark(path: Path) -> str:
    """A suffix for folders that would have the same name in URLs."""
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:6]
