"""A crawl folder: what is ours in it, who works in it, and how it is opened."""

import contextlib
import errno
import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import IO

from sanderling.errors import BadFolder, FolderInUse
from sanderling.files import is_locked
from sanderling.repository.remote import archives_in

DATABASE = "sanderling.db"
SETTINGS = "sanderling.toml"
WARCS = "warc"
LOCK = "sanderling.lock"
WEBHOOKS = "webhooks"
INDEX = "index"
READ = "sanderling.read"
READERS = "readers"
TOKEN = "sanderling.token"
SIGNING_KEY = "sanderling.key"
TOPIC = "sanderling.topic"
EXAMPLES = "sanderling.examples"


class Folder:
    """Names the files of a crawl."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / DATABASE
        self.known = self.database.with_suffix(".known")
        self.settings = path / SETTINGS
        self.warcs = path / WARCS
        self.lock = path / LOCK
        self.webhooks = path / WEBHOOKS
        self.index = path / INDEX
        self.read = path / READ
        self.readers = path / READERS
        self.token = path / TOKEN
        self.signing_key = path / SIGNING_KEY
        self.topic = path / TOPIC
        self.examples = path / EXAMPLES

    def exists(self) -> bool:
        """Whether a crawl was made here. Settings without a byte are what a full disk left of a
        first run."""
        return self.database.exists() or (self.settings.exists() and self.settings.stat().st_size > 0)

    def require(self) -> None:
        """Refuses a folder that no crawl has made."""
        if not self.path.is_dir():
            raise BadFolder(f"{self.path} {'is not a folder' if self.path.exists() else 'does not exist'}")
        if not self.exists():
            archived = bool(archives_in(self.warcs))
            hint = f"; `sanderling recover {self.path}` makes one from its archives" if archived else ""
            raise BadFolder(f"{self.path} is not a crawl folder: it has no {SETTINGS}{hint}")

    def check_usable(self) -> None:
        """Refuses a place where a crawl can neither be made nor resumed."""
        if self.path.exists() and not self.path.is_dir():
            raise BadFolder(f"{self.path} is not a folder")
        if self.path.is_dir() and not self.exists() and not self._half_made():
            raise BadFolder(f"{self.path} is not a crawl folder and not empty; choose another one")
        if not self.path.parent.is_dir():
            raise BadFolder(f"{self.path.parent} does not exist")

    def _half_made(self) -> bool:
        """Whether there is nothing but what a first run leaves that ended in its first moments."""
        made = (self.settings, self.token)
        parts = {self.warcs, self.lock, *made, *(path.with_name(path.name + ".part") for path in made)}
        archived = self.warcs.is_dir() and any(self.warcs.iterdir())
        return not archived and parts.issuperset(self.path.iterdir())

    def owns(self, path: Path) -> bool:
        """Whether a place is the crawl's own: nothing else may be written there."""
        home, place = os.path.realpath(self.path), os.path.realpath(path)
        first = os.path.relpath(place, home).partition(os.sep)[0]
        return first in (".", WARCS, INDEX, WEBHOOKS, READERS) or first.startswith("sanderling.")

    def abandon(self) -> None:
        """Removes what a crawl that could not even begin has made, and nothing else."""
        if self.database.exists():
            return
        for path in (self.settings, self.token, self.lock):
            path.unlink(missing_ok=True)
        for path in (self.warcs, self.path):
            with contextlib.suppress(OSError):  # something is in it
                path.rmdir()


def hold(folder: Folder) -> IO[str]:
    """Takes the folder for this process; the lock ends with the process, however it ends."""
    file = folder.lock.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        holder = holder_of(folder)
        file.close()
        raise FolderInUse(f"{folder.path} is in use by {_named(holder)}") from None
    file.seek(0)
    file.truncate()
    json.dump({"pid": os.getpid(), "machine": socket.gethostname(), "since": time.time()}, file)
    file.flush()
    return file


def holder_of(folder: Folder) -> dict[str, object]:
    """Who took the folder last; meaningful only while the lock is held."""
    try:
        found = json.loads(folder.lock.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def in_use(folder: Folder) -> bool:
    """Whether a process works in the folder right now."""
    return is_locked(folder.lock)


def last_written(folder: Folder) -> float:
    """When a run wrote to the database of the folder; 0 if none did. Readers do not write."""
    found = [folder.database.with_name(folder.database.name + end) for end in ("", "-wal")]
    return max((file.stat().st_mtime for file in found if file.exists() and file.stat().st_size), default=0.0)


def _named(holder: dict[str, object]) -> str:
    if not holder:
        return "another process"
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(str(holder.get("since", 0)))))
    return f"process {holder.get('pid')} on {holder.get('machine')} since {since}"
